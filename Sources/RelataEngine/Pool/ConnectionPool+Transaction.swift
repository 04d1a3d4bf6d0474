import Foundation
import RelataCore

/// The beginning and the end of a transaction, and the waiting writes of others that it includes.
extension ConnectionPool {
    /// A transaction failed in which others took part.
    struct SharingFailed: Error {}

    /// Begins a transaction; while another process writes, the task waits without a thread.
    func begin(_ connection: Connection, until deadline: Date) async throws {
        var pause = 1
        while try !begin(connection, deadline) {
            // The connection isn't used in the meantime, but stays leased: a later writer waits for it. The task may
            // resume on another thread.
            writer.endHold()
            try await Task.sleep(for: .milliseconds(pause))
            writer.beginHold(LeasedConnection(connection: connection))
            pause = min(pause * 2, 50)
        }
    }

    /// Begins a transaction; `false` while another process writes and the deadline isn't reached.
    func begin(_ connection: Connection, _ deadline: Date) throws -> Bool {
        do {
            try translatingInterrupts { try engine.beginWriting(connection) }
            return true
        } catch RelataError.busy(let message) {
            if Date() > deadline { throw RelataError.busy(message) }
            return false
        }
    }

    /// Runs `body` in the open transaction and commits it, or rolls it back.
    func commit<Result>(
        _ connection: Connection, takesOthersAlong: Bool = false, _ body: (Connection) throws -> Result
    ) throws -> Result {
        changes?.begin(connection)
        connection.needsTransaction = true
        connection.earlyCommit = changes?.earlyCommit(of: connection)
        defer { (connection.needsTransaction, connection.earlyCommit) = (false, nil) }
        var others: [Leases.TaskWait] = []
        do {
            let result = try body(connection)
            if connection.driver.hasCommittedEarly {
                changes?.didCommit(connection)
                return result
            }
            if Task.isCancelled { throw CancellationError() }
            if takesOthersAlong { try doWaitingWork(connection, &others) }
            try changes?.willCommit(connection)
            try connection.commit()
            changes?.didCommit(connection)
            for waiting in others { waiting.finish() }
            return result
        } catch {
            changes?.end(connection)
            // Cancelled work is rolled back in any case.
            try? connection.driver.endCancellation()
            // SQLite has rolled back by itself after some errors, such as a full disk.
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            writer.putBack(others)
            if !others.isEmpty && !Task.isCancelled { throw SharingFailed() }
            throw error
        }
    }

    /// Runs waiting writes of others within the open transaction. After a while, the rest is left for the next one.
    private func doWaitingWork(_ connection: Connection, _ done: inout [Leases.TaskWait]) throws {
        // A transaction that can't be committed includes no other writes.
        guard !connection.hasDanglingReferences else { return }
        let end = ContinuousClock.now + sharingTime
        while ContinuousClock.now < end, let (waiting, work) = writer.takeWork() {
            if work.run(on: connection) {
                done.append(waiting)
            } else {
                writer.putBack([waiting])
                guard connection.isInTransaction else { throw SharingFailed() }
                return
            }
        }
    }
}
