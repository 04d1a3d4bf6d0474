import RelataCore
import RelataEngine

/// A transaction that only reads.
///
/// Valid inside the closure it is given to.
public class ReadTransaction: StoreReader {
    @usableFromInline let connection: Connection
    let catalog: ModelCatalog
    /// The objects that are visible; no operation sees others.
    let access: Access
    /// The rights of the store's caller; `nil` for the owner, and for a caller who may do everything.
    let rights: (any CallerRights)?
    /// The model whose object was last fetched by its key, and the number of the statement.
    private var lastFetch: (model: ObjectIdentifier, slot: Int)?
    /// Receives objects that can't be read; `nil` if they are errors.
    var undecodable: UndecodableReport?

    init(
        _ connection: Connection, _ catalog: ModelCatalog, access: Access, rights: (any CallerRights)? = nil
    ) {
        self.connection = connection
        self.catalog = catalog
        self.access = access
        self.rights = rights
    }

    /// The resolved schema of all models.
    package var schema: Schema { catalog.schema }
    /// The SQL that the database understands.
    package var dialect: Dialect { connection.dialect }

    var compiler: QueryCompiler { QueryCompiler(schema: catalog.schema, access: access, dialect: connection.dialect) }

    /// Runs `body`, which sees the state that the transaction sees.
    ///
    /// - Throws: The errors of `body`.
    public func read<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result { try body(self) }

    /// Runs `body`, which sees the state that the transaction sees.
    @inlinable
    public final func _readOnce<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result { try body(self) }

    /// Passes each object of a query to `body`, one at a time, in constant memory. In `async` code, use
    /// ``Store/stream(_:)``.
    ///
    /// - Throws: The errors of `body`; ``RelataError`` for an invalid query, and for rows that can't be read.
    public func forEach<M: Model>(_ query: Query<M>, _ body: (M) throws -> Void) throws {
        let cursor = try ObjectCursor(query, in: self)
        defer { cursor.close() }
        while let object = try cursor.next() { try body(object) }
    }

    // MARK: Inside

    /// The object with a key. Compiled in the app's module, where the model is known.
    @inlinable
    final func object<M: Model>(_ model: M.Type, id: M.Key) throws -> M? {
        guard let slot = try fetchSlot(model) else { return try objects(model, keys: [try M.keyValue(id)])[0] }
        return try connection.firstRow(slot: slot, { try fetchSQL(model) }) {
            try M.bind(id, to: &$0)
        } _: {
            try object(model, at: $0)
        }
    }

    /// The number of the statement that fetches an object by its key. It sees all rows: `nil` if some may be hidden.
    @usableFromInline
    final func fetchSlot<M: Model>(_ model: M.Type) throws(RelataError) -> Int? {
        if let lastFetch, lastFetch.model == ObjectIdentifier(model) { return lastFetch.slot }
        let index = try catalog.index(of: model)
        if rights != nil || access.isLimited && access.guards(catalog.schema.tables[index]) { return nil }
        let slot = RowSQL.Slot.fetch.number(table: index)
        lastFetch = (ObjectIdentifier(model), slot)
        return slot
    }

    @usableFromInline
    final func fetchSQL<M: Model>(_ model: M.Type) throws(RelataError) -> String {
        connection.rowSQL.fetch(try catalog.table(model))
    }

    /// The objects with these keys in their order, with includes; `nil` for a key that no object has.
    @usableFromInline
    func objects<M: Model>(_ model: M.Type, keys: [KeyValue], including links: [IncludePlan] = []) throws -> [M?] {
        guard !keys.isEmpty else { return [] }
        var query = Query<M>()
        query.plan.condition = .keyIn(FieldPath().object, keys)
        query.includes = links
        let objects = try objects(query).map { (try $0.storedKey(), $0) }
        let found = Dictionary(objects) { first, _ in first }
        return keys.map { found[$0] }
    }

    /// The objects of a query in order, with its includes.
    func objects<M: Model>(_ query: Query<M>) throws -> [M] {
        let plan = try plan(query)
        return try reporting(query.undecodableReport) {
            var objects = try read(try compiler.select(plan).statement) { ReadLoop<M>($0) }.objects
            try IncludeLoader(transaction: self).load(query.includes, into: &objects, areAll: plan.isWhole)
            return objects
        }
    }

    /// The values of a selection, as stored.
    func storedRows<M: Model, Row>(_ selection: Selection<M, Row>) throws -> [[Value]] {
        try refuseUndecodable(selection.query, "a selection")
        let plan = try plan(selection.query)
        let compiled =
            if let groups = selection.groups {
                try compiler.grouped(plan, by: groups, columns: selection.nodes, having: selection.having)
            } else {
                try compiler.select(plan, columns: .expressions(selection.nodes))
            }
        return try connection.values(compiled.statement, types: compiled.columnTypes)
    }

