import RelataCore

/// Reads what any database holds.
package enum Introspection {
    /// The entities of a database: from the declarations of models, if Relata stored them and they still fit the
    /// tables, otherwise from the tables, their keys and indexes.
    ///
    /// - Parameter followsAllKeys: See ``read(_:followsAllKeys:)``.
    /// - Throws: the engine's error for a database that is damaged, locked or not a database.
    package static func entities(
        of connection: Connection, followsAllKeys: Bool = false
    ) throws(RelataError) -> [Entity] {
        try read(connection, followsAllKeys: followsAllKeys).entities
    }

    /// The entities of a database, and notes about parts that no entity can describe, such as a foreign key to a
    /// missing table.
    ///
    /// - Parameter followsAllKeys: Whether foreign keys that hold no primary key of their target are relationships, too,
    ///   which are only read. For queries: such entities aren't stored.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a database with an unfinished copy; the engine's error for one that
    ///   is damaged, locked or not a database.
    package static func read(
        _ connection: Connection, followsAllKeys: Bool = false
    ) throws(RelataError) -> EntityReader {
        try CopyState.refusePart(in: connection)
        if let foreign = try connection.foreignTables() {
            var reader = try reader(
                of: foreign.tables, leavingOut: foreign.leftOut, followsAllKeys: followsAllKeys, connection)
            reader.notes = foreign.notes + reader.notes
            return reader
        }
        let all = try tables(of: connection, hidesReserved: false)
        let reserved = all.map(\.name).filter { ReservedNames.isInternal($0) && !ReservedNames.isOwn($0) }
        var leftOut = try connection.driver.otherTables(connection)
        for name in reserved { leftOut[name] = "a table with a name that Relata reserves" }
        var reader = try reader(
            of: all.filter { !ReservedNames.isInternal($0.name) }, leavingOut: leftOut,
            followsAllKeys: followsAllKeys, connection)
        // The tables of other programs.
        reader.notes += reserved.map { name in
            SchemaProblem(
                entity: name, message: "names that begin with relata_ are reserved for Relata: the table is left out")
        }
        return reader
    }

    /// The entities of tables, from the declarations of stores if possible.
    private static func reader(
        of tables: [TableDescription], leavingOut leftOut: [String: String], followsAllKeys: Bool,
        _ connection: Connection
    ) throws(RelataError) -> EntityReader {
        let declared = try Metadata.read(connection).entities ?? []
        guard !declared.isEmpty, let schema = try? Schema(declared) else {
            return EntityReader(tables, leavingOut: leftOut, followsAllKeys: followsAllKeys)
        }
        // Another program may have changed the tables since. A lost index or constraint doesn't change the declared
        // entity; a lost table or column removes only itself.
        let (fitting, lost) = schema.entities(fitting: tables)
        var reader = EntityReader(
            tables, declared: fitting, leavingOut: leftOut, followsAllKeys: followsAllKeys)
        reader.notes += lost
        return reader
    }

    /// The tables of a database as they are, without the engine's and Relata's own, views and virtual tables.
    ///
    /// - Parameters:
    ///   - names: The tables to read, if they exist; `nil` for all.
    ///   - hidesReserved: Whether tables of other programs with reserved names are left out.
    package static func tables(
        of connection: Connection, named names: [String]? = nil, hidesReserved: Bool = true
    ) throws(RelataError) -> [TableDescription] {
        try connection.driver.tables(named: names, hidesReserved: hidesReserved, connection)
    }

    /// The index of a table on exactly these columns, or else the shortest one that begins with them, which also
    /// serves. Partial indexes don't.
    package static func index(
        on columns: [String], of table: String, _ connection: Connection
    ) throws(RelataError) -> String? {
        try connection.driver.indexes(of: table, connection).filter { index in
            index.columns.count >= columns.count
                && zip(index.columns, columns).allSatisfy { $0.isSameName(as: $1) }
        }.min { $0.columns.count < $1.columns.count }?.name
    }
}
