#if PostgreSQL
import PostgresCluster
import Relata
import Synchronization
import Testing

@Model private struct Stamp {
    @Attribute(.primaryKey) let number: Int
    @Attribute(.unique) var motif: String
}

/// Transactions of one statement, which are sent whole.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct OneStatementTests {
    private final class Record: Sendable {
        private let statements = Mutex<[String]>([])

        func add(_ sql: String) { statements.withLock { $0.append(sql) } }

        /// The first words of the statements since the last call.
        func take() -> [String] {
            statements.withLock { statements in
                defer { statements = [] }
                return statements.map { String($0.prefix { $0 != " " }) }
            }
        }
    }

    @Test func aChangeOfOneObjectIsCommittedWithItsStatement() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let record = Record()
        var options = Store.Options()
        options.trace = { sql, _ in record.add(sql) }
        let store = try await Store.open(database.url, for: Stamp.self, options: options)
        let other = try await Store.open(database.url, for: Stamp.self)
        _ = record.take()
        try await store.insert(Stamp(number: 1, motif: "swan"))
        #expect(record.take() == ["BEGIN", "INSERT", "COMMIT"])
        #expect(try await other.fetch(Stamp.self, id: 1)?.motif == "swan")
        try await store.update(Stamp(number: 1, motif: "heron"))
        #expect(record.take() == ["BEGIN", "UPDATE", "COMMIT"])
        #expect(try await other.fetch(Stamp.self, id: 1)?.motif == "heron")
        try store.close()
        try other.close()
    }

    @Test func aRefusedChangeLeavesNothingAndTheNextCallWorks() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Stamp.self)
        try await store.insert(Stamp(number: 1, motif: "swan"))
        await #expect {
            try await store.update(Stamp(number: 2, motif: "heron"))
        } throws: { error in
            if case RelataError.notFound = error { true } else { false }
        }
        await #expect {
            try await store.insert(Stamp(number: 1, motif: "heron"))
        } throws: { error in
            if case RelataError.alreadyExists = error { true } else { false }
        }
        await #expect {
            try await store.insert(Stamp(number: 2, motif: "swan"))
        } throws: { error in
            if case RelataError.uniqueViolation = error { true } else { false }
        }
        #expect(try await store.fetch(Stamp.all).map(\.number) == [1])
        try await store.insert(Stamp(number: 2, motif: "heron"))
        #expect(try await store.count(Stamp.all) == 2)
        try store.close()
    }

    @Test func observersOfOtherStoresSeeIt() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Stamp.self)
        let other = try await Store.open(database.url, for: Stamp.self)
        var values = other.observe(Stamp.all).makeAsyncIterator()
        #expect(try await values.next()?.isEmpty == true)
        try await store.insert(Stamp(number: 1, motif: "swan"))
        #expect(try await values.next()?.map(\.motif) == ["swan"])
        try await store.update(Stamp(number: 1, motif: "heron"))
        #expect(try await values.next()?.map(\.motif) == ["heron"])
        try store.close()
        try other.close()
    }
}
#endif
