public import RelataEngine

/// Writes objects of one model with one statement; `Model.write(_:)` runs it.
@_documentation(visibility: internal)
@frozen
public struct WriteLoop<M: Model> {
    @usableFromInline let objects: [M]
    @usableFromInline let statement: RunningStatement
    /// Called before and after each row is written, if needed.
    @usableFromInline let observer: RowObserver?
    /// The number of rows the statement writes at a time.
    @usableFromInline let rows: Int
    /// Whether a missing row is an error.
    @usableFromInline let mustChange: Bool
    /// The next object to write: after a failure, its cause.
    @usableFromInline var next = 0
    /// Whether an object has a value with another stored form.
    @usableFromInline var hasRounded = false
    /// The result of the last step.
    @usableFromInline var result = StepResult.done
    /// The index after the last collected object, if the statement collects rows and is run later; otherwise `nil`.
    @usableFromInline let end: Int?

    /// Collects some of the objects.
    init(collecting range: Range<Int>, of objects: [M], _ rows: RemoteRows, _ observer: RowObserver?) {
        self.init(objects, RunningStatement(rows), observer, mustChange: false, end: range.upperBound)
        next = range.lowerBound
    }

    init(
        _ objects: [M], _ statement: RunningStatement, _ observer: RowObserver?, mustChange: Bool, rows: Int = 1,
        end: Int? = nil
    ) {
        self.end = end
        self.rows = rows
        self.mustChange = mustChange
        self.objects = objects
        self.statement = statement
        self.observer = observer
    }

    /// Writes the objects until one fails: by an error of its columns, in ``result``, or because it doesn't exist.
    @inlinable
    mutating func run() throws {
        if rows > 1 { return try runSeveral() }
        if let end { return try collect(to: end) }
        while next < objects.count {
            if next & 0x3ff == 0x3ff, Task.isCancelled { throw CancellationError() }
            var binder = Binder(statement)
            try objects[next].bind(to: &binder)
            if binder.isRounded { hasRounded = true }
            if let observer { try observer.willWrite(next, statement) }
            result = statement.step()
            guard result == .done else { return }
            if mustChange, statement.changes == 0 { return }
            if let observer { try observer.didWrite(next) }
            statement.reset()
            next += 1
        }
    }

    /// Has the statement collect objects, each with a step.
    @inlinable
    mutating func collect(to end: Int) throws {
        while next < end {
            if next & 0x3ff == 0x3ff, Task.isCancelled { throw CancellationError() }
            var binder = Binder(statement)
            try objects[next].bind(to: &binder)
            if binder.isRounded { hasRounded = true }
            if let observer { try observer.willWrite(next, statement) }
            result = statement.step()
            guard result == .done else { return }
            next += 1
        }
    }

    /// Writes several objects with each step, and leaves a remainder that is smaller than a step.
    @inlinable
    mutating func runSeveral() throws {
        while objects.count - next >= rows {
            if Task.isCancelled { throw CancellationError() }
            var binder = Binder(statement)
            for index in next..<next + rows { try objects[index].bind(to: &binder) }
            if binder.isRounded { hasRounded = true }
            if let observer { for index in next..<next + rows { try observer.willWrite(index, statement) } }
            result = statement.step()
            guard result == .done else { return }
            if let observer { for index in next..<next + rows { try observer.didWrite(index) } }
            statement.reset()
            next += rows
        }
    }
}

/// The work of a save for each row besides writing it.
@usableFromInline
protocol RowObserver: AnyObject {
    /// Binds values that don't come from the object: keys from other objects, and timestamps.
    func willWrite(_ index: Int, _ statement: RunningStatement) throws
    func didWrite(_ index: Int) throws
}
