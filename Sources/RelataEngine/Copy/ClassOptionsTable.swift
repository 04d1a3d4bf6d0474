import RelataCore

/// The table with a server's facts about its classes besides their tables. The server reads and writes it; a copy takes
/// it unchanged.
package enum ClassOptionsTable {
    /// The table's name.
    package static let name = "relata_parse_classes"
    /// The name as statements write it.
    package static let quotedName = "\"\(name)\""
    /// Creates the table, if it doesn't exist.
    package static let creation =
        "CREATE TABLE IF NOT EXISTS \(quotedName) (name TEXT PRIMARY KEY, options TEXT NOT NULL)"

    /// Copies a server's facts about its classes.
    static func copy(from source: Connection, to destination: Connection) throws {
        guard try source.hasTable(name) else { return }
        let rows = try source.values(SQLStatement("SELECT name, options FROM \(quotedName)"))
        let dialect = destination.dialect
        try destination.execute(creation)
        try destination.execute("DELETE FROM \(quotedName)")
        for row in rows {
            try destination.execute(
                SQLStatement(
                    "INSERT INTO \(quotedName) (name, options) VALUES (\(dialect.parameter(1)), \(dialect.parameter(2)))",
                    row.map { .value($0) }))
        }
    }
}
