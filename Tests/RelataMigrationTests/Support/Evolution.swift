import RelataCore
import RelataEngine
import TestSupport
import Testing

/// A database that models have made and filled, and other models open.
struct Evolution {
    let engine: TestEngine
    let connection: Connection

    /// Makes the tables of the entities and fills them.
    init(on engine: TestEngine, _ entities: Entity..., filledBy sql: String = "") throws {
        self.engine = engine
        connection = try engine.connection()
        try Migrator.migrate(connection, schema: try Schema(entities))
        try execute(sql)
    }

    /// Opens the database with other models, checks that a second opening finds nothing to do, and returns the changes.
    @discardableResult
    func open(_ entities: Entity..., steps: [MigrationStep] = []) throws -> [String] {
        let schema = try Schema(entities)
        let prepared = try Migrator.prepare(connection, schema: schema, steps: steps)
        let plan = try Migrator.migrate(connection, schema: schema, steps: steps)
        #expect(prepared.changes == plan.changes)
        let again = try plannedWithoutFingerprint(schema)
        #expect(again.isEmpty, "\(again.changes) \(again.preparation) \(again.completion)")
        try engine.checkIsSound(connection)
        return plan.changes.map(\.description)
    }

    /// The changes that opening would make without the fingerprint.
    private func plannedWithoutFingerprint(_ schema: Schema) throws -> MigrationPlan {
        try connection.execute("UPDATE relata_metadata SET value = 'lost' WHERE name = 'fingerprint'")
        let plan = try Migrator.prepare(connection, schema: schema)
        try Migrator.migrate(connection, schema: schema)
        return plan
    }

    /// The problems that prevent opening the database with other models, which must leave it unchanged.
    func refusals(_ entities: Entity..., steps: [MigrationStep] = []) throws -> [String] {
        let before = try contents()
        do {
            try Migrator.migrate(connection, schema: try Schema(entities), steps: steps)
            return []
        } catch RelataError.schemaMismatch(let problems) {
            #expect(try contents() == before)
            return problems.map(\.description)
        }
    }

    /// Everything the database holds, as text.
    func contents() throws -> [String] {
        let tables = try Introspection.tables(of: connection, hidesReserved: false).map(\.name)
        return try engine.shape(of: connection)
            + (tables + ["relata_metadata"]).flatMap { try connection.lines("SELECT * FROM \"\($0)\" ORDER BY 1") }
    }

    /// Runs SQL in which names needn't be quoted.
    func execute(_ sql: String) throws { try connection.execute(engine.quoting(sql)) }

    /// The rows of a query in which names needn't be quoted.
    func lines(_ sql: String) throws -> [String] { try connection.lines(engine.quoting(sql)) }

    /// The names of the tables of the models, in order.
    func tableNames() throws -> [String] { try Introspection.tables(of: connection).map(\.name).sorted() }

    /// A table as it is.
    func table(_ name: String) throws -> TableDescription {
        try #require(try Introspection.tables(of: connection).first { $0.name == name })
    }

    /// The columns of a table, in alphabetical order.
    func columns(of table: String) throws -> [String] { try self.table(table).columns.map(\.name).sorted() }

    /// The database's action when a target of a table is deleted.
    func deleteActions(of table: String) throws -> [String] {
        try self.table(table).foreignKeys.map { "\($0.target) \($0.onDelete.rawValue)" }
    }
}
