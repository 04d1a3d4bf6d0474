import RelataCore

/// The tables of a server whose rows can be copied, exported and imported: those of stores, and others like them.
package enum MovableTables {
    /// Refuses entities whose tables can't be moved, before anything is read or written.
    ///
    /// - Parameter entities: Their numbers in ``Schema/tables``.
    /// - Throws: ``RelataError/invalidUse(_:)``, with the table, the column and the fix.
    package static func check(
        _ entities: some Sequence<Int>, of schema: Schema, in connection: Connection
    ) throws(RelataError) {
        // A file's tables have rowids, and its values their own types.
        guard connection.dialect == .postgres else { return }
        let tables = entities.map { schema.tables[$0] }
        let described = Dictionary(
            try Introspection.tables(of: connection, named: tables.map(\.sqlName)).map { ($0.name, $0) }
        ) { first, _ in first }
        for table in tables {
            if let obstacle = described[table.sqlName].flatMap(table.obstacleToMoving) { throw .invalidUse(obstacle) }
        }
    }
}
