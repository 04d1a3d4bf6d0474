import RelataCore
import RelataEngine

extension RowWriter {
    /// Inserts objects whose keys the database assigns, several with each statement. If one is refused, they are
    /// inserted one by one, to find the cause.
    func insertSeveral(_ objects: [M], _ observer: BucketWrite<M>) throws {
        // A trigger may insert rows in between, and keys would not follow one another.
        guard connection.driver.capabilities.assignsConsecutiveKeys,
            try connection.driver.triggers(of: table.sqlName, connection).isEmpty
        else {
            return try write(objects, .insert, observer, from: observer.first)
        }
        let count = RowSQL.rowsAtOnce
        var next = 0
        try withStatement(.insertSeveral) { statement in
            var loop = WriteLoop(objects, statement, observer, mustChange: false, rows: count)
            defer {
                if loop.hasRounded { bucket?.hasRounded = true }
                next = loop.next
            }
            while objects.count - loop.next >= count {
                do {
                    observer.rowsAtOnce = count
                    try M.write(&loop)
                    if loop.result != .done { throw connection.error(loop.result, statement) }
                } catch {
                    // Only a reset makes the connection usable again.
                    statement.reset()
                    guard isRefusal(error) else { throw error }
                    try insertOneByOne(objects, loop.next..<loop.next + count, observer)
                    loop.next += count
                }
            }
        }
        try insertOneByOne(objects, next..<objects.count, observer)
    }

    private func insertOneByOne(_ objects: [M], _ range: Range<Int>, _ observer: BucketWrite<M>) throws {
        guard !range.isEmpty, let bucket else { return }
        let first = observer.first + range.lowerBound
        let single = BucketWrite(bucket, self, .insert, first: first)
        try write(Array(objects[range]), .insert, single, from: first)
    }

    /// Whether an error is about a row, and not about the connection or the file.
    private func isRefusal(_ error: any Error) -> Bool {
        if case RelataError.validation = error { return true }
        return ConstraintErrors.isOfConstraint(error)
    }
}
