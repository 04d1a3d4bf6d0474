import Foundation
import RelataCore

/// A value that a pipeline computes from a document: `"$price"`, `{"$multiply": ["$price", 2]}`.
indirect enum DocumentExpression: Hashable, Sendable {
    case constant(JSONValue)
    case field([String])
    case document
    case object([Member])
    case array([DocumentExpression])
    case call(Operator, [DocumentExpression])
    /// A date as text.
    case dateText(DocumentExpression, format: String)

    /// A member of an object and its new value.
    struct Member: Hashable, Sendable {
        let name: String
        let value: DocumentExpression
    }

    /// An operation on values.
    enum Operator: String, Sendable {
        case add = "$add", subtract = "$subtract", multiply = "$multiply", divide = "$divide", remainder = "$mod"
        case absolute = "$abs", ceiling = "$ceil", floor = "$floor", round = "$round"
        case concatenate = "$concat", lowercased = "$toLower", uppercased = "$toUpper"
        case size = "$size", ifNull = "$ifNull", condition = "$cond"
        case equal = "$eq", notEqual = "$ne", greater = "$gt", greaterOrEqual = "$gte", less = "$lt"
        case lessOrEqual = "$lte", and = "$and", or = "$or", not = "$not", isIn = "$in"
        case year = "$year", month = "$month", dayOfMonth = "$dayOfMonth", dayOfWeek = "$dayOfWeek"
        case dayOfYear = "$dayOfYear", hour = "$hour", minute = "$minute", second = "$second"
        case millisecond = "$millisecond"
    }

    /// Reads an expression.
    ///
    /// - Throws: ``ParseError`` 102 that names an unknown operator.
    init(_ json: JSONValue) throws(ParseError) {
        switch json {
        case .string(let text) where text == "$$ROOT" || text == "$$CURRENT": self = .document
        case .string(let text) where text.hasPrefix("$$"):
            throw ParseError(.invalidQuery, "the variable \(text.prefix(64)) isn't supported in a pipeline")
        case .string(let text) where text.hasPrefix("$"):
            guard let path = Self.path(String(text.dropFirst())) else {
                throw ParseError(.invalidQuery, "\(text.prefix(64)) isn't a path to a field")
            }
            self = .field(path)
        case .array(let elements):
            var parts: [DocumentExpression] = []
            for element in elements { parts.append(try DocumentExpression(element)) }
            self = .array(parts)
        case .object(let members) where members["__type"] != nil: self = .constant(json)
        case .object(let members):
            guard let (name, argument) = members.first, name.hasPrefix("$") else {
                var parts: [Member] = []
                for (name, value) in members {
                    guard !name.hasPrefix("$") else {
                        throw ParseError(
                            .invalidQuery, "a pipeline can't have the operator \(name.prefix(64)) among fields")
                    }
                    parts.append(Member(name: name, value: try DocumentExpression(value)))
                }
                self = .object(parts)
                return
            }
            guard members.count == 1 else {
                throw ParseError(
                    .invalidQuery, "in a pipeline, the operator \(name.prefix(64)) must be alone in its object")
            }
            self = try Self.call(name, argument)
        default: self = .constant(json)
        }
    }

    private static func call(_ name: String, _ argument: JSONValue) throws(ParseError) -> DocumentExpression {
        if name == "$literal" { return .constant(argument) }
        if name == "$dateToString" {
            guard let date = argument["date"], let format = argument["format"]?.string ?? .some("%Y-%m-%dT%H:%M:%S.%LZ")
            else { throw ParseError(.invalidQuery, "$dateToString needs a date") }
            return .dateText(try DocumentExpression(date), format: format)
        }
        guard let operation = Operator(rawValue: name) else {
            throw ParseError(.invalidQuery, "\(name.prefix(64)) isn't supported in a pipeline")
        }
        var arguments = argument.array ?? [argument]
        if operation == .condition, let members = argument.object, let condition = members["if"] {
            arguments = [condition, members["then"] ?? .null, members["else"] ?? .null]
        }
        if let date = argument["date"], operation.isDatePart { arguments = [date] }
        guard operation.accepts(arguments.count) else {
            throw ParseError(.invalidQuery, "\(name) can't have \(arguments.count) arguments")
        }
        var parts: [DocumentExpression] = []
        for argument in arguments { parts.append(try DocumentExpression(argument)) }
        return .call(operation, parts)
    }

    /// The parts of a path, by the names that clients know; `nil` for a name that no field has.
    static func path(_ text: String) -> [String]? {
        var path = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard path.count <= 32, path.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("$") }) else { return nil }
        switch path[0] {
        case "_id": path[0] = "objectId"
        case let name where name.hasPrefix("_p_"): path[0] = String(name.dropFirst(3))
        case let name: path[0] = ParseNames.storedStamps[name] ?? name
        }
        return path
    }

    /// The fields that it reads.
    var fields: [[String]] {
        switch self {
        case .constant, .document: []
        case .field(let path): [path]
        case .object(let parts): parts.flatMap(\.value.fields)
        case .array(let parts), .call(_, let parts): parts.flatMap(\.fields)
        case .dateText(let date, _): date.fields
        }
    }
}

extension DocumentExpression.Operator {
    var isDatePart: Bool {
        switch self {
        case .year, .month, .dayOfMonth, .dayOfWeek, .dayOfYear, .hour, .minute, .second, .millisecond: true
        default: false
        }
    }

    fileprivate func accepts(_ count: Int) -> Bool {
        switch self {
        case .add, .multiply, .concatenate, .and, .or: true
        case .subtract, .divide, .remainder, .equal, .notEqual, .greater, .greaterOrEqual, .less, .lessOrEqual, .isIn:
            count == 2
        case .ifNull: count >= 2
        case .condition: count == 3
        case .round: count == 1 || count == 2
        default: count == 1
        }
    }
}
