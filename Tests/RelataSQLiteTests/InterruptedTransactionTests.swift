import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// SQLite checks every 100,000 steps whether the task was cancelled. That may be in the middle of beginning or ending a
/// transaction, before or after the change of state.
@Suite struct InterruptedTransactionTests {
    /// The number of runs of each statement: enough for SQLite to ask at each of its few steps.
    private let rounds = 210_000

    @Test func failedBeginsLeaveNoTransactionOpen() async throws {
        let rounds = rounds
        let (interrupted, open) = try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let connection = try database()
            var (interrupted, open) = (0, 0)
            for _ in 0..<rounds {
                do {
                    try connection.begin()
                    connection.endReading()
                } catch {
                    interrupted += 1
                }
                if connection.isInTransaction {
                    open += 1
                    try? connection.execute("ROLLBACK")
                }
            }
            return (interrupted, open)
        }.value
        #expect(interrupted > 1 && open == 0)
    }

    @Test func failedCommitsWriteNothing() async throws {
        let rounds = rounds
        let (interrupted, written, stored) = try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let connection = try database("CREATE TABLE t (id INTEGER PRIMARY KEY)")
            var (interrupted, written) = (0, 0)
            for _ in 0..<rounds {
                guard (try? connection.begin()) != nil else { continue }
                // Prepared again each time, so that its own steps are too few for a check.
                try connection.execute("INSERT INTO t DEFAULT VALUES")
                do {
                    try connection.commit()
                    written += 1
                } catch {
                    interrupted += 1
                    try? connection.execute("ROLLBACK")
                }
            }
            return (interrupted, written, try connection.lines("SELECT count(*) FROM t"))
        }.value
        #expect(interrupted > 0)
        #expect(stored == ["\(written)"])
    }

    @Test func failedSavepointsUndoOnlyTheirOwnChanges() async throws {
        let rounds = rounds
        let (interrupted, errors, expected, stored) = try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let connection = try database("CREATE TABLE t (id INTEGER PRIMARY KEY); BEGIN")
            var (interrupted, written) = (0, 0)
            var errors: [String] = []
            for round in 0..<rounds {
                do {
                    try connection.savepoint {
                        let outer = round % 7 == 0
                        // Prepared again each time, so that its own steps are too few for a check.
                        if outer { try connection.execute("INSERT INTO t DEFAULT VALUES") }
                        var inner = false
                        do {
                            try connection.savepoint {
                                if round % 5 == 0 { try connection.execute("INSERT INTO t DEFAULT VALUES") }
                                if round % 3 == 0 { throw Undone() }
                            }
                            inner = round % 5 == 0
                        } catch is Undone {
                        } catch {
                            interrupted += 1
                            if !"\(error)".contains("interrupted") { errors.append("\(error)") }
                        }
                        if round % 2 == 0 { throw Undone() }
                        written += (outer ? 1 : 0) + (inner ? 1 : 0)
                    }
                } catch is Undone {
                } catch {
                    interrupted += 1
                    if !"\(error)".contains("interrupted") { errors.append("\(error)") }
                }
            }
            try connection.execute("COMMIT")
            return (interrupted, errors, written, try connection.lines("SELECT count(*) FROM t"))
        }.value
        #expect(errors.isEmpty && interrupted > 0, "\(errors.count) of \(interrupted): \(errors.prefix(3))")
        #expect(stored == ["\(expected)"])
    }
}

private struct Undone: Error {}
