/// A request for a list whose elements have an identity, so that two lists can be compared element by element.
public protocol ObservableListRequest: ObservableRequest where Observed == [Item] {
    /// An element.
    associatedtype Item: Equatable
    /// What an element is known by.
    associatedtype Identity: Hashable

    /// What an element is known by.
    static func identity(of item: Item) -> Identity
}

extension Query: ObservableListRequest {
    /// The object's key.
    public static func identity(of item: Root) -> Root.Key? { item.primaryKey }
}

extension Observation where Request: ObservableListRequest {
    /// How the list changes from value to value: elements inserted, removed, moved and updated, by their identity.
    ///
    /// ```swift
    /// for try await difference in store.observe(Book.sorted { $0.title }).differences {
    ///     for (index, book) in difference.inserted { … }
    /// }
    /// ```
    public var differences: Differences<Request, Request.Item, Request.Identity> {
        Differences(observation: self, identity: { Request.identity(of: $0) })
    }
}

extension Observation {
    /// How the list changes from value to value, elements being the same where they agree in `identity`.
    public func differences<Item: Equatable, Identity: Hashable>(
        by identity: @escaping @Sendable (Item) -> Identity
    ) -> Differences<Request, Item, Identity> where Request.Observed == [Item] {
        Differences(observation: self, identity: identity)
    }
}

/// How an observed list changes from value to value. The first difference is from an empty list.
public struct Differences<Request: ObservableRequest, Item: Equatable, Identity: Hashable>: AsyncSequence, Sendable
where Request.Observed == [Item] {
    /// A difference.
    public typealias Element = ListDifference<Item>
    let observation: Observation<Request>
    let identity: @Sendable (Item) -> Identity

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator {
        Iterator(values: observation.makeAsyncIterator(), identity: identity)
    }

    /// One observer.
    public struct Iterator: AsyncIteratorProtocol {
        var values: Observation<Request>.Iterator
        let identity: @Sendable (Item) -> Identity
        var last: [Item] = []

        init(values: Observation<Request>.Iterator, identity: @escaping @Sendable (Item) -> Identity) {
            self.values = values
            self.identity = identity
        }

        /// The next difference, as soon as there is one.
        public mutating func next() async throws -> ListDifference<Item>? {
            guard let list = try await values.next() else { return nil }
            defer { last = list }
            return ListDifference(from: last, to: list, by: identity, areEqual: ==)
        }
    }
}
