#if PostgreSQL
import RelataCore
import RelataEngine

/// Databases that other programs made.
extension PostgresDriver {
    package func foreignTables(
        including schemas: [String], _ connection: Connection
    ) throws(RelataError) -> ForeignTables? {
        ForeignTableReader.read(try Catalog(connection, including: schemas))
    }

    package func keysOfOtherSchemas(_ connection: Connection) throws(RelataError) -> [ForeignTables.Stray] {
        // Few databases have any, and reading the whole catalog takes longer than asking.
        let sql = """
            SELECT 1 FROM pg_catalog.pg_constraint AS k JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
                JOIN pg_catalog.pg_class AS t ON t.oid = k.confrelid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
            WHERE k.contype = 'f' AND n.nspname = pg_catalog.current_schema() AND c.relnamespace <> t.relnamespace LIMIT 1
            """
        guard try connection.value(SQLStatement(sql)) != nil else { return [] }
        return try Catalog(connection, including: []).keysOfOtherSchemas
    }

    /// Defines the functions of generated SQL in the session, for a database that wasn't prepared for it, without
    /// changing the database. Called before a transaction begins.
    func makeTemporaryFunctions(_ connection: Connection) throws(RelataError) {
        guard try connection.value(SQLStatement(PostgresFunctions.installed)) != .text(PostgresFunctions.comment) else {
            return
        }
        // If a standby or the role's rights don't permit it, a statement that calls a function fails.
        _ = try? run { (session) throws(PostgresFailure) in
            try session.run("BEGIN READ WRITE; \(PostgresFunctions.temporaryScript); COMMIT")
            callsTemporaryFunctions = true
        }
        session.rollBack()
    }

    package func tellsOthers(_ connection: Connection) throws(RelataError) -> Bool {
        try hasTable(CommitTable.name, connection)
    }

    package func rowChanges(_ connection: Connection) throws(RelataError) -> [String: RowChanges]? {
        guard
            try connection.value(SQLStatement("SELECT pg_catalog.current_setting('track_counts')::boolean"))
                == .integer(1)
        else { return nil }
        // The rows of partitions are their table's.
        let sql = """
            SELECT n.nspname::text || '.' || c.relname::text, pg_catalog.sum(s.n_tup_ins)::bigint,
                pg_catalog.sum(s.n_tup_upd)::bigint,
                pg_catalog.sum(s.n_tup_del)::bigint
            FROM pg_catalog.pg_stat_xact_user_tables AS s
                JOIN pg_catalog.pg_class AS c ON c.oid = coalesce(pg_catalog.pg_partition_root(s.relid), s.relid)
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE s.n_tup_ins + s.n_tup_upd + s.n_tup_del > 0 GROUP BY 1
            """
        var changes: [String: RowChanges] = [:]
        try connection.rows(SQLStatement(sql)) { row in
            changes[row.text(at: 0)] = RowChanges(
                inserted: Int(row.integer(at: 1)), updated: Int(row.integer(at: 2)), deleted: Int(row.integer(at: 3)))
        }
        return changes
    }
}
#endif
