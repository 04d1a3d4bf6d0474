import RelataCore

/// The committed transactions of a store, one after the other, with their changes.
///
/// The feed begins when it is made. A reader that falls behind by 100,000 objects gets the missed changes as one change
/// set that names the entities only (``Change/Kind/unknown``), so memory is limited and no change is lost silently. The
/// feed ends when the store is closed or the task is cancelled. A reader that must not miss a change even after a
/// restart uses the durable change log (`Options.changeLog` of a store).
///
/// ```swift
/// for await transaction in store.changes {
///     for change in transaction.changes { print(change.entity, change.kind, change.keys) }
/// }
/// ```
public struct ChangeFeed: AsyncSequence, Sendable {
    /// A transaction's changes.
    public typealias Element = ChangeSet
    /// Nothing is thrown.
    public typealias Failure = Never

    private let listener: Listener
    private let access: Access
    private let entities: Set<String>?

    /// Listens to a hub.
    ///
    /// - Parameter entities: The names of the entities whose changes are told; `nil` for all.
    package init(_ hub: ChangeHub, _ access: Access, of entities: Set<String>? = nil) {
        listener = Listener(ChangeBuffer(hub))
        self.access = access
        self.entities = entities
    }

    /// Continues where the feed was last read: it is for one reader at a time.
    public func makeAsyncIterator() -> Iterator {
        Iterator(listener: listener, access: access, entities: entities)
    }

    /// Reads a feed.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let listener: Listener
        fileprivate let access: Access
        fileprivate let entities: Set<String>?

        /// The next transaction's changes, as soon as there are some.
        public mutating func next() async -> ChangeSet? {
            await listener.buffer.next()?.seen(under: access, of: entities)
        }

        /// The unread changes, without waiting for more.
        package mutating func waiting() -> [ChangeSet] {
            listener.buffer.takeAll().map { $0.seen(under: access, of: entities) }
        }
    }

    fileprivate final class Listener: Sendable {
        let buffer: ChangeBuffer

        init(_ buffer: ChangeBuffer) {
            self.buffer = buffer
            buffer.start()
        }

        deinit { buffer.stop() }
    }
}
