import RelataCore
import RelataEngine

/// Runs a pipeline. The first stages that SQL can do are one statement; the rest works on its results.
///
/// The rest isn't SQL: its documents have any shape, and values of all types at one place, with a different order and
/// equality. SQL would need those rules as well, and wouldn't replace this code, because some stages can't be
/// statements.
///
/// It costs ten times as much: four figures of 100,000 objects in 97 groups take 36 ms in SQL, and 360 ms in memory, of
/// which 295 ms read the objects. So every stage that can be SQL is SQL.
struct PipelineRun {
    let transaction: ParseTransaction
    let parseClass: ParseClass
    /// The number of bytes the documents of a stage may take.
    let limit: Int

    init(_ transaction: ParseTransaction, _ parseClass: ParseClass, limit: Int) {
        self.limit = limit
        self.transaction = transaction
        self.parseClass = parseClass
    }

    /// The documents that come out at the end.
    func results(
        of stages: [PipelineStage], _ plan: QueryPlan, _ reader: inout ConditionReader
    ) throws -> [JSONValue] {
        var plan = plan
        var rest = stages[...]
        while let stage = rest.first, try push(stage, into: &plan, &reader) { rest.removeFirst() }
        if plan.limit == 0 { plan.condition = ConditionReader.nothing }
        var documents: [JSONValue]
        if case .group(let id, let fields)? = rest.first, plan.limit == nil, plan.offset == nil,
            let grouped = try groups(id, fields, of: plan, &reader)
        {
            documents = grouped
            rest.removeFirst()
        } else if case .count(let name)? = rest.first, plan.limit == nil, plan.offset == nil {
            let count = try transaction.count(plan)
            documents = count == 0 ? [] : [.object([name: .integer(count)])]
            rest.removeFirst()
        } else {
            documents = try objects(of: plan, reading: rest.flatMap(\.fields))
        }
        for stage in rest {
            try Task.checkCancellation()
            documents = try stage.applied(to: documents, limit: limit)
        }
        return documents.map(Self.shown)
    }

    /// Checks the stages for documents, without any.
    ///
    /// - Throws: the errors of ``results(of:_:_:)``.
    func check(_ stages: [PipelineStage], _ plan: QueryPlan, _ reader: inout ConditionReader) throws {
        var plan = plan
        var rest = stages[...]
        while let stage = rest.first, try push(stage, into: &plan, &reader) { rest.removeFirst() }
        for stage in rest { _ = try stage.applied(to: [], limit: limit) }
    }

    /// The statement that the beginning of a pipeline becomes.
    func statement(
        of stages: [PipelineStage], _ plan: QueryPlan, _ reader: inout ConditionReader
    ) throws -> SQLStatement {
        var plan = plan
        var rest = stages[...]
        while let stage = rest.first, try push(stage, into: &plan, &reader) { rest.removeFirst() }
        if plan.limit == 0 { plan.condition = ConditionReader.nothing }
        if plan.limit == nil, plan.offset == nil {
            if case .group(let id, let fields)? = rest.first,
                let grouping = try Grouping(id, fields, of: plan, self, &reader)
            {
                return grouping.query.statement
            }
            if case .count? = rest.first { return try transaction.compiler.count(plan) }
        }
        return try ObjectFetcher(transaction, limit: limit).statement(
            plan, Self.selection(rest.flatMap(\.fields)), of: parseClass)
    }

    // MARK: The beginning

    /// Adds a stage to the query; `false` if that isn't possible any more.
    private func push(
        _ stage: PipelineStage, into plan: inout QueryPlan, _ reader: inout ConditionReader
    ) throws -> Bool {
        switch stage {
        case .match(let conditions):
            guard plan.limit == nil, plan.offset == nil else { return false }
            let condition = try reader.condition(DocumentMatch.renamed(conditions), of: parseClass)
            if let owner = reader.owner { plan.relatedTo = owner }
            plan.condition = plan.condition.map { .and([$0, condition]) } ?? condition
            if plan.sort.isEmpty { plan.sort = reader.nearest }
            return true
        case .sort(let keys):
            guard plan.limit == nil, plan.offset == nil else { return false }
            var sort: [SortTerm] = []
            for key in keys {
                let target = try reader.target(
                    key.path.joined(separator: "."), of: Subject(parseClass: parseClass, scope: 0, path: []))
                guard target.ways.isEmpty, let value = SelectedValue(target.source) else { return false }
                sort.append(SortTerm(value.node, isAscending: key.isAscending))
            }
            plan.sort = sort
            return true
        case .skip(let count):
            // After a limit, it applies to the remaining objects.
            guard plan.limit == nil else { return false }
            let (sum, overflows) = (plan.offset ?? 0).addingReportingOverflow(count)
            plan.offset = overflows ? .max : sum
            return true
        case .limit(let count):
            plan.limit = min(plan.limit ?? .max, count)
            return true
        default: return false
        }
    }

