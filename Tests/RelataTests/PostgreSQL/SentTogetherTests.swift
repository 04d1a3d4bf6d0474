#if PostgreSQL
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import Synchronization
import TestSupport
import Testing

@Model private struct Port {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Voyage.from) var departures: ToMany<Voyage>
}

@Model private struct Mariner {
    @Attribute(.primaryKey) let name: String
}

@Model private struct Voyage {
    @Attribute(.primaryKey) let number: Int
    var from: ToOne<Port>
    var to: ToOne<Port>
    var captain: ToOne<Mariner>?
    @Relationship(ordered: true) var crew: ToMany<Mariner>
}

/// Relationships of the same objects, whose statements don't wait for each other.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct SentTogetherTests {
    private static func store(
        _ database: PostgresCluster.TestDatabase, options: Store.Options = Store.Options()
    ) async throws -> Store {
        let store = try await Store.open(database.url, for: Voyage.self, options: options)
        try await store.insert(["Kiel", "Oslo", "Riga"].map { Port(name: $0) })
        try await store.insert(["Ann", "Ben", "Cid"].map { Mariner(name: $0) })
        try await store.insert([
            voyage(1, from: "Kiel", to: "Oslo", captain: "Ann", crew: "Cid", "Ben"),
            voyage(2, from: "Oslo", to: "Riga", captain: nil, crew: "Ann"),
        ])
        return store
    }

    private static func voyage(
        _ number: Int, from: String, to: String, captain: String?, crew: String...
    ) -> Voyage {
        var voyage = Voyage(number: number, from: ToOne(id: from), to: ToOne(id: to))
        if let captain { voyage.captain = ToOne(id: captain) }
        for name in crew { voyage.crew.add(id: name) }
        return voyage
    }

    private static let query = Voyage.sorted { $0.number }.including {
        $0.crew
        $0.captain
        $0.from.departures
        $0.to
    }

    private static func expectAll(
        _ voyages: [Voyage], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(voyages.map { $0.captain?.loaded?.name } == ["Ann", nil], sourceLocation: sourceLocation)
        #expect(
            try voyages.map { try $0.crew.objects.map(\.name) } == [["Cid", "Ben"], ["Ann"]],
            sourceLocation: sourceLocation)
        #expect(try voyages.map { try $0.to.object.name } == ["Oslo", "Riga"], sourceLocation: sourceLocation)
        #expect(
            try voyages.map { try $0.from.object.departures.objects.map(\.number) } == [[1], [2]],
            sourceLocation: sourceLocation)
    }

    @Test func theServerHasTheNextStatementBeforeTheResultOfTheFirstIsRead() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let url = database.url
        let isLooking = Atomic(false)
        let seen = Atomic(0)
        var options = Store.Options()
        options.trace = { sql, _ in
            guard isLooking.load(ordering: .relaxed), sql.contains(#""Voyage_crew""#) else { return }
            seen.add(1, ordering: .relaxed)
            // The server shows the last statement that it has begun.
            guard let session = try? Session(PostgresURL(url)) else { return }
            defer { session.close() }
            blockUntil { (try? Self.isReadingPorts(session)) ?? false }
        }
        let store = try await Self.store(database, options: options)
        isLooking.store(true, ordering: .relaxed)
        try Self.expectAll(try await store.fetch(Self.query))
        #expect(seen.load(ordering: .relaxed) == 1)
        try store.close()
    }

    private static func isReadingPorts(_ session: Session) throws -> Bool {
        try session.execute(
            SQLStatement(
                """
                SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
                AND state <> 'idle' AND query LIKE '%"Port"%' AND query NOT LIKE '%"Voyage_crew"%'
                """)
        ).count > 0
    }

    @Test func eachHasOneStatementAlsoInPagesTransactionsAndStreams() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let log = StatementLog()
        let store = try await Self.store(database, options: log.options)
        _ = log.take()
        try Self.expectAll(try await store.fetch(Self.query))
        // The voyages, their four relationships, and the departures.
        #expect(log.take().count == 6)
        try Self.expectAll(try await store.page(Self.query, size: 10).objects)
        #expect(log.take().count == 6)
        let known = try await store.fetch(Voyage.sorted { $0.number })
        _ = log.take()
        try Self.expectAll(
            try await store.load(known) {
                $0.crew
                $0.captain
                $0.from.departures
                $0.to
            })
        #expect(log.take().count == 5)
        try await store.write { transaction in
            try transaction.insert(Mariner(name: "Dot"))
            try Self.expectAll(try transaction.fetch(Self.query))
        }
        var streamed: [Voyage] = []
        for try await voyage in store.stream(Self.query) { streamed.append(voyage) }
        try Self.expectAll(streamed)
        try store.close()
    }

    @Test func afterAFailedStatementTheConnectionIsAsGoodAsNew() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Self.store(database)
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try Self.expectAll(try await store.fetch(Self.query))
        try session.run(#"ALTER TABLE "Mariner" RENAME TO "Seafarer""#)
        await #expect(throws: RelataError.self) { try await store.fetch(Self.query) }
        try session.run(#"ALTER TABLE "Seafarer" RENAME TO "Mariner""#)
        try Self.expectAll(try await store.fetch(Self.query))
        // A value that can't be sent ends the call before anything is sent.
        await #expect(throws: RelataError.self) {
            try await store.fetch(
                Voyage.all.including {
                    $0.captain
                    $0.to.where { $0.name.contains("\u{0}") }
                })
        }
        try Self.expectAll(try await store.fetch(Self.query))
        try store.close()
    }

    @Test func aCancelledTaskDoesNotWaitForThem() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Self.store(database)
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try Self.expectAll(try await store.fetch(Self.query))
        try session.run(#"BEGIN; LOCK TABLE "Mariner" IN ACCESS EXCLUSIVE MODE"#)
        let task = Task { try await store.fetch(Self.query).count }
        try await waitUntil {
            try session.execute(
                SQLStatement(
                    #"SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '"Mariner"'::regclass"#)
            ).count > 0
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try session.run("COMMIT")
        try Self.expectAll(try await store.fetch(Self.query))
        try store.close()
    }

    /// Many keys of many owners: neither side may wait for the other to read.
    @Test func largeListsOfKeysDoNotBlock() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Self.store(database)
        let numbers = 100..<12_100
        try await store.insert(numbers.map { Mariner(name: "mariner \($0)") })
        try await store.insert(
            numbers.map { Self.voyage($0, from: "Kiel", to: "Riga", captain: "mariner \($0)", crew: "Ann") })
        // A condition, so that no table is read whole.
        let voyages = try await store.fetch(
            Voyage.where { $0.number >= 100 }.including {
                $0.crew
                $0.captain
                $0.to
            })
        #expect(voyages.count == numbers.count)
        #expect(try voyages.allSatisfy { try $0.crew.objects.map(\.name) == ["Ann"] })
        #expect(voyages.allSatisfy { $0.captain?.loaded?.name == "mariner \($0.number)" })
        #expect(voyages.allSatisfy { $0.to.loaded?.name == "Riga" })
        try store.close()
    }
}
#endif
