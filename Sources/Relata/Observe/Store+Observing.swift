// Values that follow the database.

import RelataCore
import RelataEngine

extension Store {
    /// Observes a query, a selection or any other request: its value now, and after each commit that changes it.
    ///
    /// ```swift
    /// for try await books in store.observe(Book.where { $0.genre == fantasy }.including { $0.authors }) { … }
    /// ```
    ///
    /// It is read again only after a transaction that wrote to a table it depends on (and, if only columns were
    /// updated, to one of the columns that it reads). Its dependencies are the reads of its statements. Triggers,
    /// cascades and edits on links count like any other write. Writes of other processes are noticed after at most
    /// ``DatabaseOptions/externalChangeDelay``, in any table.
    public func observe<Request: ObservableRequest>(_ request: Request) -> ObservedValues<Request> {
        ObservedValues(store: self, request: request)
    }

    /// Observes the object with that key; `nil` while it doesn't exist. Changes of other objects cost nothing.
    ///
    /// A key that isn't assigned yet is an error of the first value, as with ``fetch(_:id:)->M?``.
    public func observe<M: Model>(_ model: M.Type, id: M.Key?) -> ObservedValues<ReadRequest<M?>> {
        let object = id.flatMap { try? M.keyValue($0) }.map { ObjectReference(entity: M.entityName, key: $0) }
        return observe(
            ReadRequest(observedIdentity: object.map { ObservedIdentity($0) }, observedObject: object) {
                try $0.fetch(model, id: id)
            })
    }

    /// Observes the object with that `ID`; `nil` while it doesn't exist.
    public func observe<Key: AnyModelID>(_ id: Key) -> ObservedValues<ReadRequest<Key.Target?>> {
        observe(Key.Target.self, id: id)
    }

    /// Observes the number of a query's objects.
    public func observe<M: Model>(countOf query: Query<M>) -> ObservedValues<ReadRequest<Int>> {
        observe(ReadRequest(observedIdentity: query.observedIdentity) { try $0.count(query) })
    }

    /// Observes the first object of a query; `nil` while there is none.
    public func observe<M: Model>(firstOf query: Query<M>) -> ObservedValues<ReadRequest<M?>> {
        observe(ReadRequest(observedIdentity: query.observedIdentity) { try $0.first(query) })
    }

    /// Observes one aggregate of all objects of a query.
    ///
    /// ```swift
    /// for try await average in store.observe(valueOf: Book.all, { $0.price.average() }) { … }
    /// ```
    public func observe<M: Model, Figure: QueryExpression>(
        valueOf query: Query<M>, _ figure: @escaping @Sendable (M.Fields) -> Figure
    ) -> ObservedValues<ReadRequest<Figure.QueryValue>> where Figure.QueryValue: Equatable & Sendable {
        observe(ReadRequest { try $0.value(of: query, figure) })
    }

    /// Observes any value that is read in a transaction. Its dependencies are derived while it reads, so it must depend
    /// on the database alone.
    ///
    /// ```swift
    /// let counts = store.observe { tx in [try tx.count(Book.all), try tx.count(Author.all)] }
    /// ```
    public func observe<Value: Equatable & Sendable>(
        reading read: @escaping @Sendable (ReadTransaction) throws -> Value
    ) -> ObservedValues<ReadRequest<Value>> {
        observe(ReadRequest(read: read))
    }

    // MARK: Callbacks

    /// Observes for code without `async`: calls `onChange` with the value now, and after each commit that changes it.
    ///
    /// Calls come one after the other, on any thread. `onError` is called at most once, and is the last call.
    ///
    /// - Returns: An object that stops the calls when it is released.
    public func observe<Request: ObservableRequest>(
        _ request: Request, onError: @escaping @Sendable (any Error) -> Void = { _ in },
        onChange: @escaping @Sendable (Request.Observed) -> Void
    ) -> Cancellable {
        Cancellable(following: observe(request), onError: onError, onChange: onChange)
    }

    // MARK: Inside

    /// The source of a request's values.
    func source<Request: ObservableRequest>(of request: Request) -> ObservedSource<Request.Fetched> {
        ObservedSource(
            hub: hub, registry: observations, type: ObjectIdentifier(Request.self), identity: request.observedIdentity,
            // The rights of a caller depend on other objects.
            object: caller == nil ? request.observedObject : nil
        ) {
            try await self.pool.observing { connection in
                try self.snapshot(connection) { try request.fetchObserved($0) }
            }
        }
    }
}
