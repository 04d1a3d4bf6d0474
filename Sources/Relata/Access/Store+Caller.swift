import RelataCore
import RelataEngine

/// Stores that are used in somebody's name.
extension Store {
    /// Models on the database of a server, in somebody's name. The tables stay as they are: the caller's rights find out
    /// whether they fit.
    ///
    /// - Parameters:
    ///   - pool: The server's connections.
    ///   - seesChanges: Whether ``changes`` names objects.
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the models contradict themselves.
    package static func lent(
        by pool: ConnectionPool, for models: [any Model.Type], path: String?, seesChanges: Bool,
        to caller: (Schema) -> any StoreCaller
    ) throws -> Store {
        let catalog = try ModelCatalog.of(models)
        let hub = pool.changes ?? ChangeHub(ChangeEntities(catalog.schema), keepsLog: false, interval: nil)
        return Store(
            pool: pool, catalog: catalog, hub: hub,
            access: seesChanges ? .everything : try .nothing(of: catalog.schema), path: path,
            caller: caller(catalog.schema), isLent: true)
    }

    /// The store in somebody's name.
    ///
    /// - Parameter seesChanges: Whether ``changes`` names objects.
    package func lent(seesChanges: Bool, to caller: (Schema) -> any StoreCaller) throws -> Store {
        Store(
            pool: pool, catalog: catalog, hub: hub,
            access: seesChanges ? .everything : try .nothing(of: catalog.schema), path: path,
            caller: caller(catalog.schema), isLent: true)
    }

    /// The transaction for reading that a connection is in.
    func reading(_ connection: Connection) throws -> ReadTransaction {
        guard let caller else { return ReadTransaction(connection, catalog, access: access) }
        let rights = try rights(of: caller, on: connection)
        return ReadTransaction(connection, catalog, access: rights?.read ?? .everything, rights: rights)
    }

    /// The transaction for writing that a connection is in.
    func writing(_ connection: Connection, isOneCall: Bool = false) throws -> WriteTransaction {
        guard let caller else {
            return WriteTransaction(connection, catalog, access: access, isOneCall: isOneCall)
        }
        let rights = try rights(of: caller, on: connection)
        if let recorder = connection.recorder {
            recorder.follow(ChangeEntities(try caller.reportedSchema(on: connection)))
        }
        return WriteTransaction(
            connection, catalog, access: rights?.read ?? .everything, rights: rights, isOneCall: isOneCall)
    }

    private func rights(of caller: any StoreCaller, on connection: Connection) throws -> (any CallerRights)? {
        connection.numberStatements(by: catalog.schema)
        return try caller.rights(on: connection)
    }
}

extension Access {
    /// The access before the rights of a caller are known: no objects.
    fileprivate static func nothing(of schema: Schema) throws(RelataError) -> Access {
        var conditions: [String: ExpressionNode] = [:]
        for table in schema.tables { conditions[table.name] = .or([]) }
        return try Access(conditions, in: schema)
    }
}
