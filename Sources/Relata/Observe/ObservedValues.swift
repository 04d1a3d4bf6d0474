import RelataEngine

/// The values of a request as the database changes: the current one first, then a new one after each commit that
/// changes it.
///
/// Observation begins with the iteration. Values that equal the previous one are left out; a slow reader gets the
/// latest value and skips those in between. Each value is of one commit. The sequence ends without an error when the
/// store is closed or the task is cancelled, and with one when reading fails.
///
/// ```swift
/// for try await books in store.observe(Book.where { $0.genre == fantasy }) { … }
/// ```
public struct ObservedValues<Request: ObservableRequest>: AsyncSequence, Sendable {
    /// The type of the observed values.
    public typealias Element = Request.Observed
    let store: Store
    let request: Request

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(store: store, request: request) }

    /// One observer.
    public struct Iterator: AsyncIteratorProtocol {
        let store: Store
        let request: Request
        private var subscription: Subscription<Request.Fetched>?

        init(store: Store, request: Request) {
            self.store = store
            self.request = request
        }

        /// The next value, as soon as there is one.
        ///
        /// - Throws: The error that ends the observation: ``RelataError``, or `CancellationError`.
        public mutating func next() async throws -> Request.Observed? {
            guard let fetched = try await nextFetched() else { return nil }
            return try request.observed(fetched)
        }

        mutating func nextFetched() async throws -> Request.Fetched? {
            let subscription = subscription ?? Subscription(to: store.source(of: request))
            self.subscription = subscription
            return try await subscription.next()
        }
    }
}