    /// The objects of a query as documents.
    private func objects(of plan: QueryPlan, reading paths: [[String]]) throws -> [JSONValue] {
        let objects = try ObjectFetcher(transaction, limit: limit).fetch(
            plan, Self.selection(paths), of: parseClass)
        var documents: [JSONValue] = []
        for range in objects.ranges {
            var document = try JSONParser.parse(objects.bytes[range])
            for name in ["createdAt", "updatedAt"] {
                guard let text = document[name], text.string != nil else { continue }
                document = document.setting(["__type": "Date", "iso": text], at: [name])
            }
            documents.append(document)
        }
        return documents
    }

    /// The fields of objects that stages need to read their paths.
    private static func selection(_ paths: [[String]]) -> Selection {
        var selection = Selection()
        for path in paths where path.count > 1 { selection.include(path.dropLast()[...]) }
        return selection
    }

    /// A document as clients know objects: the times of its making and changing are plain text.
    private static func shown(_ document: JSONValue) -> JSONValue {
        guard var members = document.object else { return document }
        for name in ["createdAt", "updatedAt"] where members[name]?["__type"] == "Date" {
            members[name] = members[name]?["iso"]
        }
        return .object(members)
    }
}

// MARK: Groups

extension PipelineRun {
    /// The groups of a query's objects, if SQL can make them; otherwise `nil`.
    private func groups(
        _ id: DocumentExpression, _ fields: [PipelineStage.Figure], of plan: QueryPlan, _ reader: inout ConditionReader
    ) throws -> [JSONValue]? {
        guard let grouping = try Grouping(id, fields, of: plan, self, &reader) else { return nil }
        let (id, figures, query) = (grouping.id, grouping.figures, grouping.query)
        var documents: [(id: JSONValue, document: JSONValue)] = []
        for row in try transaction.connection.values(query.statement, types: query.columnTypes) {
            let width = id.nodes.count
            // All objects are one group, unless there are none.
            guard width > 0 || row[0] != .integer(0) else { continue }
            let value = id.json(row[..<width])
            var members: JSONObject = ["objectId": value]
            for (index, figure) in figures.enumerated() { members[figure.name] = figure.json(row[width + 1 + index]) }
            documents.append((value, .object(members)))
        }
        return documents.sorted { $0.id.precedes($1.id) }.map(\.document)
    }
}

/// The groups of a query's objects in SQL.
private struct Grouping {
    let id: GroupID
    let figures: [GroupFigure]
    let query: CompiledQuery

    /// `nil` if SQL can't make them.
    init?(
        _ id: DocumentExpression, _ fields: [PipelineStage.Figure], of plan: QueryPlan, _ run: PipelineRun,
        _ reader: inout ConditionReader
    ) throws {
        guard let id = try GroupID(id, run.parseClass, &reader) else { return nil }
        var figures: [GroupFigure] = []
        for field in fields {
            guard let figure = try GroupFigure(field, run.parseClass, &reader) else { return nil }
            figures.append(figure)
        }
        let columns = id.nodes + [.groupAggregate(.count, of: nil, isDistinct: false)] + figures.map(\.node)
        var plan = plan
        plan.sort = []
        query = try run.transaction.compiler.grouped(plan, by: id.nodes, columns: columns)
        self.id = id
        self.figures = figures
    }
}

/// The key of a group, in SQL.
private struct GroupID {
    private indirect enum Part {
        case nothing
        case value(SelectedValue)
        case datePart(ExpressionNode, plus: Int64)
        case object([(name: String, part: Part)])
    }

    private let part: Part
    private(set) var nodes: [ExpressionNode] = []

    init?(_ expression: DocumentExpression, _ parseClass: ParseClass, _ reader: inout ConditionReader) throws {
        guard let part = try Self.part(expression, parseClass, &reader, isTopmost: true) else { return nil }
        self.part = part
        nodes = Self.nodes(part)
    }

