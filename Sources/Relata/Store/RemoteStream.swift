import RelataEngine

/// Reads the objects of a query from a server, some at a time, on the thread of the connection: the task that asks for
/// them waits without one.
final class RemoteStream<M: Model> {
    private let query: Query<M>
    private let store: Store
    private let snapshot: RemoteSnapshot
    private let reader = Reader()
    /// The unread objects, the next one last.
    private var objects: [M] = []
    private var isOver = false
    private var failure: (any Error)?
    /// The number of rows read at a time: few at first, because many loops end early.
    private var count = 8

    /// The query as it runs. Safe to send: only the snapshot's thread uses it.
    private final class Reader: @unchecked Sendable {
        var cursor: ObjectCursor<M>?
    }

    /// Objects up to the last one, or to an error.
    private struct Part: Sendable {
        var objects: [M] = []
        var isLast = false
        var failure: (any Error)?
    }

    init(_ query: Query<M>, _ store: Store, _ snapshot: RemoteSnapshot) {
        self.query = query
        self.store = store
        self.snapshot = snapshot
    }

    deinit { snapshot.endLater() }

    /// The next object; `nil` after the last one.
    func next() async throws -> M? {
        if objects.isEmpty, !isOver {
            let part = try await read()
            objects = part.objects.reversed()
            failure = part.failure
            isOver = part.isLast || part.failure != nil
            count = min(count * 2, 1024)
        }
        if let object = objects.popLast() { return object }
        if let failure {
            self.failure = nil
            throw failure
        }
        return nil
    }

    private func read() async throws -> Part {
        let (query, store, reader, count) = (query, store, reader, count)
        let part = try await snapshot.perform { connection, atEnd in
            if reader.cursor == nil {
                let transaction = try store.reading(connection)
                reader.cursor = try ObjectCursor(query, in: transaction)
                atEnd {
                    reader.cursor?.close()
                    reader.cursor = nil
                }
            }
            var part = Part()
            // The objects before an error come before the error.
            do {
                while part.objects.count < count {
                    guard let object = try translatingInterrupts({ try reader.cursor?.next() }) else {
                        part.isLast = true
                        break
                    }
                    part.objects.append(object)
                }
            } catch  where !part.objects.isEmpty && !Task.isCancelled {
                part.failure = error
            }
            return part
        }
        if part.isLast || part.failure != nil { await snapshot.end() }
        return part
    }
}
