import RelataEngine

/// The objects of a query, one at a time; ``Store/stream(_:)`` makes it.
public struct ObjectStream<M: Model>: AsyncSequence, Sendable {
    let store: Store
    let query: Query<M>

    /// Begins anew: each iterator sees the state at its own first object.
    public func makeAsyncIterator() -> Iterator { Iterator(state: .waiting(store, query)) }

    /// Reads the objects one after the other. It holds a connection from its first object until its last, an error, or
    /// its own end: a loop gives it back however it is left.
    public struct Iterator: AsyncIteratorProtocol {
        enum State {
            case waiting(Store, Query<M>)
            case running(StreamReader<M>)
            /// What a store in memory had, in reverse.
            case fetched([M])
            case finished
        }

        var state: State

        /// The next object; `nil` after the last one.
        ///
        /// - Throws: What a fetch throws; `CancellationError` if the task was cancelled. After that there is nothing
        ///   more.
        public mutating func next() async throws -> M? {
            do {
                try Task.checkCancellation()
                if Turn.isOver { await Turn.pass() }
                defer { Turn.end() }
                if case .waiting(let store, let query) = state {
                    state =
                        store.pool.isShared
                        ? .fetched(try await store.fetch(query).reversed()) : .running(try StreamReader(query, store))
                }
                if case .running(let reader) = state { try await reader.prepareNext() }
                let object = try step()
                if object == nil { state = .finished }
                return object
            } catch {
                state = .finished
                throw error
            }
        }

        private mutating func step() throws -> M? {
            switch state {
            case .running(let reader): return try reader.next()
            case .fetched(var objects):
                // Not two owners of the array while it gets shorter.
                state = .finished
                let object = objects.popLast()
                state = .fetched(objects)
                return object
            case .waiting, .finished: return nil
            }
        }
    }
}

/// A stream's cursor with the connection it holds. What ends the stream, ends both: first the query.
final class StreamReader<M: Model> {
    private let pool: ConnectionPool
    private let query: Query<M>
    private let transaction: ReadTransaction
    private let snapshot: Snapshot
    /// Made where its statement may block.
    private var cursor: ObjectCursor<M>?
    /// Objects that were read together where each statement waits for a server, the next one last; and what ended them.
    private var part: [M] = []
    private var end: Result<Void, any Error>?

    /// How many objects are read together.
    private static var partSize: Int { 1000 }

    init(_ query: Query<M>, _ store: Store) throws {
        pool = store.pool
        self.query = query
        snapshot = try pool.snapshot()
        transaction = ReadTransaction(snapshot.connection, store.catalog, access: store.access)
    }

    deinit {
        cursor?.close()
        snapshot.end()
    }

    private func open() throws -> ObjectCursor<M> {
        if let cursor { return cursor }
        let cursor = try ObjectCursor(query, in: transaction)
        self.cursor = cursor
        return cursor
    }

    func next() throws -> M? {
        guard readsParts else { return try pool.translatingInterrupts { try open().next() } }
        if let object = part.popLast() { return object }
        try pool.translatingInterrupts { try end?.get() }
        return nil
    }

    private var readsParts: Bool { snapshot.connection.driver.executor != nil }

    /// Has the next object ready where that takes a server, without blocking one of Swift's own threads.
    func prepareNext() async throws {
        guard readsParts, part.isEmpty, end == nil else { return }
        try await pool.read(from: snapshot) {
            part.reserveCapacity(Self.partSize)
            do {
                let cursor = try open()
                while part.count < Self.partSize {
                    guard let object = try cursor.next() else {
                        end = .success(())
                        break
                    }
                    part.append(object)
                }
            } catch {
                // Those before it come first.
                if part.isEmpty { throw error }
                end = .failure(error)
            }
            part.reverse()
        }
    }
}

extension Store {
    /// The objects of a query, one at a time: memory stays constant whatever their number, and all are of one state,
    /// that of the moment when the first is asked for.
    ///
    /// ```swift
    /// for try await book in store.stream(Book.all.sorted { $0.title }) {
    ///     try await printer.print(book)
    /// }
    /// ```
    ///
    /// The query runs on as objects are asked for. A connection is held for it until the loop is left: at the end, by
    /// `break`, by an error, or because the task is cancelled. It doesn't count as one of
    /// ``Options/maximumReaders``, so that a loop may read and write in the same store, and neither writers nor
    /// readers wait for it, however many streams are open. But the file's write-ahead log grows while others write
    /// during a long loop. What the query includes is loaded for a hundred objects at a time.
    ///
    /// A store in memory has one connection, and its stream fetches all objects at once.
    public func stream<M: Model>(_ query: Query<M>) -> ObjectStream<M> { ObjectStream(store: self, query: query) }
}