    func page<M: Model>(of query: Query<M>, size: Int, after position: PagePosition?) throws -> Page<M> {
        let compiled = try compiler.select(try plan(query).page(size: size), after: position, tellsPlace: true)
        var end = PageEnd(size: size, of: compiled)
        var objects: [M] = []
        return try reporting(query.undecodableReport) {
            try connection.forEachRow(compiled.statement) { row in
                guard end.takes(row) else { return }
                if let object = try object(M.self, at: row) { objects.append(object) }
            }
            try IncludeLoader(transaction: self).load(query.includes, into: &objects)
            return Page(objects: objects, next: end.next)
        }
    }

    func deletionPlan<M: Model>(_ model: M.Type, _ roots: DeletionRoots) throws -> DeletionReport {
        // It lists the objects that lose a link, which would reveal a hidden one.
        if rights?.hidesProperties == true { try requireOwner(for: "the plan of a deletion") }
        return try connection.deletionPlan(
            of: try catalog.table(model).index, roots: roots, schema: catalog.schema, access: access)
    }

    /// Custom SQL. A connection for reading a file can't write; a store in memory has a single one, which could.
    func statement(of sql: SQL) throws -> SQLStatement {
        try requireEverything(for: "SQL of your own")
        let statement = try sql.statement(connection.dialect)
        if connection.path.isEmpty, !(self is WriteTransaction), try connection.writes(statement.sql) {
            throw RelataError.readOnly("a read can't run SQL that writes: use execute, or a write transaction")
        }
        return statement
    }

    /// The query with its textual conditions understood.
    func plan<M: Model>(_ query: Query<M>) throws -> QueryPlan {
        try connection.updateSearchIfWriting()
        var plan = query.plan
        _ = try catalog.table(M.self)
        try rights?.check(.find, on: M.entityName)
        plan.condition = try query.pending.condition(
            besides: plan.condition, entity: M.entityName, schema: catalog.schema)
        if let required = IncludePlan.requirement(of: try IncludePlan.merged(query.includes)) {
            plan.condition = plan.condition.map { .and([$0, required]) } ?? required
        }
        return plan
    }

    /// Runs a statement whose rows are objects by a loop, and returns the loop with its results.
    func read<M: Model>(_ sql: SQLStatement, _ loop: (RunningStatement) throws -> ReadLoop<M>) throws -> ReadLoop<M> {
        try connection.withQuery(sql.sql) { statement, rowCount in
            try connection.bind(sql.parameters, to: statement)
            return try read(statement, rowCount: &rowCount, try loop(statement))
        }
    }

    /// As ``read(_:_:)``, for a statement that has its values.
    ///
    /// - Parameter rowCount: The number of rows it had the last time; those that were read replace it.
    func read<M: Model>(
        _ statement: RunningStatement, rowCount: inout Int, _ loop: ReadLoop<M>
    ) throws -> ReadLoop<M> {
        var loop = loop
        // The number is mostly similar to the last one: with that capacity, nothing needs to grow and be copied.
        loop.reserve(rowCount)
        while true {
            do {
                try M.read(&loop)
                break
            } catch RelataError.corruptStore(let message) {
                guard let failure = loop.failure else {
                    throw RelataError.corruptStore("\(M.entityName): \(message)")
                }
                // After a reported row, the loop continues with the next.
                try add(undecodable(M.self, Row(statement), column: failure.column, first: failure.first, message))
            }
        }
        try connection.check(loop.result, statement)
        // It shouldn't hold the room of a longer one either.
        if loop.objects.count < loop.objects.capacity / 2 {
            loop.objects = loop.objects.withUnsafeBufferPointer(Array.init)
        }
        rowCount = loop.rowCount
        return loop
    }

    /// Names the model in the error of a row that can't be read.
    static func reading<M: Model, Result>(_ model: M.Type, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch RelataError.corruptStore(let message) {
            throw RelataError.corruptStore("\(M.entityName): \(message)")
        }
    }

    /// Refuses the option to skip undecodable objects for a query that doesn't return objects.
    func refuseUndecodable<M: Model>(_ query: Query<M>, _ what: String) throws(RelataError) {
        guard query.undecodable != nil else { return }
        throw .invalidUse("\(what) yields no whole objects: leave skippingUndecodable out of its query")
    }
}

/// The SQL of a query, and the database's plan for it.
public struct Explanation: Sendable, CustomStringConvertible {
    /// The SQL.
    public let sql: String
    /// The values of its parameters.
    public let parameters: [Parameter]
    /// The steps of the database's plan. `SCAN` is a whole table, `SEARCH` an index.
    public let plan: [String]

    /// All three, readable.
    public var description: String {
        var lines = [sql]
        for (index, parameter) in parameters.enumerated() {
            switch parameter {
            case .value(let value): lines.append("  ?\(index + 1) = \(value)")
            case .list(let values): lines.append("  ?\(index + 1) = \(values.count) values")
            case .keys(let keys): lines.append("  ?\(index + 1) = \(keys.count) keys")
            }
        }
        return (lines + plan.map { "  " + $0 }).joined(separator: "\n")
    }
}
