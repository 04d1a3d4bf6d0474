import RelataCore
import RelataEngine

/// A request for aggregates of a class's objects: `GET /aggregate/Book?pipeline=[…]`, or for the distinct values of a
/// field: `GET /aggregate/Book?distinct="title"`.
struct AggregateRequest: Sendable {
    private let className: String
    private let condition: JSONValue?
    private let distinct: String?
    private let stages: [PipelineStage]
    private let advice: QueryAdvice

    /// Reads a request.
    ///
    /// - Throws: ``ParseError`` 403 without the master key, and 102 for unknown stages.
    init(_ className: String, _ call: ParseCall) throws(ParseError) {
        guard call.isMaster else { throw .masterKeyRequired }
        if let error = DisabledFeature.error(forClass: className) { throw error }
        self.className = className
        condition = try call.json("where")
        let fields = try call.names("distinct") ?? []
        guard fields.count < 2 else { throw ParseError(.invalidQuery, "distinct names one field") }
        distinct = fields.first
        advice = try QueryAdvice(call)
        stages = try PipelineStage.stages(
            try call.json("pipeline") ?? Self.stages(call.body.filter { !Self.parameters.contains($0.key) }))
    }

    /// The parameters that aren't stages.
    private static let parameters: Set = [
        "where", "distinct", "explain", "hint", "comment", "readPreference", "rawValues", "rawFieldNames",
    ]

    /// Stages in separate parameters: `group={"objectId":null}&limit=2`. In a URL they are the text of JSON, except
    /// plain names.
    private static func stages(_ parameters: JSONObject) -> JSONValue {
        .object(
            JSONObject(
                parameters.map { name, value in
                    (name, value.string.flatMap { try? JSONParser.parse($0) } ?? value)
                }))
    }

    /// Answers it.
    func run(in transaction: ParseTransaction, _ options: ParseService.Options) throws -> WireReply {
        let known = try transaction.existing(className)
        let parseClass = try known ?? .unknown(transaction.classes.dialect)
        var reader = ConditionReader(transaction, readsTextAsDates: true)
        var plan = QueryPlan(entity: parseClass.name)
        if let condition { plan.condition = try reader.condition(condition, of: parseClass) }
        let results: [JSONValue]
        if known != nil { plan.index = try advice.index(of: parseClass, in: transaction) }
        if known == nil {
            // A malformed request is refused even if the class doesn't exist yet.
            if let distinct { _ = try reader.target(distinct, of: Subject(parseClass: parseClass, scope: 0, path: [])) }
            try PipelineRun(transaction, parseClass, limit: options.maximumReply).check(stages, plan, &reader)
            results = []
        } else if advice.isExplained {
            let statement =
                if let distinct {
                    try DistinctValues(transaction, parseClass).query(of: distinct, in: plan, &reader)?.query.statement
                } else {
                    try PipelineRun(transaction, parseClass, limit: options.maximumReply).statement(
                        of: stages, plan, &reader)
                }
            results = try statement.map { [try QueryAdvice.explanation(of: $0, in: transaction)] } ?? []
        } else if let distinct {
            results = try DistinctValues(transaction, parseClass).values(of: distinct, in: plan, &reader)
        } else {
            results = try PipelineRun(transaction, parseClass, limit: options.maximumReply).results(
                of: stages, plan, &reader)
        }
        return WireReply(["results": .array(results)])
    }
}

/// The different values of a field.
struct DistinctValues {
    private let transaction: ParseTransaction
    private let parseClass: ParseClass

    init(_ transaction: ParseTransaction, _ parseClass: ParseClass) {
        self.transaction = transaction
        self.parseClass = parseClass
    }

    /// The values in ascending order, without unset ones; an array counts as its elements.
    func values(of key: String, in plan: QueryPlan, _ reader: inout ConditionReader) throws -> [JSONValue] {
        guard let (column, query) = try query(of: key, in: plan, &reader) else { return [] }
        var values: [JSONValue] = []
        for row in try transaction.connection.values(query.statement, types: query.columnTypes) {
            values.append(column.json(row[...]))
        }
        guard column.isJSON else { return values }
        let elements = Set(values.flatMap { $0.array ?? [$0] }).subtracting([.null])
        return elements.sorted { $0.precedes($1) }
    }

