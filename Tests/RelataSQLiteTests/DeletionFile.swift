import RelataCore
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// A file of another program, in memory, and deletions in it.
struct DeletionFile {
    let connection: Connection
    let schema: Schema

    init(_ sql: String, trace: SQLTrace? = nil, followsAllKeys: Bool = false) throws {
        connection = try Connection(path: nil, trace: trace)
        try connection.execute(sql)
        schema = try Schema(Introspection.entities(of: connection, followsAllKeys: followsAllKeys))
    }

    func plan(_ entity: String, _ key: Value) throws -> DeletionReport {
        try connection.deletionPlan(
            of: number(entity), roots: .keys([KeyValue(key)]), schema: schema, access: .everything
        ).sorted()
    }

    /// Deletes. If the deletion fails, it must undo its changes itself.
    @discardableResult
    func delete(_ entity: String, _ keys: Value...) throws -> DeletionReport {
        try connection.execute("BEGIN IMMEDIATE")
        defer { try? connection.execute("COMMIT") }
        return try connection.delete(
            entity: number(entity), roots: .keys(keys.map { KeyValue($0) }), schema: schema, access: .everything
        )
        .sorted()
    }

    /// The keys of an entity's objects that meet a condition, in the order of the keys.
    func keys(_ entity: String, _ condition: String) throws -> [Value] {
        let key = try #require(schema[entity]).entity.key
        return try RecordFetcher(connection, schema: schema, access: .everything).fetch(
            QueryPlan(
                entity: entity, condition: try PredicateFormat.parse(condition, entity: entity, schema: schema),
                sort: key.map { SortTerm(.property(scope: 0, path: [$0])) })
        ).map { $0.values[0] }
    }

    func count(_ table: String) throws -> Value? {
        try connection.value(SQLStatement("SELECT count(*) FROM \(table)"))
    }

    private func number(_ entity: String) throws -> Int { try #require(schema.index(of: entity)) }
}
