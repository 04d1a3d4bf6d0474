import Foundation
import RelataCore

extension DocumentExpression {
    /// The value for a document; `null` if a part is unset or of another type.
    ///
    /// - Throws: ``ParseError`` 116 if it exceeds the budget.
    func value(of document: JSONValue, _ budget: inout PipelineBudget) throws(ParseError) -> JSONValue {
        switch self {
        case .constant(let value): return value
        case .field(let path): return document.value(at: path[...])
        case .document: return document
        case .object(let parts):
            var members: JSONObject = [:]
            for part in parts { members[part.name] = try part.value.value(of: document, &budget) }
            return .object(members)
        case .array(let parts): return .array(try Self.values(parts, of: document, &budget))
        case .call(let operation, let arguments):
            let values = try Self.values(arguments, of: document, &budget)
            if operation.makesText { for value in values { try budget.add(text: value.string?.utf8.count ?? 0) } }
            return operation.value(values)
        case .dateText(let date, let format):
            guard let microseconds = try date.value(of: document, &budget).microseconds else { return .null }
            // No field is longer than twice its expression.
            try budget.add(text: format.utf8.count * 2)
            return .string(Self.text(microseconds, format))
        }
    }

    private static func values(
        _ expressions: [DocumentExpression], of document: JSONValue, _ budget: inout PipelineBudget
    ) throws(ParseError) -> [JSONValue] {
        var values: [JSONValue] = []
        for expression in expressions { values.append(try expression.value(of: document, &budget)) }
        return values
    }

    private static func text(_ microseconds: Int64, _ format: String) -> String {
        let iso = Array(DateText.parseText(microseconds: microseconds))
        guard iso.count == 24 else { return String(iso) }
        var text = ""
        var characters = format.makeIterator()
        while let character = characters.next() {
            guard character == "%", let field = characters.next() else {
                text.append(character)
                continue
            }
            switch field {
            case "Y": text.append(contentsOf: iso[0..<4])
            case "m": text.append(contentsOf: iso[5..<7])
            case "d": text.append(contentsOf: iso[8..<10])
            case "H": text.append(contentsOf: iso[11..<13])
            case "M": text.append(contentsOf: iso[14..<16])
            case "S": text.append(contentsOf: iso[17..<19])
            case "L": text.append(contentsOf: iso[20..<23])
            case "%": text.append("%")
            default: text.append(contentsOf: ["%", field])
            }
        }
        return text
    }
}

extension JSONValue {
    /// The value at a path; for an array, the values at the path in its elements. An included object counts as its
    /// pointer.
    func value(at path: ArraySlice<String>) -> JSONValue {
        guard let name = path.first else {
            return self["__type"] == "Object" ? Pointer(self)?.json ?? self : self
        }
        if let elements = array {
            return .array(elements.map { $0.value(at: path) }.filter { !$0.isNull })
        }
        return self[name]?.value(at: path.dropFirst()) ?? .null
    }

    /// The value with another at a path; `nil` removes the one at the path.
    func setting(_ value: JSONValue?, at path: ArraySlice<String>) -> JSONValue {
        guard let name = path.first else { return value ?? .null }
        if let elements = array { return .array(elements.map { $0.setting(value, at: path) }) }
        if object == nil, value == nil { return self }
        var members = object ?? [:]
        if path.count == 1 {
            members[name] = value
        } else if members[name] != nil || value != nil {
            members[name] = (members[name] ?? .object([:])).setting(value, at: path.dropFirst())
        }
        return .object(members)
    }

    /// The microseconds since 1970 of a date.
    var microseconds: Int64? { self["__type"] == "Date" ? FieldDecoder.microseconds(self) : nil }

    /// Whether it counts as true in a pipeline.
    var isTrue: Bool {
        switch self {
        case .null: false
        case .bool(let value): value
        case .integer(let number): number != 0
        case .double(let number): number != 0
        default: true
        }
    }

    /// The sum of two numbers: an integer if both are integers and it fits.
    func adding(_ other: JSONValue) -> JSONValue? {
        if case .integer(let left) = self, case .integer(let right) = other {
            let (sum, overflows) = left.addingReportingOverflow(right)
            if !overflows { return .integer(sum) }
        }
        guard let left = number, let right = other.number else { return nil }
        return JSONValue(finite: left + right)
    }

    /// The product of two numbers: an integer if both are integers and it fits; `null` for other values.
    func multiplied(by other: JSONValue) -> JSONValue {
        if case .integer(let left) = self, case .integer(let right) = other {
            let (product, overflows) = left.multipliedReportingOverflow(by: right)
            if !overflows { return .integer(product) }
        }
        guard let left = number, let right = other.number else { return .null }
        return JSONValue(finite: left * right)
    }

    /// The difference of two numbers: an integer if both are integers and it fits; `null` for other values.
    func subtracting(_ other: JSONValue) -> JSONValue {
        if case .integer(let left) = self, case .integer(let right) = other {
            let (difference, overflows) = left.subtractingReportingOverflow(right)
            if !overflows { return .integer(difference) }
        }
        guard let left = number, let right = other.number else { return .null }
        return JSONValue(finite: left - right)
    }