    private static func part(
        _ expression: DocumentExpression, _ parseClass: ParseClass, _ reader: inout ConditionReader, isTopmost: Bool
    ) throws -> Part? {
        switch expression {
        case .constant(.null) where isTopmost: return .nothing
        case .field(let path):
            guard let value = try reader.value(at: path, of: parseClass, wholeJSON: true), value.width == 1 else {
                return nil
            }
            return .value(value)
        case .call(let operation, let arguments):
            guard let date = operation.datePart, case .field(let path)? = arguments.first,
                let value = try reader.value(at: path, of: parseClass), case .date? = value.type
            else { return nil }
            return .datePart(.function(.datePart(date), [value.node]), plus: operation == .dayOfWeek ? 1 : 0)
        case .object(let members) where isTopmost && !members.isEmpty:
            var parts: [(name: String, part: Part)] = []
            for member in members {
                guard let part = try part(member.value, parseClass, &reader, isTopmost: false) else { return nil }
                parts.append((member.name, part))
            }
            return .object(parts)
        default: return nil
        }
    }

    private static func nodes(_ part: Part) -> [ExpressionNode] {
        switch part {
        case .nothing: []
        case .value(let value): [value.node]
        case .datePart(let node, _): [node]
        case .object(let parts): parts.flatMap { nodes($0.part) }
        }
    }

    func json(_ values: ArraySlice<Value>) -> JSONValue {
        var values = values
        return Self.json(part, &values, isTopmost: true)
    }

    private static func json(_ part: Part, _ values: inout ArraySlice<Value>, isTopmost: Bool) -> JSONValue {
        switch part {
        case .nothing: return .null
        case .value(let value): return value.json(values.removeFirst(value.width), asID: isTopmost)
        case .datePart(_, let offset):
            if case .integer(let number)? = values.popFirst() { return .integer(number + offset) }
            return .null
        case .object(let parts):
            var members: JSONObject = [:]
            for (name, part) in parts { members[name] = json(part, &values, isTopmost: false) }
            return .object(members)
        }
    }
}

extension ArraySlice {
    fileprivate mutating func removeFirst(_ count: Int) -> ArraySlice {
        defer { self = dropFirst(count) }
        return prefix(count)
    }
}

/// An aggregate of a group, as SQL has it.
private struct GroupFigure {
    let name: String
    let node: ExpressionNode
    private let type: AttributeType?
    private let factor: JSONValue?

    init?(_ figure: PipelineStage.Figure, _ parseClass: ParseClass, _ reader: inout ConditionReader) throws {
        name = figure.name
        let count = ExpressionNode.groupAggregate(.count, of: nil, isDistinct: false)
        switch (figure.accumulator, figure.value) {
        case (.count, _):
            (node, type, factor) = (count, .integer, nil)
        case (.sum, .constant(let number)) where number.integer != nil:
            (node, type, factor) = (count, .integer, number)
        case (.sum, .field(let path)), (.average, .field(let path)):
            guard let value = try reader.value(at: path, of: parseClass), let type = value.type,
                FieldType(type) == .number
            else { return nil }
            let isSum = figure.accumulator == .sum
            node = .groupAggregate(isSum ? .sum : .average, of: value.node, isDistinct: false)
            self.type = isSum || type == .decimal ? type : .real
            factor = nil
        case (.minimum, .field(let path)), (.maximum, .field(let path)):
            guard let value = try reader.value(at: path, of: parseClass), let type = value.type,
                type != .boolean, type != .data
            else { return nil }
            node = .groupAggregate(
                figure.accumulator == .minimum ? .minimum : .maximum, of: value.node, isDistinct: false)
            self.type = type
            factor = nil
        default: return nil
        }
    }

    func json(_ value: Value) -> JSONValue {
        let result = JSONValue(value, as: type)
        return factor.map { result.multiplied(by: $0) } ?? result
    }
}

extension DocumentExpression.Operator {
    /// The part of a date that SQL knows too.
    fileprivate var datePart: DatePart? {
        switch self {
        case .year: .year
        case .month: .month
        case .dayOfMonth: .day
        case .dayOfWeek: .weekday
        case .hour: .hour
        case .minute: .minute
        case .second: .second
        default: nil
        }
    }
}

extension ConditionReader {
    /// A value with separate columns at a path; `nil` for none.
    fileprivate mutating func value(
        at path: [String], of parseClass: ParseClass, wholeJSON: Bool = false
    ) throws(ParseError) -> SelectedValue? {
        let target = try target(
            path.joined(separator: "."), of: Subject(parseClass: parseClass, scope: 0, path: []))
        return target.ways.isEmpty ? SelectedValue(target.source, wholeJSON: wholeJSON) : nil
    }
}
