import RelataCore
import RelataEngine

/// The caller of a store that isn't its owner. Each transaction looks up the caller's rights.
package protocol StoreCaller: Sendable {
    /// The standing of the caller in the transaction that a connection is in.
    ///
    /// - Throws: An error for a caller who doesn't exist any more.
    func standing(on connection: Connection) throws -> CallerStanding
    /// The name by which changes of a model's table are reported.
    func reportedName(of table: Table) -> String
}

/// The standing of a caller in one transaction.
package struct CallerStanding {
    /// The rights of the caller; `nil` for one who may do everything.
    let rights: (any CallerRights)?
    /// The models' entities with the names by which others know them: changes are reported by these.
    let reported: ChangeEntities

    package init(rights: (any CallerRights)?, reported: ChangeEntities) {
        self.rights = rights
        self.reported = reported
    }
}

/// The rights of a caller in one transaction. Its accesses are written for the store's models.
package protocol CallerRights {
    /// The objects that the caller sees.
    var read: Access { get }
    /// The objects that the caller may change.
    var update: Access { get }
    /// The objects that the caller may delete.
    var delete: Access { get }
    /// The objects that the caller may create: a new one must be among them once it is written.
    var create: Access { get }

    /// Refuses an operation that the caller may do with no object of a model.
    ///
    /// - Parameter model: The model's name.
    func check(_ operation: CallerOperation, on model: String) throws
    /// The error for an operation that the caller may do with other objects of a model.
    func refusal(of operation: CallerOperation, on model: String) -> any Error
    /// Whether objects of a model have properties that the caller doesn't see.
    func hidesProperties(of model: String) -> Bool
    /// Whether objects of any model have such properties.
    var hidesProperties: Bool { get }
    /// Gives new objects the values that the caller's objects have by default, such as an access list.
    func complete(_ keys: [KeyValue], of table: Table, on connection: Connection) throws
}

/// An operation that a caller may be refused.
package enum CallerOperation: Sendable {
    case find, count, create, update, delete
}

extension ReadTransaction {
    /// Refuses operations that no condition can limit.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if some objects may be hidden, or the rights of a caller limit the store.
    func requireEverything(for what: String) throws(RelataError) {
        try access.requireEverything(for: what)
        try requireOwner(for: what)
    }

    /// Refuses operations that would bypass the rights of a caller.
    ///
    /// - Parameter mend: The advice in the error.
    /// - Throws: ``RelataError/invalidUse(_:)`` if the rights of a caller limit the store.
    func requireOwner(for what: String, _ mend: String = "use the store itself") throws(RelataError) {
        guard rights != nil else { return }
        throw .invalidUse("\(what) can't be done in a caller's name: \(mend)")
    }
}

extension WriteTransaction {
    /// The objects of a deletion that the caller sees, may delete, and that the deletion may begin with.
    func deletable<M: Model>(_ model: M.Type, _ roots: DeletionRoots) throws -> DeletionRoots {
        guard let rights else { return roots }
        try rights.check(.delete, on: M.entityName)
        let table = try catalog.table(model)
        let keys: [KeyValue]
        switch roots {
        case .keys(let given): keys = given
        case .query(let query):
            keys = try connection.values(query, types: table.keyTypes.map(Optional.some)).map { KeyValue($0) }
        }
        guard rights.delete.guards(table), !keys.isEmpty else { return .keys(keys) }
        let deletable = QueryCompiler(schema: schema, access: rights.delete, dialect: connection.dialect)
        let found = try deletable.keys(of: table.name, among: keys)
        return .keys(try connection.values(found.statement, types: found.columnTypes).map { KeyValue($0) })
    }
}
