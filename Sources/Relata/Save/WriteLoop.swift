public import GRDBSQLite

/// Writes objects of one model with one statement; `Model.write(_:)` runs it.
@frozen
public struct WriteLoop<M: Model> {
    @usableFromInline let objects: [M]
    @usableFromInline let statement: OpaquePointer
    /// The object that is written next: where the loop failed, the culprit.
    @usableFromInline var next = 0
    /// What SQLite answered last.
    @usableFromInline var code = SQLITE_DONE

    init(_ objects: [M], _ statement: OpaquePointer) {
        self.objects = objects
        self.statement = statement
    }

    /// Writes the objects until one fails: by an error of its columns, or with ``code``.
    @inlinable
    mutating func run() throws {
        while next < objects.count {
            if next & 0x3ff == 0x3ff, Task.isCancelled { throw CancellationError() }
            var binder = Binder(statement)
            try objects[next].bind(to: &binder)
            code = sqlite3_step(statement)
            guard code == SQLITE_DONE else { return }
            sqlite3_reset(statement)
            next += 1
        }
    }
}
