/// A request for a list whose elements have an identity, so that two lists can be compared element by element.
public protocol ObservableListRequest: ObservableRequest where Observed == [Item] {
    /// An element.
    associatedtype Item: Equatable
    /// The identity of an element.
    associatedtype Identity: Hashable

    /// The identity of an element.
    static func identity(of item: Item) -> Identity
    /// The identity in its stored form, in which texts with equal bytes are equal.
    @_documentation(visibility: internal)
    static func storedIdentity(of item: Item) -> AnyHashable
}

extension ObservableListRequest {
    /// The identity.
    @_documentation(visibility: internal)
    public static func storedIdentity(of item: Item) -> AnyHashable { AnyHashable(identity(of: item)) }
}

extension Query: ObservableListRequest {
    /// The object's key.
    public static func identity(of item: Root) -> Root.Key? { item.primaryKey }
    /// The key in its stored form.
    public static func storedIdentity(of item: Root) -> AnyHashable { AnyHashable(item.ownKey) }
}

extension ObservedValues where Request: ObservableListRequest {
    /// The changes of the list from value to value: elements inserted, removed, moved and updated, by their identity.
    ///
    /// ```swift
    /// for try await difference in store.observe(Book.sorted { $0.title }).differences {
    ///     for (index, book) in difference.inserted { … }
    /// }
    /// ```
    public var differences: Differences<Request, Request.Item, Request.Identity> {
        Differences(
            observation: self, identity: { Request.identity(of: $0) },
            storedIdentity: { Request.storedIdentity(of: $0) })
    }
}

extension ObservedValues {
    /// The changes of the list from value to value, with elements identified by `identity`.
    public func differences<Item: Equatable, Identity: Hashable>(
        by identity: @escaping @Sendable (Item) -> Identity
    ) -> Differences<Request, Item, Identity> where Request.Observed == [Item] {
        Differences(observation: self, identity: identity, storedIdentity: nil)
    }
}

/// The changes of an observed list from value to value. The first difference is from an empty list.
public struct Differences<Request: ObservableRequest, Item: Equatable, Identity: Hashable>: AsyncSequence, Sendable
where Request.Observed == [Item] {
    /// A difference.
    public typealias Element = ListDifference<Item>
    let observation: ObservedValues<Request>
    let identity: @Sendable (Item) -> Identity
    let storedIdentity: (@Sendable (Item) -> AnyHashable)?

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator {
        Iterator(values: observation.makeAsyncIterator(), differences: self)
    }

    /// One observer.
    public struct Iterator: AsyncIteratorProtocol {
        var values: ObservedValues<Request>.Iterator
        let differences: Differences
        var last: [Item] = []

        init(values: ObservedValues<Request>.Iterator, differences: Differences) {
            self.values = values
            self.differences = differences
        }

        /// The next difference, as soon as there is one.
        ///
        /// - Throws: The error that ends the observation: ``RelataError``, or `CancellationError`.
        public mutating func next() async throws -> ListDifference<Item>? {
            guard let list = try await values.next() else { return nil }
            defer { last = list }
            if let identity = differences.storedIdentity {
                return ListDifference(from: last, to: list, by: identity, areEqual: ==)
            }
            return ListDifference(from: last, to: list, by: differences.identity, areEqual: ==)
        }
    }
}
