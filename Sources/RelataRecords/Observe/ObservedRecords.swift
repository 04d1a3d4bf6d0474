public import RelataEngine

/// A value of a ``RecordStore`` as the database changes: the current one first, then a new one after each commit that
/// changes it.
///
/// Observation begins with the iteration. Values that equal the previous one are left out; a slow reader gets the
/// latest value and skips those in between. Each value is of one commit. The sequence ends without an error when the
/// store is closed or the task is cancelled, and with one when reading fails.
///
/// ```swift
/// for try await albums in store.observe(RecordQuery("Album", sort: "title")) { … }
/// ```
public struct ObservedRecords<Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// A value.
    public typealias Element = Value
    let source: ObservedSource<Value>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// One observer.
    public struct Iterator: AsyncIteratorProtocol {
        let source: ObservedSource<Value>
        private var subscription: Subscription<Value>?

        init(source: ObservedSource<Value>) { self.source = source }

        /// The next value, as soon as there is one.
        ///
        /// - Throws: The error that ends the observation: ``RelataError``, or `CancellationError`.
        public mutating func next() async throws -> Value? {
            let subscription = subscription ?? Subscription(to: source)
            self.subscription = subscription
            return try await subscription.next()
        }
    }
}

extension ObservedRecords where Value == [Record] {
    /// The changes of the list from value to value: objects inserted, removed, moved and updated, by their keys. The
    /// first difference is from an empty list.
    public var differences: RecordDifferences { RecordDifferences(values: self) }
}

/// The changes of an observed list of objects from value to value.
public struct RecordDifferences: AsyncSequence, Sendable {
    /// A difference.
    public typealias Element = ListDifference<Record>
    let values: ObservedRecords<[Record]>

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(values: values.makeAsyncIterator()) }

    /// One observer.
    public struct Iterator: AsyncIteratorProtocol {
        private var values: ObservedRecords<[Record]>.Iterator
        private var last: [Record] = []

        init(values: ObservedRecords<[Record]>.Iterator) { self.values = values }

        /// The next difference, as soon as there is one.
        ///
        /// - Throws: The error that ends the observation: ``RelataError``, or `CancellationError`.
        public mutating func next() async throws -> ListDifference<Record>? {
            guard let list = try await values.next() else { return nil }
            defer { last = list }
            return ListDifference(from: last, to: list, by: { $0.reference }, areEqual: ==)
        }
    }
}
