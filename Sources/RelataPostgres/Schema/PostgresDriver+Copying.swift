#if PostgreSQL
import RelataCore
import RelataEngine

/// PostgreSQL's part in copying a database.
extension PostgresDriver {
    package func assignKeys(
        after key: Int64, of table: String, column: String, _ connection: Connection
    ) throws(RelataError) {
        let name = dialect.quote(table)
        let sql = """
            SELECT setval(pg_get_serial_sequence($1::text, $2::text), last)
            FROM (SELECT greatest($3::bigint, max(\(dialect.quote(column)))) AS last FROM \(name)) AS l WHERE last > 0
            """
        _ = try connection.value(
            SQLStatement(sql, [.value(.text(name)), .value(.text(column)), .value(.integer(key))]))
    }

    package func otherSchemas(_ connection: Connection) throws(RelataError) -> [String] {
        let sql = """
            SELECT DISTINCT n.nspname::text COLLATE "C" FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p') AND n.nspname <> current_schema() AND n.nspname <> 'information_schema'
                AND left(n.nspname, 3) <> 'pg_' ORDER BY 1
            """
        return try connection.values(SQLStatement(sql)).map { $0[0].description }
    }

    package func conditions(of table: TableDescription, _ connection: Connection) throws(RelataError) -> [String] {
        let sql = """
            SELECT k.conname::text FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
            WHERE c.relname = $1::text AND c.relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND k.contype IN ('c', 'x')
            ORDER BY k.conname
            """
        return try connection.values(SQLStatement(sql, [.value(.text(table.name))])).map { $0[0].description }
    }
}
#endif
