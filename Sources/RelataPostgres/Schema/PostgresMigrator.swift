#if PostgreSQL
import RelataCore
import RelataEngine

/// Brings the tables of a database to what the models say.
enum PostgresMigrator {
    /// Who migrates holds this lock until the end of its transaction.
    private static let lock: Int64 = 7_885_075_893_411

    static func pending(
        _ connection: Connection, schema: Schema, steps: [MigrationStep]
    ) throws(RelataError) -> MigrationPlan {
        let fingerprint = SchemaFingerprint.of(schema, steps: steps.map(\.declaration.name))
        if try isUnchanged(connection, fingerprint) { return MigrationPlan() }
        return try plan(connection, schema)
    }

    static func migrate(
        _ connection: Connection, schema: Schema, steps: [MigrationStep], isReadOnly: Bool
    ) throws {
        let fingerprint = SchemaFingerprint.of(schema, steps: steps.map(\.declaration.name))
        if try hasFunctions(connection), try isUnchanged(connection, fingerprint) { return }
        if isReadOnly {
            guard try plan(connection, schema).isEmpty else {
                throw RelataError.readOnly(
                    "the database needs a migration, but is open for reading only: open it for writing once")
            }
            return
        }
        if try !hasFunctions(connection) { try connection.execute(PostgresFunctions.script) }
        try connection.transaction {
            _ = try connection.value(
                SQLStatement("SELECT pg_advisory_xact_lock($1::bigint)", [.value(.integer(lock))]))
            // Another process may have done it while this one waited for the lock.
            if try isUnchanged(connection, fingerprint) { return }
            var metadata = try Metadata.read(connection)
            let plan = try plan(connection, schema)
            try plan.checkIsAllowed()
            for statement in plan.preparation + plan.completion { try connection.execute(statement) }
            let transaction = MigrationTransaction(connection)
            let pending = steps.filter {
                $0.declaration.name.isEmpty || !metadata.steps.contains($0.declaration.name)
            }
            // A new database has nothing for a step to mend.
            if metadata.entities != nil { for step in pending { try step.body(transaction) } }
            metadata.entities = schema.tables.map(\.entity)
            metadata.steps += pending.map(\.declaration.name).filter { !$0.isEmpty }
            try metadata.write(connection, fingerprint: fingerprint)
        }
        connection.clearStatements()
    }

    private static func hasFunctions(_ connection: Connection) throws(RelataError) -> Bool {
        try connection.value(SQLStatement(PostgresFunctions.installed)) == .text(PostgresFunctions.comment)
    }

    /// A failing look-up would end the transaction: it is asked first whether the table is there.
    private static func isUnchanged(_ connection: Connection, _ fingerprint: String) throws(RelataError) -> Bool {
        guard try connection.hasTable("relata_metadata") else { return false }
        return Metadata.isUnchanged(connection, fingerprint: fingerprint)
    }

    /// What is missing.
    private static func plan(_ connection: Connection, _ schema: Schema) throws(RelataError) -> MigrationPlan {
        let actual = try connection.driver.tables(named: nil, hidesReserved: false, connection)
        let known = Dictionary(actual.map { ($0.name, $0) }) { first, _ in first }
        var plan = MigrationPlan()
        var keys: [String] = []
        for wanted in SchemaDDL.tables(of: schema, dialect: .postgres) {
            guard let table = known[wanted.name] else {
                plan.preparation.append(SchemaDDL.createTable(wanted, dialect: .postgres))
                plan.preparation += wanted.indexes.map {
                    SchemaDDL.createIndex($0, on: wanted.name, dialect: .postgres)
                }
                keys += SchemaDDL.addForeignKeys(of: wanted, dialect: .postgres)
                continue
            }
            try add(wanted, to: table, &plan, &keys)
        }
        plan.completion += keys
        return plan
    }

    private static func add(
        _ wanted: TableDescription, to table: TableDescription, _ plan: inout MigrationPlan, _ keys: inout [String]
    ) throws(RelataError) {
        var problems: [SchemaProblem] = []
        for column in wanted.columns {
            guard let actual = table.column(column.name) else {
                if column.isRequired, column.defaultSQL == nil {
                    problems.append(
                        SchemaProblem(
                            entity: table.name,
                            message: "\(column.name) is required and new: give it a default, or make it optional"))
                    continue
                }
                let definition = SchemaDDL.columnDefinition(column, of: wanted, dialect: .postgres)
                plan.preparation.append(
                    "ALTER TABLE \(Dialect.postgres.quote(table.name)) ADD COLUMN \(definition)")
                continue
            }
            if actual.type != column.type {
                problems.append(
                    SchemaProblem(
                        entity: table.name,
                        message: "\(column.name) is \(actual.type) in the database, and \(column.type) in the model: "
                            + "change the column with ALTER TABLE, or the model"))
            }
        }
        if !problems.isEmpty { throw .schemaMismatch(problems) }
        for index in wanted.indexes where !table.indexes.contains(where: { $0.name == index.name }) {
            plan.preparation.append(SchemaDDL.createIndex(index, on: table.name, dialect: .postgres))
        }
        var missing = wanted
        missing.foreignKeys.removeAll { table.foreignKey(on: $0.columns) != nil }
        keys += SchemaDDL.addForeignKeys(of: missing, dialect: .postgres)
    }
}
#endif
