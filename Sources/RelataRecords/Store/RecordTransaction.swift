public import RelataCore
import RelataEngine

/// A transaction that reads one state of a store.
///
/// Valid inside the closure it is given to.
public class RecordTransaction {
    package let connection: Connection
    /// The classes as the transaction sees them.
    package internal(set) var recordClasses: RecordClasses
    /// Whether use creates a missing class or field.
    let mode: RecordStore.Mode

    /// The objects that the transaction sees; no operation sees others.
    package let access: Access

    init(_ connection: Connection, _ classes: RecordClasses, mode: RecordStore.Mode, access: Access) {
        self.connection = connection
        self.mode = mode
        self.access = access
        recordClasses = classes
    }

    package var schema: Schema { recordClasses.schema }

    var compiler: QueryCompiler { QueryCompiler(schema: schema, access: access, dialect: connection.dialect) }

    // MARK: Classes

    /// The class of that name.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a missing class.
    package func table(_ name: String) throws(RelataError) -> Table {
        if let table = recordClasses.names.entity(name) { return table }
        throw .invalidUse(
            "there is no class \(name)" + NameSuggestion.hint(for: name, among: schema.tables.map(\.name)))
    }

    /// The class of that name; `nil` for one that use will create.
    func tableIfMade(_ name: String) throws(RelataError) -> Table? {
        if mode == .development, recordClasses.names.entity(name) == nil { return nil }
        return try table(name)
    }

    private func plan(
        _ query: RecordQuery
    ) throws(RelataError) -> (plan: QueryPlan, includes: [IncludePlan])? {
        try connection.updateSearchIfWriting()
        if let known = try query.plan(in: recordClasses) { return known }
        _ = try tableIfMade(query.className)
        return nil
    }

    // MARK: Reading

    /// The objects of a query, in order.
    ///
    /// - Throws: ``RelataError/predicateFormat(text:column:_:)`` for an invalid condition,
    ///   ``RelataError/invalidUse(_:)`` for unknown names. A class that doesn't exist yet, in a store in which use
    ///   creates classes, has no objects.
    public func fetch(_ query: RecordQuery) throws -> [Record] {
        guard let (plan, includes) = try plan(query) else { return [] }
        return try RecordFetcher(connection, schema: schema, access: access).fetch(plan, including: includes).map(
            record)
    }

    /// The first object of a query; `nil` if it has none.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    public func first(_ query: RecordQuery) throws -> Record? {
        var query = query
        query.limit = min(1, query.limit ?? 1)
        return try fetch(query).first
    }

    /// The object of a class with that key, given by its parts; `nil` if the object doesn't exist.
    ///
    /// ```swift
    /// let album = try tx.fetch("Album", id: 7)
    /// ```
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    public func fetch(_ className: String, id: RecordValue...) throws -> Record? {
        guard let table = try tableIfMade(className) else { return nil }
        return try fetch(table, key: try KeyValue(id, of: table))
    }

    /// The object of a class with that key; `nil` if the object doesn't exist.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    public func fetch(_ className: String, key: KeyValue) throws -> Record? {
        try tableIfMade(className).flatMap { try fetch($0, key: key) }
    }

    /// The stored object; `nil` for a deleted one.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    public func refreshed(_ record: Record) throws -> Record? {
        try record.key.flatMap { try fetch(record.className, key: $0) }
    }

    func fetch(_ table: Table, key: KeyValue) throws(RelataError) -> Record? {
        let row = try connection.row(key, of: table, compiler)
        return row.map { Record(recordClasses.layout(table.index), row: $0) }
    }

    /// The number of a query's objects.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    public func count(_ query: RecordQuery) throws -> Int {
        guard let (plan, _) = try plan(query) else { return 0 }
        guard case .integer(let count)? = try connection.value(try compiler.count(plan)) else { return 0 }
        return Int(count)
    }

    /// A fetched object with the names of its fields.
    private func record(_ fetched: FetchedRecord) -> Record {
        Record(
            recordClasses.layout(fetched.entity), row: fetched.values,
            loaded: fetched.links.mapValues { link in
                switch link {
                case .one(let other): .one(other.map(record))
                case .many(let others): .many(others.map(record))
                }
            })
    }

    // MARK: Deletion plans

    /// The plan of deleting an object, without deleting it: deleted objects, unset links, and blockers.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    public func deletionPlan(for record: Record) throws -> DeletionReport { try deletionPlan(for: [record]) }

    /// The plan of deleting objects of one class.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    public func deletionPlan(for records: [Record]) throws -> DeletionReport {
        guard let (table, keys) = try keys(of: records) else { return DeletionReport(entity: "") }
        return try connection.deletionPlan(of: table.index, roots: .keys(keys), schema: schema, access: access)
    }

    /// The plan of deleting the objects of a query.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    public func deletionPlan(for query: RecordQuery) throws -> DeletionReport {
        guard let (table, roots) = try roots(of: query) else { return DeletionReport(entity: query.className) }
        return try connection.deletionPlan(of: table.index, roots: roots, schema: schema, access: access)
    }

    /// The class of some objects, and their keys; `nil` for no objects.
    func keys(of records: [Record]) throws(RelataError) -> (table: Table, keys: [KeyValue])? {
        guard let first = records.first else { return nil }
        let table = try table(first.className)
        var keys: [KeyValue] = []
        for record in records {
            guard record.className == first.className else {
                throw .invalidUse(
                    "objects of \(first.className) and of \(record.className) were given: delete those of one class, then those of the other"
                )
            }
            guard let key = record.key else {
                throw .invalidUse("\(record) isn't stored: only fetched or saved objects can be deleted")
            }
            keys.append(key)
        }
        return (table, keys)
    }

    func roots(of query: RecordQuery) throws(RelataError) -> (table: Table, roots: DeletionRoots)? {
        guard let (plan, _) = try plan(query), let table = schema[plan.entity] else { return nil }
        return (table, .query(try compiler.keys(plan, isOrdered: false).statement))
    }

    // MARK: Schema

    /// The classes of the store, in the order of their creation.
    public var classes: [RecordClass] { schema.tables.map { RecordClass($0, in: schema) } }
}
