import RelataCore
import RelataEngine

/// Stores with a caller.
extension Store {
    /// The store of models on a server's database, for a caller. The tables stay as they are: the caller's standing
    /// tells whether they fit.
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
        return try Store(pool: pool, catalog: catalog, hub: hub, access: .everything, path: path)
            .lent(seesChanges: seesChanges, to: caller)
    }

    /// The store for a caller.
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
        let rights = try standing(of: caller, on: connection).rights
        return ReadTransaction(connection, catalog, access: rights?.read ?? .everything, rights: rights)
    }

    /// The transaction for writing that a connection is in.
    func writing(_ connection: Connection, isOneCall: Bool = false) throws -> WriteTransaction {
        guard let caller else {
            return WriteTransaction(connection, catalog, access: access, isOneCall: isOneCall)
        }
        let standing = try standing(of: caller, on: connection)
        connection.recorder?.follow(standing.reported)
        let rights = standing.rights
        return WriteTransaction(
            connection, catalog, access: rights?.read ?? .everything, rights: rights, isOneCall: isOneCall)
    }

    private func standing(of caller: any StoreCaller, on connection: Connection) throws -> CallerStanding {
        connection.numberStatements(by: catalog.schema)
        return try caller.standing(on: connection)
    }
}

extension Access {
    /// The access under which no object is visible. It limits the feed of a caller's changes, which has no transaction
    /// that tells the rights.
    fileprivate static func nothing(of schema: Schema) throws(RelataError) -> Access {
        var conditions: [String: ExpressionNode] = [:]
        for table in schema.tables { conditions[table.name] = .or([]) }
        return try Access(conditions, in: schema)
    }
}
