import Foundation
import RelataCore
import RelataEngine

/// Functions for servers of a store: the typed view of a transaction that they began on the store's pool.
extension Store {
    /// The models, including those found from others.
    package var models: [any Model.Type] { catalog.types }

    /// Refuses a store that a server lends: serving its models would bypass the rights of its caller.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)``.
    package func requireOwn(for what: String) throws(RelataError) {
        if isLent { throw .invalidUse("\(what) needs a store that the program opened, not one that a server lends") }
    }

    /// The typed view of a transaction that a connection of the store's pool is in.
    ///
    /// - Parameter now: The stamp of all that is written.
    package func transaction(on connection: Connection, now: Date) -> WriteTransaction {
        WriteTransaction(connection, catalog, access: access, now: now)
    }
}

extension ReadTransaction {
    /// The object with a key of columns known only at run time.
    package func object<M: Model>(_ model: M.Type, key: KeyValue) throws -> M? {
        try objects(Query<M>().where { _ in Condition(.keyIn(FieldPath().object, [key])) }).first
    }

    /// The object with the values of a row, whether the row exists or not.
    package func object<M: Model>(_ model: M.Type, values: [Value]) throws -> M {
        let columns = zip(values.indices, try catalog.table(model).columns).map {
            connection.dialect.parameter($0 + 1, as: $1.type)
        }.joined(separator: ", ")
        let cursor = try RowCursor(SQLStatement("SELECT \(columns)", values.map(Parameter.value)), on: connection)
        defer { cursor.close() }
        guard let row = try cursor.next() else { throw RelataError.invalidUse("\(M.entityName) has no properties") }
        var reader = RowReader(row)
        return try Self.reading(model) { try M(from: &reader) }
    }

    /// The column values of an object's row.
    package func values<M: Model>(of object: M) throws -> [Value] { try object.columnValues(try catalog.table(M.self)) }
}

extension WriteTransaction {
    /// Has references wait for the end of the transaction to be checked.
    package func deferReferences() throws { try connection.driver.setReferencesWait(true) }

    /// Saves an object whose row the caller writes: first the new objects that it links to, then the row, and then the
    /// edits on its lists.
    ///
    /// - Parameters:
    ///   - key: The object's key, if it is known.
    ///   - isNew: Whether there is no row yet.
    ///   - columns: The columns that get the object's own values. If a to-one among them is the only one that may link
    ///     to its target, and another object already links to it, that object's link is unset.
    ///   - write: Writes the row, with the keys of new objects that it links to, by column. Returns the row's key.
    /// - Returns: The lists that may have too few or too many members and aren't counted yet.
    package func save<M: Model>(
        _ object: M, key: KeyValue?, isNew: Bool, columns: Set<Int>, write: ([Int: Value]) throws -> KeyValue
    ) throws -> CountCheck {
        let session = makeSession()
        let values = try values(of: object)
        return try withoutActuallyEscaping(write) { write in
            defer { session.caller = nil }
            session.caller = RowCaller(isNew: isNew) { given in
                try self.makeWay(for: M.self, key, values, columns, session)
                return try write(given)
            }
            _ = try session.add(object, as: .byCaller)
            try atomically {
                try session.prepare()
                try session.run.write()
                try session.finish([])
            }
            return session.run.counted
        }
    }

    /// Takes the partners of one-to-ones from owners that don't need them.
    private func makeWay<M: Model>(
        for model: M.Type, _ key: KeyValue?, _ values: [Value], _ columns: Set<Int>, _ session: SaveSession
    ) throws {
        let table = try catalog.table(model)
        for reference in catalog.schema.references
        where reference.source == table.index && reference.isUnique && reference.inverse != nil
            && reference.isOptional && reference.removeRule == .nullify
        {
            let own = table.columnIndexes(of: reference.property)
            let target = KeyValue(own.map { values[$0] })
            guard !columns.isDisjoint(with: own), !target.values.contains(.null) else { continue }
            try LinkWriter(run: session.run).free(reference, from: target, except: key.map { [$0] })
        }
    }
}
