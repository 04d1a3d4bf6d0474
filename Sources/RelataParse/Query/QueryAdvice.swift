import RelataCore
import RelataEngine

/// Options of a request for running a query. They don't change its results.
struct QueryAdvice: Sendable {
    static let parameters = ["explain", "hint", "comment"]
    /// The values of `explain` in Parse's own server. Here they all mean the same plan.
    private static let kinds: Set = ["queryPlanner", "queryPlannerExtended", "executionStats", "allPlansExecution"]
    /// The maximum length of a logged comment.
    private static let maximumComment = 256

    /// Whether the plan is requested instead of the results.
    let isExplained: Bool
    private let hint: JSONValue?

    /// Reads `explain`, `hint` and `comment` of a request.
    ///
    /// - Throws: ``ParseError`` 102 for invalid values, and for `explain` without the master key.
    init(_ call: ParseCall) throws(ParseError) {
        let explain = call.body["explain"]
        if let kind = explain?.string, Self.kinds.contains(kind) {
            isExplained = true
        } else {
            do throws(ParseError) {
                isExplained = try call.flag("explain")
            } catch {
                throw ParseError(.invalidQuery, "Invalid value for explain")
            }
        }
        guard !isExplained || call.isMaster else {
            throw ParseError(.invalidQuery, "Using the explain query parameter requires the master key")
        }
        switch call.body["hint"] {
        case nil, .null?, .string("")?: hint = nil
        case .string(let text)? where text.hasPrefix("{"): hint = try JSONParser.parse(text)
        case .string(let name)?: hint = .string(name)
        case .object(let fields)?: hint = .object(fields)
        default: throw ParseError(.invalidQuery, "hint must be the name of an index, or its fields: {\"title\": 1}")
        }
        _ = try Self.comment(of: call)
    }

    /// The comment of a request, for the log: one line.
    ///
    /// - Throws: ``ParseError`` 102 for one that isn't text.
    static func comment(of call: ParseCall) throws(ParseError) -> String? {
        switch call.body["comment"] {
        case nil, .null?: return nil
        case .string(let text)?:
            // A character may be of any length.
            let start = String(text.unicodeScalars.prefix(maximumComment))
            return String(start.map { isControl($0) ? " " : $0 })
        default: throw ParseError(.invalidQuery, "comment must be a string")
        }
    }

    private static func isControl(_ character: Character) -> Bool {
        character.isNewline || character.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// The index that must be used for the objects of a class; `nil` without a hint.
    ///
    /// - Throws: ``ParseError`` 102 for a hint that names no index of the class.
    func index(of parseClass: ParseClass, in transaction: ParseTransaction) throws -> ForcedIndex? {
        guard let hint else { return nil }
        let entity = parseClass.table.entity
        let fields: [String]? =
            switch hint {
            case "_id_", ["objectId": 1], ["_id": 1], ["objectId": -1], ["_id": -1]: entity.key
            case .string(let name): parseClass.options.indexes[name]?.fields.map(\.name)
            case .object(let members): named(members.map(\.key), by: parseClass)
            default: nil
            }
        if let fields {
            let columns = fields.flatMap(parseClass.table.columnIndexes).map { parseClass.table.columns[$0] }
            let name = try Introspection.index(
                on: columns.map(\.name), of: parseClass.table.sqlName, transaction.connection)
            if let name { return .named(name) }
            // An integer that is the key is the number of the row.
            if fields == entity.key, columns.map(\.type.storage) == [.integer] { return .rowNumber }
        }
        throw ParseError(
            .invalidQuery,
            "hint: \(parseClass.name) has no index \((hint.string ?? JSONWriter.text(hint)).prefix(128))")
    }

    /// The fields of the index that a request gives by their names.
    private func named(_ names: [String], by parseClass: ParseClass) -> [String]? {
        let given = parseClass.options.indexes.values.map(\.fields).first { $0.map(\.givenName) == names }
        let entity = parseClass.table.entity
        return given?.map(\.name) ?? (entity.indexes + entity.uniques).first { $0 == names }
    }

    /// The plan of a statement: its SQL, without values, and the steps of the database's plan.
    static func explanation(of statement: SQLStatement, in transaction: ParseTransaction) throws -> JSONValue {
        let steps = try transaction.connection.driver.plan(of: statement, transaction.connection)
        let plan = steps.map { step -> JSONValue in
            ["id": .integer(step.id), "parent": .integer(step.parent), "detail": .string(step.detail)]
        }
        return ["sql": .string(statement.sql), "plan": .array(plan)]
    }
}
