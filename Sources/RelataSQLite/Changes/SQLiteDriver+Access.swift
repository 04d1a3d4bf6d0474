import RelataCSQLite
import RelataCore
import RelataEngine

extension SQLiteDriver {
    /// Compiles a statement again, to record its accesses.
    package func access(of statement: Statement) -> StatementAccess? {
        guard let text = sqlite3_sql(statement.running.handle) else { return nil }
        var access = authorizer.collect {
            var pointer: OpaquePointer?
            sqlite3_prepare_v2(handle, text, -1, &pointer, nil)
            sqlite3_finalize(pointer)
        }
        widen(&access)
        return access
    }

    /// A generated column changes with the columns that it depends on, which SQLite doesn't report: an update of a
    /// table with generated columns counts as writing whole rows.
    ///
    /// Reading a search index counts as reading its table.
    private func widen(_ access: inout StatementAccess) {
        for table in access.reads.tables.keys.compactMap(SearchIndex.table(ofWords:)) {
            access.reads.add(rowsOf: table)
        }
        for (table, part) in access.writes.tables {
            guard case .columns = part else { continue }
            var pointer: OpaquePointer?
            let sql = "SELECT 1 FROM temp.pragma_table_xinfo(?1) WHERE hidden > 1 LIMIT 1"
            authorizer.preparing {
                guard sqlite3_prepare_v2(handle, sql, -1, &pointer, nil) == SQLITE_OK, let pointer else { return }
                try? StatementParameter(RunningStatement(pointer), 1).bind(table)
                if sqlite3_step(pointer) == SQLITE_ROW { access.writes.add(rowsOf: table) }
            }
            sqlite3_finalize(pointer)
        }
    }

    package func plan(of statement: SQLStatement, _ connection: Connection) throws(RelataError) -> [PlanStep] {
        let rows = try connection.values(SQLStatement("EXPLAIN QUERY PLAN " + statement.sql, statement.parameters))
        return rows.compactMap { row in
            guard row.count == 4, case .integer(let id) = row[0], case .integer(let parent) = row[1] else { return nil }
            return PlanStep(id: id, parent: parent, detail: row[3].description)
        }
    }

    package var hasRecompiled: Bool { authorizer.wasRecompiled }

    package func forgetRecompilation() { authorizer.forgetRecompilation() }

    package var catalogTable: String { "sqlite_master" }
}
