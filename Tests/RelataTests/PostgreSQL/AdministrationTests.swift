#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import Testing

/// The guide's statements about roles and dumps.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct AdministrationTests {
    @Test func anOwnerRoleAndAWriterRoleAreEnough() async throws {
        let cluster = try PrivateCluster.shared
        let database = try cluster.makeDatabase()
        let session = try Session(PostgresURL(database.url))
        let (owner, app) = ("owner_\(database.name)", "app_\(database.name)")
        try session.run(
            """
            CREATE ROLE \(owner) LOGIN; CREATE ROLE \(app) LOGIN;
            REVOKE ALL ON SCHEMA public FROM PUBLIC;
            GRANT CREATE ON DATABASE \(database.name) TO \(owner);
            GRANT CREATE, USAGE ON SCHEMA public TO \(owner);
            GRANT USAGE ON SCHEMA public TO \(app);
            ALTER DEFAULT PRIVILEGES FOR ROLE \(owner) IN SCHEMA public
                GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO \(app)
            """)
        var options = Store.Options()
        options.changeLog = true
        let early = await thrown {
            try await Store.open(cluster.url(database: database.name, user: app), for: Genre.self, options: options)
        }
        #expect(early?.kind == "fileAccess")
        try await Store.open(
            cluster.url(database: database.name, user: owner), for: Genre.self, options: options
        ).close()
        // After a change by hand, the owner needn't open the store again first.
        try session.run("CREATE INDEX by_hand ON \"Genre\" (name)")
        let store = try await Store.open(
            cluster.url(database: database.name, user: app), for: Genre.self, options: options)
        var counts = store.observe(countOf: Genre.all).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        let genre = try await store.save(Genre(name: "Novel"))
        #expect(try await counts.next() == 1)
        try await store.update(genre.id) { $0.name = "NOVEL" }
        #expect(try await store.count(Genre.where { $0.name.contains("novel", .caseInsensitive) }) == 1)
        #expect(try await store.changes(after: .start, atLeast: 2).map(\.change.kind) == [.insert, .update])
        try await store.delete(genre.id)
        try store.close()
        try session.run("DROP OWNED BY \(app), \(owner)")
        try session.run("DROP ROLE \(app), \(owner)")
    }

    @Test func aRestoredDumpIsTheSameStore() async throws {
        let cluster = try PrivateCluster.shared
        let (database, copy) = (try cluster.makeDatabase(), try cluster.makeDatabase())
        let store = try await Store.open(database.url, for: Book.self)
        try await store.save(Book(title: "Matilda", authors: [Author(name: "Dahl")]))
        let path = "\(cluster.place)/\(database.name).sql"
        // While the store is open and in use.
        try cluster.run("pg_dump", ["-h", cluster.place, "-U", "postgres", "-f", path, database.name])
        try store.close()
        try cluster.run(
            "psql",
            [
                "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", cluster.place, "-U", "postgres", "-d", copy.name, "-f", path,
            ])
        #expect(try Store.pendingMigration(copy.url, for: Book.self).isEmpty)
        let restored = try await Store.open(copy.url, for: Book.self)
        let books = Book.where { $0.title.contains("MAT", .caseInsensitive) }.including { $0.authors }
        #expect(try await restored.fetch(books).first?.authors.objects.map(\.name) == ["Dahl"])
        try await restored.save(Author(name: "Blake"))
        #expect(try await restored.check().isEmpty)
        try restored.close()
    }
}
#endif