    /// A number; `null` for other values.
    init(finite number: Double) { self = number.isFinite ? JSONValue(number: number) : .null }
}

extension DocumentExpression.Operator {
    /// Whether the value is a new text whose length is the sum of the arguments' lengths.
    fileprivate var makesText: Bool { [.concatenate, .lowercased, .uppercased].contains(self) }

    fileprivate func value(_ arguments: [JSONValue]) -> JSONValue {
        switch self {
        case .add: arguments.reduce(.integer(0)) { $0.adding($1) ?? .null }
        case .subtract, .multiply, .divide, .remainder: arithmetic(arguments)
        case .absolute, .ceiling, .floor, .round: rounded(arguments)
        case .concatenate:
            arguments.contains { $0.string == nil } ? .null : .string(arguments.compactMap(\.string).joined())
        case .lowercased: .string(arguments[0].string?.lowercased() ?? "")
        case .uppercased: .string(arguments[0].string?.uppercased() ?? "")
        case .size: arguments[0].array.map { .integer(Int64($0.count)) } ?? .null
        case .ifNull: arguments.first { !$0.isNull } ?? .null
        case .condition: arguments[0].isTrue ? arguments[1] : arguments[2]
        case .equal: .bool(arguments[0] == arguments[1])
        case .notEqual: .bool(arguments[0] != arguments[1])
        case .greater: .bool(arguments[1].precedes(arguments[0]))
        case .greaterOrEqual: .bool(!arguments[0].precedes(arguments[1]))
        case .less: .bool(arguments[0].precedes(arguments[1]))
        case .lessOrEqual: .bool(!arguments[1].precedes(arguments[0]))
        case .and: .bool(arguments.allSatisfy(\.isTrue))
        case .or: .bool(arguments.contains(where: \.isTrue))
        case .not: .bool(!arguments[0].isTrue)
        case .isIn: .bool(arguments[1].array?.contains(arguments[0]) ?? false)
        case .year, .month, .dayOfMonth, .dayOfWeek, .dayOfYear, .hour, .minute, .second, .millisecond:
            arguments[0].microseconds.map { .integer(part(of: $0)) } ?? .null
        }
    }

    private func arithmetic(_ arguments: [JSONValue]) -> JSONValue {
        switch self {
        case .multiply: return arguments.reduce(.integer(1)) { $0.multiplied(by: $1) }
        case .subtract: return arguments[0].subtracting(arguments[1])
        default:
            if case .integer(let left) = arguments[0], case .integer(let right) = arguments[1], right != 0 {
                let (part, overflows) =
                    self == .divide
                    ? left.dividedReportingOverflow(by: right) : left.remainderReportingOverflow(dividingBy: right)
                if !overflows, self != .divide || left.isMultiple(of: right) { return .integer(part) }
            }
            guard let left = arguments[0].number, let right = arguments[1].number else { return .null }
            return JSONValue(finite: self == .divide ? left / right : left.truncatingRemainder(dividingBy: right))
        }
    }

    private func rounded(_ arguments: [JSONValue]) -> JSONValue {
        guard let number = arguments[0].number else { return .null }
        if case .integer(let whole) = arguments[0] {
            switch self {
            case .absolute where whole != .min: return .integer(abs(whole))
            case .ceiling, .floor: return arguments[0]
            case .round where arguments.count == 1: return arguments[0]
            default: break
            }
        }
        switch self {
        case .absolute: return JSONValue(finite: abs(number))
        case .ceiling: return JSONValue(finite: number.rounded(.up))
        case .floor: return JSONValue(finite: number.rounded(.down))
        default:
            let scale = pow(10, Double(max(-20, min(20, arguments.count > 1 ? arguments[1].number ?? 0 : 0))))
            return JSONValue(finite: (number * scale).rounded(.toNearestOrEven) / scale)
        }
    }

    private func part(of microseconds: Int64) -> Int64 {
        let seconds = Int64((Double(microseconds) / 1_000_000).rounded(.down))
        let text = DateText.text(microseconds: microseconds)
        func digits(_ offset: Int, _ count: Int) -> Int64 {
            Int64(text.dropFirst(offset).prefix(count)) ?? 0
        }
        let day = Int64((Double(seconds) / 86_400).rounded(.down))
        switch self {
        case .year: return digits(0, 4)
        case .month: return digits(5, 2)
        case .dayOfMonth: return digits(8, 2)
        case .hour: return digits(11, 2)
        case .minute: return digits(14, 2)
        case .second: return digits(17, 2)
        case .millisecond: return digits(20, 3)
        // 1 January 1970 was a Thursday; Sunday is 1.
        case .dayOfWeek: return ((day + 4) % 7 + 7) % 7 + 1
        default:
            let first = DateText.microseconds(text: String(text.prefix(4)) + "-01-01") ?? 0
            return day - first / 86_400_000_000 + 1
        }
    }
}
