#if PostgreSQL
import PostgresCluster
import RelataCore
import RelataPostgres

@testable import RelataEngine

/// A connection that looks at all tables of a database, regardless of who made them.
func foreignConnection(_ url: String, including schemas: [String] = [], writes: Bool = false) throws -> Connection {
    let connection = try PostgresEngine(url: PostgresURL(url), isReadOnly: !writes).connect(
        writes ? .writing : .reading, waits: true)
    connection.tableScope = .everywhere(including: schemas)
    return connection
}

/// A database's tables, read as entities.
struct ForeignReading {
    let connection: Connection
    let schema: Schema
    let notes: [SchemaProblem]

    init(_ connection: Connection, followsAllKeys: Bool = false) throws {
        self.connection = connection
        let reader = try Introspection.read(connection, followsAllKeys: followsAllKeys)
        schema = try Schema(reader.entities)
        notes = reader.notes
    }

    func entity(_ name: String) throws -> Table {
        guard let table = NameResolver(schema).entity(name) else { throw RelataError.invalidUse("no entity \(name)") }
        return table
    }

    /// An attribute as `word (declared type)`.
    func attribute(_ name: String, of entity: String) throws -> String? {
        try self.entity(entity).entity.attribute(name).map { attribute in
            "\(attribute.type.word)\(attribute.isOptional ? "?" : "")"
                + (attribute.declaredType.map { " (\($0))" } ?? "") + (attribute.isGenerated ? " generated" : "")
        }
    }

    func fetch(_ entity: String, limit: Int? = nil) throws -> [FetchedRecord] {
        try RecordFetcher(connection, schema: schema, access: .everything).fetch(
            QueryPlan(entity: try self.entity(entity).name, limit: limit))
    }

    /// The values of an object by its properties, those of one column.
    func values(_ entity: String, at place: Int = 0) throws -> [String: Value] {
        let (table, record) = (try self.entity(entity), try fetch(entity)[place])
        var values: [String: Value] = [:]
        for (column, value) in zip(table.columns, record.values) { values[column.property] = value }
        return values
    }

    func plan(_ entity: String, _ key: Value...) throws -> DeletionReport {
        try connection.deletionPlan(
            of: try self.entity(entity).index, roots: .keys([KeyValue(key)]), schema: schema, access: .everything
        ).sorted()
    }
}
#endif
