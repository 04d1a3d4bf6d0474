import RelataCore

/// Reads what any database holds.
package enum Introspection {
    /// The entities of a database: as their models declare them where Relata wrote that down and it still fits the
    /// tables, else from the tables, their keys and indexes.
    ///
    /// - Throws: what the engine says about a database that is damaged, locked or none.
    package static func entities(of connection: Connection) throws(RelataError) -> [Entity] {
        try read(connection).entities
    }

    /// The entities of a database, and notes about what no entity can say, such as a foreign key to a table that
    /// doesn't exist.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a database into which a copy isn't finished; what the engine says about
    ///   one that is damaged, locked or none.
    package static func read(_ connection: Connection) throws(RelataError) -> EntityReader {
        try CopyState.refusePart(in: connection)
        if let foreign = try connection.foreignTables() {
            var reader = try reader(of: foreign.tables, leavingOut: foreign.leftOut, connection)
            reader.notes = foreign.notes + reader.notes
            return reader
        }
        let all = try tables(of: connection, hidesReserved: false)
        let reserved = all.map(\.name).filter { ReservedNames.isInternal($0) && !ReservedNames.isOwn($0) }
        var leftOut = try connection.driver.otherTables(connection)
        for name in reserved { leftOut[name] = "a table with a name of Relata's own" }
        var reader = try reader(
            of: all.filter { !ReservedNames.isInternal($0.name) }, leavingOut: leftOut, connection)
        // Those of other programs.
        reader.notes += reserved.map { name in
            SchemaProblem(
                entity: name, message: "names that begin with relata_ are Relata's own: the table is left out")
        }
        return reader
    }

    /// The entities of tables, as far as stores declare them by what these declare.
    private static func reader(
        of tables: [TableDescription], leavingOut leftOut: [String: String], _ connection: Connection
    ) throws(RelataError) -> EntityReader {
        let declared = try Metadata.read(connection).entities ?? []
        guard !declared.isEmpty, let schema = try? Schema(declared) else {
            return EntityReader(tables, leavingOut: leftOut)
        }
        // Another program may have changed the tables since. A lost index or constraint hides nothing of what was
        // declared; a lost table or column hides that alone.
        let (fitting, lost) = schema.entities(fitting: tables)
        var reader = EntityReader(tables, declared: fitting, leavingOut: leftOut)
        reader.notes += lost
        return reader
    }

    /// The tables of a database as they are, without the engine's and Relata's own, views and virtual tables.
    ///
    /// - Parameters:
    ///   - names: The tables of these names, as far as they are there; no other is looked at. `nil` for all.
    ///   - hidesReserved: Whether other programs' tables are left out, too, whose names are reserved.
    package static func tables(
        of connection: Connection, named names: [String]? = nil, hidesReserved: Bool = true
    ) throws(RelataError) -> [TableDescription] {
        try connection.driver.tables(named: names, hidesReserved: hidesReserved, connection)
    }

    /// The index of a table on just these columns, or else the shortest one that begins with them: whatever they are asked
    /// for, it serves. Indexes of a part of the rows don't.
    package static func index(
        on columns: [String], of table: String, _ connection: Connection
    ) throws(RelataError) -> String? {
        try connection.driver.indexes(of: table, connection).filter { index in
            index.columns.count >= columns.count
                && zip(index.columns, columns).allSatisfy { $0.isSameName(as: $1) }
        }.min { $0.columns.count < $1.columns.count }?.name
    }
}