    /// The query for them; `nil` for a field that the class doesn't have.
    func query(
        of key: String, in plan: QueryPlan, _ reader: inout ConditionReader
    ) throws -> (column: SelectedValue, query: CompiledQuery)? {
        let target = try reader.target(key, of: Subject(parseClass: parseClass, scope: 0, path: []))
        guard target.ways.isEmpty else {
            throw ParseError(.invalidQuery, "distinct: \(target.name) holds several values: take a field of one object")
        }
        guard let column = SelectedValue(target.source, wholeJSON: true) else { return nil }
        var plan = plan
        plan.isDistinct = true
        plan.condition = .and([plan.condition, target.isSet].compactMap(\.self))
        plan.sort = column.isJSON ? [] : [SortTerm(column.node)]
        let query = try transaction.compiler.select(plan, columns: .expressions([column.node]))
        return (column, query)
    }
}

/// A value that a query yields, and how it is written as JSON.
struct SelectedValue {
    let node: ExpressionNode
    /// The number of columns it has.
    let width: Int
    /// Whether the column holds JSON.
    let isJSON: Bool
    private let source: Source

    /// - Parameter wholeJSON: Whether whole JSON values, of unknown types, are included.
    init?(_ source: Source, wholeJSON: Bool = false) {
        self.source = source
        switch source {
        case .missing: return nil
        case .object(let node, let parseClass, _):
            self.node = node
            width = parseClass.table.keyColumns.count
            isJSON = false
        case .column(let node, _, _):
            self.node = node
            width = 1
            isJSON = false
        case .json(let place):
            guard wholeJSON else { return nil }
            node = place.base(orAs: .json)
            width = 1
            isJSON = true
        }
    }

    /// The type of the column, if it isn't JSON.
    var type: AttributeType? { if case .column(_, let type, _) = source { type } else { nil } }

    /// The values of its columns, as JSON. A pointer is the pointer, or, with `asID`, its id alone.
    func json(_ values: ArraySlice<Value>, asID: Bool = false) -> JSONValue {
        guard let first = values.first, !first.isNull else { return .null }
        switch source {
        case .missing: return .null
        case .object(_, let parseClass, let isPointer):
            let id = parseClass.objectID.text(KeyValue(Array(values)))
            return isPointer && !asID ? Pointer(className: parseClass.name, objectID: id).json : .string(id)
        case .column(_, let type, _): return JSONValue(first, as: type)
        case .json: return (try? JSONParser.parse(first.description)) ?? .string(first.description)
        }
    }
}

extension JSONValue {
    /// The value of a column of a type.
    init(_ value: RelataCore.Value, as type: AttributeType?) {
        switch (type, value) {
        case (_, .null): self = .null
        case (.boolean, .integer(let number)): self = .bool(number != 0)
        case (.date(let encoding), _):
            self =
                DateText.microseconds(of: value, encoding).map {
                    ["__type": "Date", "iso": .string(DateText.parseText(microseconds: $0))]
                } ?? .string(value.description)
        case (.decimal, .text(let text)): self = (try? JSONParser.parse(text)) ?? .string(text)
        case (_, .integer(let number)): self = .integer(number)
        case (_, .real(let number)): self = number.isFinite ? JSONValue(number: number) : .null
        case (_, .blob(let data)): self = ["__type": "Bytes", "base64": .string(data.base64EncodedString())]
        case (_, .text), (_, .uuid): self = .string(value.description)
        }
    }

    /// Whether it precedes in ascending order: nothing, numbers, strings, objects, arrays, booleans, dates.
    func precedes(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.bool(let left), .bool(let right)): !left && right
        case (.integer(let left), .integer(let right)): left < right
        case (.array(let left), .array(let right)): left.lexicographicallyPrecedes(right) { $0.precedes($1) }
        case (.object, .object) where rank == other.rank:
            JSONWriter.canonicalText(self).utf8.lexicographicallyPrecedes(JSONWriter.canonicalText(other).utf8)
        default:
            if let left = number, let right = other.number { left < right } else { rank < other.rank }
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .double: 1
        case .string: 2
        case .object(let members): members["__type"] == "Date" ? 6 : 3
        case .array: 4
        case .bool: 5
        }
    }
}
