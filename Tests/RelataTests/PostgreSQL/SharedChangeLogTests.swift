#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataPostgres
import RelataTesting
import Testing

@Model private struct LoggedFlag {
    @Attribute(.primaryKey) var name: String
    var value: Int = 0
}

/// A numbered change of a flag.
@Model private struct LoggedDeed {
    let id: ID<LoggedDeed>
    var name: String
    var number: Int
}

/// The number of deeds under a name; every writer of deeds changes it.
@Model private struct LoggedTally {
    @Attribute(.primaryKey) var name: String
    var count: Int = 0
}

/// The change log of a server that several stores write at once.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct SharedChangeLogTests {
    private var options: Store.Options {
        var options = Store.Options()
        options.changeLog = true
        options.busyTimeout = 60
        return options
    }

    private func open(_ database: PostgresCluster.TestDatabase) throws -> Store {
        try TestStore.open(database.url, for: [LoggedFlag.self, LoggedDeed.self, LoggedTally.self], options: options)
    }

    /// A transaction that has a number and is still running.
    private func runningTransaction(_ database: PostgresCluster.TestDatabase) throws -> Session {
        let session = try Session(PostgresURL(database.url))
        try session.run("BEGIN; SELECT pg_current_xact_id()")
        return session
    }

    /// Changes one flag: makes it, sets it or deletes it, and returns the number of its deeds.
    private static func act(_ name: String, _ random: inout some RandomNumberGenerator, _ tx: WriteTransaction) throws {
        let tally = try tx.fetch(LoggedTally.self, id: name) ?? tx.insert(LoggedTally(name: name))
        try tx.update(LoggedTally.self, id: name) { $0.count = tally.count + 1 }
        if try tx.fetch(LoggedFlag.self, id: name) == nil {
            try tx.insert(LoggedFlag(name: name))
        } else if Int.random(in: 0..<3, using: &random) == 0 {
            try tx.delete(LoggedFlag.self, id: name)
        } else {
            try tx.update(LoggedFlag.self, id: name) { $0.value += 1 }
        }
        try tx.insert(LoggedDeed(name: name, number: tally.count + 1))
    }

    @Test(.timeLimit(.minutes(20)), arguments: [UInt64.random(in: 0 ... .max)])
    func committedChangesAreDeliveredOnceAndInOrderPerObject(_ seed: UInt64) async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let stores = try (0..<3).map { _ in try open(database) }
        // If two transactions inserted the same object, one would be refused, as in a file.
        try await stores[0].insert((0..<4).map { LoggedTally(name: "flag \($0)") })
        let older = try runningTransaction(database)
        let feed = stores[0].changes
        // A reader that runs along with the writers, and keeps its position as text.
        async let beside = Self.read(try open(database), pageSize: 7)
        try await Self.write(stores, seed)
        try older.run("COMMIT")
        try await Self.write(stores, seed &+ 1000)
        try await stores[0].insert(LoggedFlag(name: Self.last))
        let deeds = try await stores[1].fetch(LoggedDeed.all)
        let first = try await beside
        let again = try await Self.read(stores[2], pageSize: 1000)
        #expect(first.map(\.position) == again.map(\.position), "seed \(seed)")
        #expect(Set(again.map(\.position)).count == again.count, "seed \(seed)")
        try Self.check(again.map(\.change), deeds, "seed \(seed)")
        // The feed reports the same in the same order.
        var told: [Change] = []
        for await set in feed {
            told += set.changes
            if set.position.map({ $0 >= again[again.count - 1].position }) ?? false { break }
        }
        try Self.check(told, deeds, "seed \(seed)")
    }

    /// Has many tasks write at once, through several stores.
    private static func write(_ stores: [Store], _ seed: UInt64) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<9 {
                group.addTask {
                    var random = SampleRandom(seed: seed &+ UInt64(task))
                    for _ in 0..<10 {
                        let count = Int.random(in: 1...2, using: &random)
                        let names = Set((0..<count).map { _ in "flag \(Int.random(in: 0..<4, using: &random))" })
                            .sorted()
                        let start = random
                        try await stores[task % stores.count].write { tx in
                            // The closure may run more than once.
                            var numbers = start
                            for name in names { try Self.act(name, &numbers, tx) }
                        }
                        _ = random.next()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// The flag that is made when nothing more will come.
    private static let last = "last"

    /// Reads the whole log, up to the last flag. The cluster's other databases have transactions, too, for whose end the
    /// log waits.
    private static func read(_ store: Store, pageSize: Int) async throws -> [LoggedChange] {
        var text = ChangePosition.start.description
        var changes: [LoggedChange] = []
        while changes.last?.change.keys != [KeyValue(.text(last))] {
            let position = try #require(ChangePosition(text))
            let page = try await store.changes(after: position, limit: pageSize)
            changes += page
            if let last = page.last { text = last.position.description }
        }
        try store.close()
        return changes
    }

    /// Every change is reported once, and those of each flag in order.
    private static func check(_ changes: [Change], _ deeds: [LoggedDeed], _ comment: String) throws {
        let known = Dictionary(deeds.map { (KeyValue(.uuid($0.id.uuid)), $0) }) { first, _ in first }
        var numbers: [String: [Int]] = [:]
        for change in changes where change.entity == "LoggedDeed" {
            for key in change.keys {
                let deed = try #require(known[key], "a deed that was taken back, \(comment)")
                numbers[deed.name, default: []].append(deed.number)
            }
        }
        #expect(!numbers.isEmpty)
        for (name, found) in numbers {
            #expect(found == Array(1...deeds.count(where: { $0.name == name })), "\(name), \(comment)")
        }
        var alive: Set<KeyValue> = []
        for change in changes where change.entity == "LoggedFlag" {
            for key in change.keys {
                switch change.kind {
                case .insert: #expect(alive.insert(key).inserted, "made twice, \(comment)")
                case .delete: #expect(alive.remove(key) != nil, "deleted before it was made, \(comment)")
                default: #expect(alive.contains(key), "changed while it wasn't there, \(comment)")
                }
            }
        }
    }

    @Test func changesWaitForEarlierNumberedCommits() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try open(database)
        let end = try await store.endOfChanges()
        let older = try runningTransaction(database)
        try await store.insert(LoggedFlag(name: "a"))
        #expect(try await store.changes(after: end).isEmpty)
        try older.run("COMMIT")
        #expect(try await store.changes(after: end, atLeast: 1).map(\.change.kind) == [.insert])
        try store.close()
    }

    @Test func recreatedObjectsFollowTheirDeletion() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let (store, other) = (try open(database), try open(database))
        try await store.insert(LoggedFlag(name: "a"))
        let position = try #require(await store.changes(after: .start, atLeast: 1).first).position
        try await store.write { tx in
            // From here on, the transaction has a number, which is lower than the other's.
            try tx.insert(LoggedFlag(name: "b"))
            try other.delete(LoggedFlag.self, id: "a")
            try tx.insert(LoggedFlag(name: "a"))
        }
        let told = try await store.changes(after: position, atLeast: 3)
        #expect(told.map(\.change.kind) == [.delete, .insert, .insert])
        #expect(told.flatMap(\.change.keys).map(\.values) == [["a"], ["b"], ["a"]])
        try store.close()
        try other.close()
    }

    @Test func positionsOfAnotherDatabaseAreRefusedWithTheReason() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try open(database)
        try await store.insert(LoggedFlag(name: "a"))
        let position = try #require(await store.changes(after: .start, atLeast: 1).first).position
        try store.close()
        // A copy of the database, like a restored dump.
        let session = try Session(PostgresURL(PrivateCluster.shared.url()))
        try session.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(database.name)'")
        let copy = try PrivateCluster.shared.makeDatabase(template: database.name)
        let restored = try open(copy)
        for old in [position, .start] {
            let error = await thrown { try await restored.changes(after: old) }
            #expect("\(error.map(String.init(describing:)) ?? "")".contains("was restarted"), "\(old)")
        }
        let end = try await restored.endOfChanges()
        try await restored.insert(LoggedFlag(name: "b"))
        #expect(try await restored.changes(after: end, atLeast: 1).map(\.change.keys.first) == [KeyValue("b")])
        #expect(await thrown { try await restored.changes(after: 7) }?.kind == "invalidUse")
        let later = ChangePosition("\(end.description.split(separator: "-")[0])-\(Int64.max / 2)-1")
        let error = await thrown { try await restored.changes(after: try #require(later)) }
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("earlier copy"))
        try restored.close()
    }

    @Test func positionsRoundTripAsTextAndJSON() throws {
        let text: String = "3f2a-742-3"
        let onServer: ChangePosition = try #require(ChangePosition(text))
        let positions: [ChangePosition] = [.start, 7, onServer]
        for position in positions {
            #expect(ChangePosition(position.description) == position)
            let data = try JSONEncoder().encode([position])
            #expect(try JSONDecoder().decode([ChangePosition].self, from: data) == [position])
        }
        #expect(try JSONDecoder().decode(ChangePosition.self, from: Data("12".utf8)) == 12)
        for text in ["", "a", "1-2", "0-1-1", "1-2-3-4", "x-1-1", "1--1-1"] { #expect(ChangePosition(text) == nil) }
        let ascending = ["1-5-9", "1-6-1", "1-6-2"].compactMap { ChangePosition($0) }
        #expect(ascending.sorted() == ascending && ascending.count == 3)
    }
}
#endif
