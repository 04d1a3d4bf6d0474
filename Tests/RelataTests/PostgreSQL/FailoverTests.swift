#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import Synchronization
import TestSupport
import Testing

/// A primary with a replica that takes its place.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)), .serialized)
struct FailoverTests {
    private static let settings = ["synchronous_commit": "on", "wal_level": "replica", "max_wal_senders": "5"]

    /// Acknowledged writes are stored.
    private final class Load: Sendable {
        let acknowledged = Mutex<[String]>([])
        let isOver = Atomic<Bool>(false)

        func wait(for count: Int) async throws {
            let deadline = ContinuousClock.now + .seconds(60)
            while acknowledged.withLock({ $0.count }) < count {
                try #require(.now < deadline, "the writers stand still")
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    /// Makes the primary wait for a replica with each commit.
    private func synchronise(_ cluster: PrivateCluster, with replica: Replica) async throws {
        let session = try Session(PostgresURL(cluster.url()))
        try session.run("ALTER SYSTEM SET synchronous_standby_names = '\(replica.name)'")
        try session.run("SELECT pg_reload_conf()")
        let deadline = ContinuousClock.now + .seconds(30)
        var state = ""
        while state != "sync", .now < deadline {
            let rows = try session.execute(
                SQLStatement("SELECT coalesce(max(sync_state), '') FROM pg_stat_replication"))
            state = try rows[0][0].text()
            if state != "sync" { try await Task.sleep(for: .milliseconds(10)) }
        }
        try #require(state == "sync")
    }

    @Test(.timeLimit(.minutes(20))) func noAcknowledgedTransactionIsLostWhenAReplicaIsPromotedUnderLoad() async throws {
        let cluster = try PrivateCluster(settings: Self.settings)
        let replica = try cluster.makeReplica()
        try await synchronise(cluster, with: replica)
        var options = Store.Options()
        options.busyTimeout = 60
        let url =
            "postgresql://postgres@/postgres?host=\(cluster.place),\(replica.place)&target_session_attrs=read-write"
        let store = try await Store.open(url, for: Genre.self, options: options)
        let load = Load()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var number = 0
                    while !load.isOver.load(ordering: .relaxed) {
                        number += 1
                        let name = "\(writer).\(number)"
                        // Writes whose commit was interrupted may be stored, and aren't checked.
                        guard (try? await store.save(Genre(name: name))) != nil else { continue }
                        load.acknowledged.withLock { $0.append(name) }
                    }
                }
            }
            defer { load.isOver.store(true, ordering: .relaxed) }
            try await load.wait(for: 100)
            try cluster.killServer()
            try replica.promote()
            let before = load.acknowledged.withLock { $0.count }
            try await load.wait(for: before + 100)
            load.isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
        let stored = Set(try await store.fetch(Genre.all).map(\.name))
        let lost = load.acknowledged.withLock { $0.filter { !stored.contains($0) } }
        #expect(lost == [])
        // For each interruption, each writer has at most one write that was committed but not acknowledged.
        #expect(stored.count - load.acknowledged.withLock { $0.count } <= 4)
        #expect(try await store.check().isEmpty)
        let position = try #require(try await store.serverPosition())
        #expect(!position.isReplica && position.logPosition > 0)
        try store.close()
    }

    @Test func aReplicaIsReadAndRefusesToBeWritten() async throws {
        let cluster = try PrivateCluster(settings: Self.settings)
        let store = try await Store.open(cluster.url(), for: Genre.self)
        try await store.save(Genre(name: "one"))
        let replica = try cluster.makeReplica()
        var options = Store.Options()
        options.isReadOnly = true
        let reader = try await Store.open(replica.url(), for: Genre.self, options: options)
        #expect(try await reader.fetch(Genre.all).map(\.name) == ["one"])
        #expect(await thrown { try await reader.save(Genre(name: "two")) }?.kind == "readOnly")
        try await store.save(Genre(name: "three"))
        let written = try #require(try await store.serverPosition())
        #expect(!written.isReplica)
        try await waitUntil { try await reader.count(Genre.all) >= 2 }
        #expect(try await reader.count(Genre.all) == 2)
        let position = try #require(try await reader.serverPosition())
        #expect(position.isReplica && position.logPosition > 0 && position.lag != nil)
        // A store that is opened for writing reports that it can't write.
        let other = try await Store.open(replica.url(), for: Genre.self)
        #expect(await thrown { try await other.save(Genre(name: "four")) }?.kind == "readOnly")
        try other.close()
        try reader.close()
        try store.close()
    }

    @Test(.timeLimit(.minutes(20))) func readsGoToAReplicaAndSeeWhatTheStoreHasWritten() async throws {
        let cluster = try PrivateCluster(settings: Self.settings)
        let replica = try cluster.makeReplica()
        var options = Store.Options()
        options.replicaURL = replica.url()
        options.busyTimeout = 30
        options.changeLog = true
        let store = try await Store.open(cluster.url(), for: Genre.self, options: options)
        for number in 1...20 {
            try await store.save(Genre(name: "\(number)"))
            #expect(try await store.count(Genre.all) == number)
        }
        #expect(try await store.serverPosition()?.isReplica == true)
        let end = try await store.endOfChanges()
        // A write reads its own changes, and another store's write is announced once the replica can read it.
        var counts = store.observe(countOf: Genre.all).makeAsyncIterator()
        #expect(try await counts.next() == 20)
        let other = try await Store.open(cluster.url(), for: Genre.self)
        try await other.save(Genre(name: "other"))
        #expect(try await counts.next() == 21)
        try other.close()
        // The log is read from the primary.
        try await store.save(Genre(name: "logged"))
        #expect(try await store.changes(after: end, atLeast: 1).map(\.change.kind) == [.insert])
        // While the replica is paused, reads wait for it, and writes don't.
        let control = try Session(PostgresURL(replica.url()))
        try control.run("SELECT pg_wal_replay_pause()")
        try await store.save(Genre(name: "late"))
        let read = Task { try await store.fetch(Genre.where { $0.name == "late" }).count }
        try await store.save(Genre(name: "later"))
        try control.run("SELECT pg_wal_replay_resume()")
        #expect(try await read.value == 1)
        options.busyTimeout = 0.2
        options.changeLog = false
        let impatient = try await Store.open(cluster.url(), for: Genre.self, options: options)
        try control.run("SELECT pg_wal_replay_pause()")
        try await impatient.save(Genre(name: "last"))
        let error = await thrown { try await impatient.count(Genre.all) }
        #expect(error?.kind == "busy" && error.map { "\($0)" }?.contains("behind") == true, "\(error as Any)")
        try control.run("SELECT pg_wal_replay_resume()")
        try impatient.close()
        try store.close()
    }
}
#endif
