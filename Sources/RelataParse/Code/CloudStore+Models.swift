import Relata

extension CloudStore {
    /// The objects of classes as an app's models, with the same rights: objects that the caller doesn't see aren't found,
    /// counted, included or observed, and a write that it isn't allowed is refused, with nothing written.
    ///
    /// ```swift
    /// let cheap = try await call.asCaller.models(Book.self).fetch(Book.where { $0.price < 10 })
    /// ```
    ///
    /// The rights are looked up in each transaction, and an observation follows them, too. An object is seen if its class
    /// allows both `find` and `get`. Hooks of the server aren't called. On a server of models, they are its store's.
    ///
    /// - Parameter models: One or more models; those they link to are found from them. Their tables are those of classes,
    ///   which stay as they are.
    /// - Returns: The store. It is closed with the server. Its calls throw the errors of `Store`, and ``ParseError`` for
    ///   what the caller isn't allowed.
    /// - Throws: `RelataError.schemaMismatch` if the models contradict themselves. If they don't fit the classes, the
    ///   store's calls throw it.
    public func models(_ models: any Model.Type...) throws -> Store {
        let store = service.store
        let seesChanges = caller.isMaster && !store.isLimited
        if let served = store.models?.store {
            return try served.lent(seesChanges: seesChanges) { ModelCaller(caller, of: store, models: $0) }
        }
        return try Store.lent(by: store.pool, for: models, path: store.path, seesChanges: seesChanges) {
            ModelCaller(caller, of: store, models: $0)
        }
    }
}
