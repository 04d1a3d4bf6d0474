#if PostgreSQL
import PostgresCluster
import Relata
import RelataPostgres
import Testing

@Model private struct Pigeonhole {
    var id: Int?
    @Attribute(.unique) var number: Int?
}

/// Tables that are altered manually while a store is open: the server's plans no longer match them.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct AlteredByHandTests {
    private func alter(_ url: String, _ type: String) throws {
        let session = try Session(PostgresURL(url))
        defer { session.close() }
        try session.run("ALTER TABLE \"Genre\" ALTER COLUMN name TYPE \(type)")
    }

    @Test func fetchesAreReplannedAfterAChange() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        var options = Store.Options()
        options.maximumReaders = 1
        let store = try await Store.open(database.url, for: Book.self, options: options)
        let genre = try await store.save(Genre(name: "Fantasy"))
        for type in ["varchar(80)", "text COLLATE \"C\""] {
            #expect(try await store.fetch(Genre.self, id: genre.id)?.name == "Fantasy")
            #expect(try await store.fetch(Genre.all).map(\.name) == ["Fantasy"])
            try alter(database.url, type)
            #expect(try await store.fetch(Genre.self, id: genre.id)?.name == "Fantasy")
            #expect(try await store.fetch(Genre.all).map(\.name) == ["Fantasy"])
        }
        try store.close()
    }

    @Test func deletionsCascadeWithoutForeignKeys() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Series.self)
        let series = try await store.save(Series(title: "Short one"))
        _ = try await store.save((1...3).map { Episode(title: "Episode \($0)", series: ToOne(series)) })
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try session.run(
            """
            DO $$ DECLARE name text := (SELECT conname FROM pg_constraint
                WHERE conrelid = '"Episode"'::regclass AND confrelid = '"Series"'::regclass);
            BEGIN
                EXECUTE 'ALTER TABLE "Episode" DROP CONSTRAINT ' || quote_ident(name)
                    || ', ADD FOREIGN KEY ("seriesId") REFERENCES "Series"';
            END $$
            """)
        let report = try await store.delete(series)
        #expect(report.deletedCount == 4)
        #expect(try await store.count(Episode.all) == 0)
        try store.close()
    }

    /// SQLite goes on after a refused statement; a server needs a savepoint.
    @Test func anExchangeTakesTheValueThatAConditionAllows() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let store = try await Store.open(database.url, for: Pigeonhole.self)
        var holes = try await store.save([Pigeonhole(number: 1), Pigeonhole(number: 2)])
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try session.run(#"ALTER TABLE "Pigeonhole" ADD CHECK ("number" BETWEEN 1 AND 100)"#)
        (holes[0].number, holes[1].number) = (2, 1)
        _ = try await store.save(holes)
        #expect(try await store.fetch(Pigeonhole.sorted { $0.id }).map(\.number) == [2, 1])
        try store.close()
    }

    @Test func streamsDetectChangedColumnTypes() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        var options = Store.Options()
        options.maximumReaders = 1
        let store = try await Store.open(database.url, for: Book.self, options: options)
        try await store.save(Genre(name: "Fantasy"))
        func streamed() async throws -> [String] {
            var names: [String] = []
            for try await genre in store.stream(Genre.all) { names.append(genre.name) }
            return names
        }
        #expect(try await streamed() == ["Fantasy"])
        try alter(database.url, "bytea USING convert_to(name, 'UTF8')")
        await #expect {
            try await streamed()
        } throws: {
            "\($0)".contains("another process has altered the tables")
        }
        try alter(database.url, "text COLLATE \"C\" USING convert_from(name, 'UTF8')")
        #expect(try await streamed() == ["Fantasy"])
        try store.close()
    }

    @Test func writeTransactionsAreRetried() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        var options = Store.Options()
        options.maximumWriters = 1
        let store = try await Store.open(database.url, for: Book.self, options: options)
        let genre = try await store.save(Genre(name: "Fantasy"))
        for type in ["varchar(80)", "text COLLATE \"C\""] {
            for name in ["Novel", "Tale"] {
                if name == "Tale" { try alter(database.url, type) }
                try await store.write { tx in
                    #expect(try tx.fetch(Genre.self, id: genre.id) != nil)
                    try tx.update(genre.id) { $0.name = name }
                }
            }
            #expect(try await store.fetch(Genre.self, id: genre.id)?.name == "Tale")
        }
        try store.close()
    }

    @Test func renamedColumnsAreNamedAndAddedOnesIgnored() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        var options = Store.Options()
        (options.maximumReaders, options.maximumWriters) = (1, 1)
        let store = try await Store.open(database.url, for: Book.self, options: options)
        try await store.save(Genre(name: "Fantasy"))
        #expect(try await store.fetch(Genre.all).map(\.name) == ["Fantasy"])
        let session = try Session(PostgresURL(database.url))
        try session.run("ALTER TABLE \"Genre\" ADD COLUMN extra integer DEFAULT 7")
        #expect(try await store.fetch(Genre.all).map(\.name) == ["Fantasy"])
        try await store.save(Genre(name: "Tale"))
        try session.run("ALTER TABLE \"Genre\" DROP COLUMN extra; ALTER TABLE \"Genre\" RENAME COLUMN name TO title")
        let error = await thrown { try await store.fetch(Genre.all) }
        #expect(error.map { "\($0)" }?.contains("name") == true)
        try session.run("ALTER TABLE \"Genre\" RENAME COLUMN title TO name")
        #expect(try await store.count(Genre.where { $0.name == "Fantasy" }) == 1)
        try store.close()
    }
}
#endif
