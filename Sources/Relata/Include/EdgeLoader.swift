import RelataCore
import RelataEngine

/// Loads one relationship of many objects, without its types.
protocol EdgeLoading {
    /// The relationship's number.
    var index: Int { get }
    /// The statement for the objects at the other end.
    var statement: SQLStatement { get }
    /// Reads the rows of the statement.
    func read(_ running: RunningStatement, rowCount: inout Int) throws
    /// The objects that were read, with what is included with them.
    func members() throws -> AnyMembers
}

/// Loads one relationship of many objects: by one statement, and each object at its other end is decoded once.
final class EdgeLoader<Owner: Model, Target: Model>: EdgeLoading {
    let index: Int
    private let transaction: ReadTransaction
    private let include: IncludePlan
    private let link: Link
    /// The keys that the owners hold, for a to-one.
    private let toOne: ToOneKeys<Target>?
    /// The owners' keys; for a to-one those that they hold in it.
    private let keys: KeyList
    /// Whether the whole table is read instead of looking up each key: for all objects, that reads the same rows in half
    /// the time.
    private var isWhole: Bool
    private var edge: CompiledQuery
    private var loop: ReadLoop<Target>?

    /// - Parameter areAll: Whether the owners are all objects of their model.
    init(transaction: ReadTransaction, include: IncludePlan, index: Int, owners: [Owner], areAll: Bool) throws {
        let catalog = transaction.catalog
        let table = try catalog.table(Owner.self)
        link = catalog.links[table.index][index].link
        toOne = link.isReference ? try ToOneKeys(index, of: owners) : nil
        keys = try toOne?.list() ?? KeyList(of: owners)
        // The rows that belong to hidden owners aren't wanted.
        isWhole =
            areAll && catalog.schema.isTotal(link) && include.limit == nil && keys.width == 1
            && !transaction.access.guards(table)
        edge = try Self.compile(include, link, isWhole ? nil : keys, count: keys.count, transaction)
        (self.transaction, self.include, self.index) = (transaction, include, index)
    }

    var statement: SQLStatement { edge.statement }

    func read(_ running: RunningStatement, rowCount: inout Int) throws {
        loop = try transaction.read(running, rowCount: &rowCount, try makeLoop(running))
    }

    func members() throws -> AnyMembers {
        guard let loop = try finishedLoop() else { throw RelataError.invalidUse("\(include.relationship) wasn't read") }
        var objects = loop.objects
        let lists =
            toOne.map { loop.rows.lists(ofRows: $0.rows, keys: $0.keys.count) } ?? loop.rows.lists(owners: keys.count)
        let areAll = if case .inverse = link { isWhole && include.requiredCondition == nil } else { false }
        try IncludeLoader(transaction: transaction).load(include.children, into: &objects, areAll: areAll)
        return Members(
            objects: objects, lists: lists, isToOne: toOne != nil,
            absence: include.requiredCondition == nil ? .missing : .excluded)
    }

    private func finishedLoop() throws -> ReadLoop<Target>? {
        defer { loop = nil }
        guard loop?.rows.hasStranger == true else { return loop }
        isWhole = false
        edge = try Self.compile(include, link, keys, count: keys.count, transaction)
        return try transaction.read(statement, makeLoop)
    }

    private func makeLoop(_ running: RunningStatement) throws -> ReadLoop<Target> {
        let numbers = isWhole ? OwnerNumbers(keys: keys, type: edge.columnTypes[0]) : OwnerNumbers()
        let keyColumn =
            Self.isShared(link) ? try transaction.catalog.table(Target.self).contiguousKeyColumn : nil
        return try ReadLoop(running, edge: edge, owner: .number, numbers: numbers, keyColumn: keyColumn)
    }

    private static func compile(
        _ include: IncludePlan, _ link: Link, _ keys: KeyList?, count: Int, _ transaction: ReadTransaction
    ) throws -> CompiledQuery {
        try transaction.compiler.edge(
            QueryPlan(entity: Target.entityName, condition: include.requiredCondition, sort: include.sort),
            from: Owner.entityName, along: include.relationship, of: keys, limit: include.limit, tellsRows: true,
            sortsRows: false, tellsOnce: isShared(link), ownerCount: count)
    }

    /// Whether an object is reached once for each owner, as in a many-to-many; its key shows whether it was read already.
    private static func isShared(_ link: Link) -> Bool {
        switch link {
        case .join, .through: true
        case .reference, .inverse, .matched: false
        }
    }
}

extension Table {
    /// The first column of the key, if the key's columns are consecutive and in order.
    fileprivate var contiguousKeyColumn: Int? {
        guard let first = keyColumns.first, keyColumns == Array(first..<first + keyColumns.count) else { return nil }
        return first
    }
}
