import Foundation
import Relata
import Testing

/// Interrupts that come while a transaction begins or ends.
@Suite struct InterruptedTransactionTests {
    /// SQLite checks after a number of steps whether to continue, and so now and then while it begins or ends a
    /// transaction.
    @Test func cancelledTransactionsAreNotLeftOpen() async throws {
        let (file, memory) = (
            try TestStore.make(.sqliteFile, for: Author.self), try TestStore.make(.sqliteMemory, for: Author.self)
        )
        let errors = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return file.errors(of: 70_000) { try $0.read { _ in } }
                + memory.errors(of: 70_000) { try $0.write { _ in } }
        }.value
        #expect(errors.isEmpty, "\(errors.count): \(errors.prefix(3))")
        #expect(try await file.read { try $0.count(Author.all) } == 0)
        #expect(try await memory.count(Author.all) == 0)
    }
}

extension Store {
    /// The errors of a number of calls, except those that say that the task is cancelled.
    fileprivate func errors(of count: Int, _ call: (Store) throws -> Void) -> [String] {
        (0..<count).compactMap { _ in
            do {
                try call(self)
                return nil
            } catch is CancellationError {
                return nil
            } catch {
                return "\(error)"
            }
        }
    }
}
