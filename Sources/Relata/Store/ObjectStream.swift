import RelataEngine

/// The objects of a query, one at a time; ``Store/stream(_:)`` makes it.
public struct ObjectStream<M: Model>: AsyncSequence, Sendable {
    let store: Store
    let query: Query<M>

    /// Begins a new iteration: each iterator sees the state at its own first object.
    public func makeAsyncIterator() -> Iterator { Iterator(state: .waiting(store, query)) }

    /// Reads the objects one after the other. It holds a connection from its first object until its last, an error, or
    /// its own end: a loop returns it in every case.
    public struct Iterator: AsyncIteratorProtocol {
        enum State {
            case waiting(Store, Query<M>)
            case running(StreamReader<M>)
            /// As the server sends them.
            case receiving(RemoteStream<M>)
            /// The objects of a store in memory, in reverse.
            case fetched([M])
            case finished
        }

        var state: State

        /// The next object; `nil` after the last one.
        ///
        /// - Throws: The errors of a fetch; `CancellationError` if the task was cancelled. After that, it returns
        ///   `nil`.
        public mutating func next() async throws -> M? {
            do {
                try Task.checkCancellation()
                if case .receiving(let stream) = state { return try await receive(stream) }
                if Turn.isOver { await Turn.pass() }
                defer { Turn.end() }
                if case .waiting(let store, let query) = state {
                    if store.pool.isShared {
                        state = .fetched(try await store.fetch(query).reversed())
                    } else if let snapshot = try await store.pool.remoteSnapshot() {
                        let stream = RemoteStream(query, store, snapshot)
                        state = .receiving(stream)
                        return try await receive(stream)
                    } else {
                        state = .running(try StreamReader(query, store))
                    }
                }
                let object = try step()
                if object == nil { state = .finished }
                return object
            } catch {
                state = .finished
                throw error
            }
        }

        private mutating func receive(_ stream: RemoteStream<M>) async throws -> M? {
            let object = try await stream.next()
            if object == nil { state = .finished }
            return object
        }

        private mutating func step() throws -> M? {
            switch state {
            case .running(let reader): return try reader.next()
            case .fetched(var objects):
                // The array must have a single owner while it gets shorter.
                state = .finished
                let object = objects.popLast()
                state = .fetched(objects)
                return object
            case .waiting, .receiving, .finished: return nil
            }
        }
    }
}

/// A stream's cursor with its connection. The end of the stream ends both: first the query.
final class StreamReader<M: Model> {
    private let snapshot: Snapshot
    private let cursor: ObjectCursor<M>

    init(_ query: Query<M>, _ store: Store) throws {
        snapshot = try store.pool.snapshot()
        let transaction = try store.reading(snapshot.connection)
        cursor = try ObjectCursor(query, in: transaction)
    }

    deinit {
        cursor.close()
        snapshot.end()
    }

    func next() throws -> M? { try translatingInterrupts { try cursor.next() } }
}

extension Store {
    /// The objects of a query, one at a time, in constant memory. All are of one state: that when the first is
    /// requested.
    ///
    /// ```swift
    /// for try await book in store.stream(Book.all.sorted { $0.title }) {
    ///     try await printer.print(book)
    /// }
    /// ```
    ///
    /// The query continues as objects are requested. It holds a connection until the loop is left: at the end, by
    /// `break`, by an error, or by cancelling the task. The connection doesn't count as one of
    /// ``DatabaseOptions/maximumReaders``, so a loop may read and write in the same store, and neither writers nor
    /// readers wait for any number of open streams. But the file's write-ahead log grows while others write during a
    /// long loop. Includes are loaded for a hundred objects at a time.
    ///
    /// A store in memory has one connection, and its stream fetches all objects at once.
    public func stream<M: Model>(_ query: Query<M>) -> ObjectStream<M> { ObjectStream(store: self, query: query) }
}
