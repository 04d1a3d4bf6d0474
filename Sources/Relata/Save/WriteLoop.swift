public import GRDBSQLite

/// Writes objects of one model with one statement; `Model.write(_:)` runs it.
@_documentation(visibility: internal)
@frozen
public struct WriteLoop<M: Model> {
    @usableFromInline let objects: [M]
    @usableFromInline let statement: OpaquePointer
    /// Told of each row before and after it is written, where there is anything to do.
    @usableFromInline let observer: RowObserver?
    /// The connection, where a row that isn't there is an error.
    @usableFromInline let mustChange: OpaquePointer?
    /// The object that is written next: where the loop failed, the culprit.
    @usableFromInline var next = 0
    /// What SQLite answered last.
    @usableFromInline var code = SQLITE_DONE

    init(_ objects: [M], _ statement: OpaquePointer, _ observer: RowObserver?, mustChange: OpaquePointer?) {
        self.mustChange = mustChange
        self.objects = objects
        self.statement = statement
        self.observer = observer
    }

    /// Writes the objects until one fails: by an error of its columns, with ``code``, or because it isn't there.
    @inlinable
    mutating func run() throws {
        while next < objects.count {
            if next & 0x3ff == 0x3ff, Task.isCancelled { throw CancellationError() }
            var binder = Binder(statement)
            try objects[next].bind(to: &binder)
            if let observer { try observer.willWrite(next, statement) }
            code = sqlite3_step(statement)
            guard code == SQLITE_DONE else { return }
            if let mustChange, sqlite3_changes64(mustChange) == 0 { return }
            if let observer { try observer.didWrite(next) }
            sqlite3_reset(statement)
            next += 1
        }
    }
}

/// What a save does with each row besides writing it.
@usableFromInline
protocol RowObserver: AnyObject {
    /// Binds what isn't the object's own: keys that other objects give it, and stamps.
    func willWrite(_ index: Int, _ statement: OpaquePointer) throws
    func didWrite(_ index: Int) throws
}
