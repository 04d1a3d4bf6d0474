import GRDBSQLite

/// What can be read in a transaction, and nothing else.
///
/// Valid inside the closure it is given to.
public class ReadTransaction {
    let connection: Connection
    let catalog: ModelCatalog

    init(_ connection: Connection, _ catalog: ModelCatalog) {
        self.connection = connection
        self.catalog = catalog
    }

    var compiler: QueryCompiler { QueryCompiler(schema: catalog.schema) }

    // MARK: By key

    /// The object with that key, or `nil` if there is none.
    public func fetch<M: Model>(_ model: M.Type, id: M.Key) throws -> M? {
        let table = try catalog.table(model)
        return try connection.withStatement(slot: RowSQL.Slot.fetch.number(table), { RowSQL.fetch(table) }) {
            statement in
            var binder = Binder(statement)
            try M.bind(id, to: &binder)
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                try connection.check(code, statement)
                return nil
            }
            var reader = RowReader(statement)
            return try Self.reading(model) { try M(from: &reader) }
        }
    }

    /// The object that a to-one points at, or `nil` if it is unset or dangles.
    public func fetch<M: Model>(_ link: ToOne<M>?) throws -> M? { try link?.id.flatMap { try fetch(M.self, id: $0) } }

    /// The objects with these keys, of any models, each with its own result, in the given order.
    ///
    /// ```swift
    /// let results = try tx.fetch(ids: [ObjectKey(Artist.self, "Mei Chen"), ObjectKey(Artwork.self, "Dawn")])
    /// ```
    public func fetch(ids: [ObjectKey]) throws -> [ObjectResult] {
        var found: [ObjectIdentifier: [KeyValue: any Model]] = [:]
        for (model, keys) in Dictionary(grouping: ids, by: { ObjectIdentifier($0.model) }) {
            found[model] = try keys[0].fetchAll(self, keys.map(\.reference.key))
        }
        return ids.map { key in
            let object = found[ObjectIdentifier(key.model)]?[key.reference.key]
            return ObjectResult(key: key, result: object.map { .success($0) } ?? .failure(.notFound(key.reference)))
        }
    }

    /// The object as it is stored now.
    ///
    /// - Throws: ``RelataError/notFound(_:)`` if it was deleted.
    public func refresh<M: Model>(_ object: M) throws -> M {
        guard let key = object.primaryKey, let stored = try fetch(M.self, id: key) else {
            throw RelataError.notFound(object.reference())
        }
        return stored
    }

    // MARK: By query

    /// The objects of a query, in order.
    public func fetch<M: Model>(_ query: Query<M>) throws -> [M] {
        let compiled = try compiler.select(try plan(query))
        var objects: [M] = []
        try rows(compiled.statement) { statement in
            var reader = RowReader(statement)
            objects.append(try Self.reading(M.self) { try M(from: &reader) })
        }
        try IncludeLoader(transaction: self).load(query.includes, into: &objects)
        return objects
    }

    /// Loads relationships of objects that were fetched before, and returns the objects with them: one statement for
    /// each relationship. Links that aren't named stay as they are.
    public func load<M: Model>(
        _ objects: [M], @IncludeBuilder _ links: (M.Fields) -> [IncludePlan]
    ) throws -> [M] {
        var objects = objects
        try IncludeLoader(transaction: self).load(links(M.Fields(path: FieldPath())), into: &objects)
        return objects
    }

    /// Loads relationships of one object and returns it with them.
    public func load<M: Model>(_ object: M, @IncludeBuilder _ links: (M.Fields) -> [IncludePlan]) throws -> M {
        try load([object], links)[0]
    }

    /// The first object of a query, or `nil` if there is none.
    public func first<M: Model>(_ query: Query<M>) throws -> M? { try fetch(query.limitedToOne()).first }

    /// The number of objects of a query.
    public func count<M: Model>(_ query: Query<M>) throws -> Int {
        guard case .integer(let count)? = try connection.value(compiler.count(try plan(query))) else { return 0 }
        return Int(count)
    }

    /// Whether a query has an object.
    public func exists<M: Model>(_ query: Query<M>) throws -> Bool {
        try connection.value(compiler.exists(try plan(query))) == .integer(1)
    }

    /// Chosen values of a query's objects or groups, as tuples.
    public func fetch<M: Model, Row>(_ selection: Selection<M, Row>) throws -> [Row] {
        try storedRows(selection).map(selection.decode)
    }

    /// The values of a selection, as stored.
    func storedRows<M: Model, Row>(_ selection: Selection<M, Row>) throws -> [[Value]] {
        let plan = try plan(selection.query)
        let compiled =
            if let groups = selection.groups {
                try compiler.grouped(plan, by: groups, columns: selection.nodes, having: selection.having)
            } else {
                try compiler.select(plan, columns: .expressions(selection.nodes))
            }
        return try connection.values(compiled.statement, types: compiled.columnTypes)
    }

    /// One figure of all objects of a query.
    ///
    /// ```swift
    /// let average = try tx.value(of: Book.all) { $0.price.average() }
    /// ```
    public func value<M: Model, Figure: QueryExpression>(
        of query: Query<M>, _ figure: (M.Fields) -> Figure
    ) throws -> Figure.QueryValue {
        let figure = figure(M.Fields(path: FieldPath()))
        let compiled = try compiler.totals(try plan(query), [figure.node])
        let value = try connection.values(compiled.statement, types: compiled.columnTypes).first?.first
        return try figure.coding.decode(value ?? .null)
    }

    /// Gives each object of a query to `body`, one at a time: memory stays constant whatever their number.
    public func forEach<M: Model>(_ query: Query<M>, _ body: (M) throws -> Void) throws {
        let compiled = try compiler.select(try plan(query))
        try rows(compiled.statement) { statement in
            var reader = RowReader(statement)
            try body(try Self.reading(M.self) { try M(from: &reader) })
        }
    }

    /// One page of a query, and where the next begins. Pages stay right while objects are added or removed: a page
    /// begins after the last object of the one before, not at a number.
    public func page<M: Model>(_ query: Query<M>, size: Int, after position: PagePosition? = nil) throws -> Page<M> {
        guard size > 0 else { throw RelataError.invalidUse("a page must have at least one object, not \(size)") }
        var plan = try plan(query)
        guard plan.limit == nil, plan.offset == nil else {
            throw RelataError.invalidUse("a page counts its objects by itself: leave limit and offset out of its query")
        }
        plan.limit = size
        let compiled = try compiler.select(plan, after: position, tellsPlace: true)
        var objects: [M] = []
        var last: [Value] = []
        let first = compiled.columnTypes.count - compiled.placeColumns
        try rows(compiled.statement) { statement in
            var reader = RowReader(statement)
            objects.append(try Self.reading(M.self) { try M(from: &reader) })
            if objects.count == size {
                let row = Row(statement)
                last = (first..<compiled.columnTypes.count).map { row.value(at: $0, as: compiled.columnTypes[$0]) }
            }
        }
        return Page(objects: objects, next: objects.count == size ? PagePosition(last) : nil)
    }

    // MARK: By relationship

    /// The objects that an object's to-many links to.
    ///
    /// ```swift
    /// let authors = try tx.related(to: book) { $0.authors }
    /// ```
    ///
    /// For filters, orders and limits fetch the query ``Model/related(_:)-(_)`` makes.
    public func related<M: Model, Target: Model>(
        to object: M, _ link: (M.Fields) -> ToManyField<Target>
    ) throws -> [Target] {
        try fetch(object.related(link))
    }

    /// The object that an object's to-one or has-one links to, or `nil` if there is none.
    public func related<M: Model, Target: Model>(
        to object: M, _ link: (M.Fields) -> ToOneField<Target>
    ) throws -> Target? {
        try first(object.related(link))
    }

    // MARK: SQL

    /// The rows of SQL of your own, each value bound: the way out for what queries can't say.
    ///
    /// ```swift
    /// let rows = try tx.rows("SELECT title, year FROM Book WHERE year > \(1970)")
    /// ```
    public func rows(_ sql: SQL) throws -> [[Value]] {
        try connection.runningForeignSQL { try connection.values(try sql.statement) }
    }

    /// Objects of a model from SQL that selects their columns in the order of its properties.
    public func fetch<M: Model>(_ model: M.Type, sql: SQL) throws -> [M] {
        let count = try catalog.table(model).columns.count
        var objects: [M] = []
        let read: (OpaquePointer) throws -> Void = { statement in
            guard sqlite3_column_count(statement) >= count else {
                throw RelataError.invalidUse(
                    "\(M.entityName) has \(count) columns and the SQL gives \(sqlite3_column_count(statement)): select them all, in the order of the properties"
                )
            }
            var reader = RowReader(statement)
            objects.append(try Self.reading(model) { try M(from: &reader) })
        }
        try connection.runningForeignSQL { try rows(try sql.statement, read) }
        return objects
    }

    /// How a query runs: its SQL, what is bound, and the database's plan.
    public func explain<M: Model>(_ query: Query<M>) throws -> Explanation {
        let statement = try compiler.select(try plan(query)).statement
        let plan = try connection.values(SQLStatement("EXPLAIN QUERY PLAN " + statement.sql, statement.parameters))
        return Explanation(
            sql: statement.sql, parameters: statement.parameters, plan: plan.compactMap { $0.last?.description })
    }

    // MARK: Deletions

    /// What deleting an object would do. Nothing happens.
    public func deletionPlan<M: Model>(for object: M) throws -> DeletionReport { try deletionPlan(for: [object]) }

    /// What deleting objects would do. Nothing happens.
    public func deletionPlan<M: Model>(for objects: [M]) throws -> DeletionReport {
        try deletionPlan(M.self, .keys(try objects.map { try $0.storedKey() }))
    }

    /// What deleting the objects of a query would do. Nothing happens.
    public func deletionPlan<M: Model>(for query: Query<M>) throws -> DeletionReport {
        try deletionPlan(M.self, .query(compiler.keys(try plan(query), isOrdered: false).statement))
    }

    private func deletionPlan<M: Model>(_ model: M.Type, _ roots: DeletionRoots) throws -> DeletionReport {
        try connection.deletionPlan(of: try catalog.table(model).index, roots: roots, schema: catalog.schema)
    }

    // MARK: Inside

    /// The query with its textual conditions understood.
    func plan<M: Model>(_ query: Query<M>) throws -> QueryPlan {
        var plan = query.plan
        _ = try catalog.table(M.self)
        if let limit = plan.limit, limit < 0 { throw RelataError.invalidUse("a limit can't be negative: \(limit)") }
        if let offset = plan.offset, offset < 0 {
            throw RelataError.invalidUse("an offset can't be negative: \(offset)")
        }
        for format in query.formats {
            let node = try format.parse(entity: M.entityName, schema: catalog.schema)
            plan.condition = plan.condition.map { .and([$0, node]) } ?? node
        }
        if let required = IncludePlan.requirement(of: try IncludePlan.merged(query.includes)) {
            plan.condition = plan.condition.map { .and([$0, required]) } ?? required
        }
        return plan
    }

    func rows(_ sql: SQLStatement, _ body: (OpaquePointer) throws -> Void) throws {
        try connection.withStatement(sql.sql) { statement in
            defer { if !sql.parameters.isEmpty { sqlite3_clear_bindings(statement) } }
            try connection.bind(sql.parameters, to: statement)
            while true {
                let code = sqlite3_step(statement)
                if code == SQLITE_DONE { return }
                try connection.check(code, statement)
                try body(statement)
            }
        }
    }

    /// Names the model in the error of a row that can't be read.
    static func reading<M: Model>(_ model: M.Type, _ body: () throws -> M) throws -> M {
        do {
            return try body()
        } catch RelataError.corruptStore(let message) {
            throw RelataError.corruptStore("\(M.entityName): \(message)")
        }
    }
}

/// One page of a query's objects.
public struct Page<M: Model>: Sendable {
    /// The page's objects.
    public let objects: [M]
    /// Where the next page begins; `nil` after the last one. `Codable`, so that it can be sent and come back.
    public let next: PagePosition?
}

/// How a query runs.
public struct Explanation: Sendable, CustomStringConvertible {
    /// The SQL.
    public let sql: String
    /// What is bound to its parameters.
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
