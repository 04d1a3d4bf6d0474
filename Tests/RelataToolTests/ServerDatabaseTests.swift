#if CommandLineTool && PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import Testing

@Model private struct ToldShelf {
    let id: ID<ToldShelf>
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \ToldBook.shelf) var books: ToMany<ToldBook>
}

@Model private struct ToldBook {
    let id: ID<ToldBook>
    var title: String
    var shelf: ToOne<ToldShelf>
}

/// The commands on databases of a server, made by any program.
@Suite(.enabled(if: PrivateCluster.isInstalled, "\(PrivateCluster.missing)"))
struct ServerDatabaseTests {
    private func run(_ sql: String, in database: TestDatabase) throws {
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try session.run(sql)
    }

    private func lines(_ sql: String, in database: TestDatabase) throws -> [String] {
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        return try session.execute(SQLStatement(sql)).values().map { $0.map(\.description).joined(separator: "|") }
    }

    @Test func inspectShowsTablesAndViews() throws {
        let database = try ForeignDatabase.make(on: .shared)
        let run = try Tool.run("inspect", database.url)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.lines.first?.hasSuffix("/\(database.name): 13 entities, 33 objects") == true, "\(run.lines[0])")
        for line in [
            "person · 3 objects", "event (partitioned table) · 4 objects", "people (view) · 3 objects",
            "totals (materialized view) · 2 objects", "Odd Schema.Odd.Table \"x\" · 2 objects",
            "sales.orders · 3 objects",
            "note: car: it inherits from public.vehicle, which is shown without its rows",
        ] {
            #expect(run.lines.contains(line), "\(line)")
        }
        #expect(run.output.contains("feeling: text? (mood)") && run.output.contains("initial: text? (generated)"))
        #expect(run.output.contains("orders") && run.output.contains("many-to-many by sales.orders_tag"))
        let json = try Tool.run("inspect", database.url, "--format", "json").json() as? [String: Any]
        let entities = try #require(json?["entities"] as? [[String: Any]])
        let event = entities.first { $0["name"] as? String == "event" }
        #expect(event?["kind"] as? String == "partitioned table" && event?["table"] as? String == "public.event")
        for format in ["svg", "mermaid", "swift"] {
            #expect(try Tool.run("inspect", database.url, "--format", format).exitCode == 0)
        }
    }

    @Test func keysToUniqueColumnsAreFollowed() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        try run(
            """
            CREATE TABLE codes (id integer PRIMARY KEY, code text UNIQUE, name text);
            CREATE TABLE c (id integer PRIMARY KEY, k text REFERENCES codes (code) ON DELETE CASCADE);
            INSERT INTO codes VALUES (1, 'A', 'P'), (2, 'B', 'Q'); INSERT INTO c VALUES (1, 'A'), (2, 'B'), (3, NULL)
            """, in: database)
        let found = try Tool.run("fetch", database.url, "c", "--where", "k.name == 'P'", "--format", "csv")
        #expect(found.lines.dropFirst().first == "1,A", "\(found.output) \(found.errors)")
        let counted = try Tool.run(
            "fetch", database.url, "codes", "--where", "cs.@count == 1 AND ANY cs.k == 'B'", "--include", "cs",
            "--format", "json")
        let objects = try #require(try counted.json() as? [[String: Any]], "\(counted.errors)")
        #expect(objects.map { $0["id"] as? Int } == [2])
        #expect((objects.first?["cs"] as? [[String: Any]])?.map { $0["id"] as? Int } == [2], "\(counted.output)")
    }

    @Test func failingViewsAreNotCounted() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        try run(
            """
            CREATE TABLE a (id integer PRIMARY KEY); INSERT INTO a VALUES (0);
            CREATE VIEW broken AS SELECT 1 / id AS x FROM a WHERE 1 / id > 0;
            CREATE MATERIALIZED VIEW empty AS SELECT 1 AS x WITH NO DATA;
            CREATE VIEW fine AS SELECT 1 AS x
            """, in: database)
        let run = try Tool.run("inspect", database.url)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.lines.contains("fine (view) · 1 object") && run.lines.contains("broken (view) · not counted"))
        #expect(run.lines.contains { $0.hasPrefix("note: broken: its rows can't be counted: division by zero") })
        #expect(run.lines.contains { $0.hasPrefix("note: empty: its rows can't be counted: ") })
    }

    @Test func fetchFollowsRelationships() throws {
        let database = try ForeignDatabase.make(on: .shared)
        let run = try Tool.run(
            "fetch", database.url, "sales.orders", "--where", "person.name == \"Ada\" AND items.@count > 0",
            "--include",
            "person,tags,items.odd", "--format", "json")
        #expect(run.exitCode == 0, "\(run.errors)")
        let orders = try #require(try run.json() as? [[String: Any]])
        #expect(orders.count == 1 && orders[0]["note"] as? String == "first")
        let person = orders[0]["person"] as? [String: Any]
        let (seen, price) = (person?["seen"] as? String, person?["price"] as? String)
        #expect(seen == "2026-11-21T06:19:00.000000Z" && price == "12.5")
        let items = try #require(orders[0]["items"] as? [[String: Any]])
        #expect(items.compactMap { ($0["odd"] as? [String: Any])?["aKey"] as? String } == ["Hammer", "Saw"])
        let table = try Tool.run("fetch", database.url, "person", "--sort", "-id")
        #expect(table.output.contains("infinity") && table.output.contains("NaN"), "\(table.errors)")
        #expect(table.lines.suffix(2) == ["3 objects", ""])
        let csv = try Tool.run("fetch", database.url, "event", "--format", "csv", "--sort", "day")
        #expect(csv.lines.dropFirst().first == "1,2019-05-01,1", "\(csv.output)")
    }

    @Test func conditionsUseFunctionsMissingFromTheDatabase() throws {
        let database = try ForeignDatabase.make(on: .shared)
        let run = try Tool.run(
            "fetch", database.url, "person", "--where", "name CONTAINS[cd] \"ÁD\"", "--format", "csv")
        #expect(run.exitCode == 0 && run.lines.count == 3, "\(run.errors)")
        #expect(try lines("SELECT count(*) FROM pg_namespace WHERE nspname = 'relata'", in: database) == ["0"])
    }

    @Test func systemTablesAreFetchedByName() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let views = try Tool.run(
            "fetch", database.url, "information_schema.tables", "--where", "table_name == \"pg_class\"", "--format",
            "csv")
        #expect(views.exitCode == 0 && views.lines.count == 3, "\(views.errors)")
        let classes = try Tool.run("fetch", database.url, "pg_catalog.pg_class", "--limit", "2")
        #expect(classes.exitCode == 0 && classes.lines.suffix(2) == ["2 objects", ""], "\(classes.errors)")
        let all = try Tool.run("inspect", database.url + "&options=-csearch_path%3Dpg_catalog,information_schema")
        #expect(all.exitCode == 0 && all.output.contains("pg_stat_activity (view)"), "\(all.errors)")
    }

    @Test func checkFindsDanglingRowsOfUnvalidatedForeignKeys() throws {
        let database = try ForeignDatabase.make(on: .shared)
        let fine = try Tool.run("check", database.url)
        #expect(
            fine.exitCode == 0 && fine.output.contains("no findings in 13 entities"), "\(fine.output)\(fine.errors)")
        try run(
            """
            SET session_replication_role = replica;
            INSERT INTO sales.orders VALUES (99, 77, 'nobody''s'); INSERT INTO sales.item VALUES (10, 9, 'nothing');
            INSERT INTO clerk VALUES (9, 'de', 'Nowhere')
            """, in: database)
        let found = try Tool.run("check", database.url)
        #expect(found.exitCode == 1)
        #expect(
            found.output.contains("sales.orders.person: 1 reference to person leads nowhere (sales.orders 99 → 77)"))
        #expect(found.output.contains("sales.item.odd: 1 reference") && found.output.contains("clerk.country, city"))
        // The statements that fix it can be run as they are.
        let fix = try #require(found.lines.first { $0.contains("DELETE FROM \"sales\".\"orders\"") })
        let statement = try #require(fix.range(of: "DELETE FROM").map { String(fix[$0.lowerBound...]) })
        try run(statement, in: database)
        #expect(try lines("SELECT count(*) FROM sales.orders WHERE id = 99", in: database) == ["0"])
    }

    @Test func danglingReferencesAreRepaired() throws {
        let database = try ForeignDatabase.make(on: .shared)
        try run(
            """
            SET session_replication_role = replica;
            INSERT INTO sales.orders_tag VALUES (77, 'new'), (10, 'gone');
            INSERT INTO sales.orders VALUES (99, 77, 'nobody''s')
            """, in: database)
        let found = try Tool.run("check", database.url, "--repair", "--yes")
        #expect(found.exitCode == 1)
        #expect(found.lines.filter { $0 == "fixed: sales.orders.tags" }.count == 2, "\(found.output)\(found.errors)")
        #expect(found.lines.contains("1 finding is left"))
        #expect(
            try lines("SELECT \"order\", tag FROM sales.orders_tag ORDER BY 1, 2", in: database) == [
                "10|big", "10|new", "12|new",
            ])
        #expect(try lines("SELECT count(*) FROM sales.orders WHERE id = 99", in: database) == ["1"])
    }

    @Test func vacuumUpdatesPlannerStatistics() throws {
        let database = try ForeignDatabase.make(on: .shared)
        let run = try Tool.run("vacuum", database.url)
        #expect(
            run.exitCode == 0 && run.output.hasSuffix("/\(database.name): compacted\n"), "\(run.output)\(run.errors)")
        #expect(try lines("SELECT reltuples::integer FROM pg_class WHERE relname = 'person'", in: database) == ["3"])
    }

    @Test func deleteShowsAPlanAndExecutesIt() throws {
        let database = try ForeignDatabase.make(on: .shared)
        let plan = try Tool.run("delete", database.url, "person", "1", "--dry-run")
        #expect(plan.exitCode == 0, "\(plan.errors)")
        #expect(
            plan.output == """
                person: 1 object (1 "Ada")
                ├─ person.vehicles → vehicle: 1 object (1)
                ├─ person.logLines → log_line: 1 object ((0,1) "one")
                └─ person.orders → sales.orders: 2 objects (10 "first", 11 "second")
                   └─ sales.orders.items → sales.item: 2 objects ((10, 1), (10, 2))
                unset: person.boss of 2 objects (2 "Bob", 3 "Cy")
                unset: event.person of 2 objects ((1, 2019-05-01), (1, 2021-05-01))
                join rows removed: sales.orders.tags, 2 rows

                """, "\(plan.output)")
        #expect(try lines("SELECT count(*) FROM person", in: database) == ["3"])
        let done = try Tool.run("delete", database.url, "person", "1", "--yes")
        #expect(done.exitCode == 0, "\(done.errors)")
        #expect(done.lines.contains { $0.hasPrefix("deleted 7 objects: ") })
        #expect(try lines("SELECT id FROM person ORDER BY 1", in: database) == ["2", "3"])
        #expect(try lines("SELECT count(*) FROM sales.orders", in: database) == ["1"])
        let made = "SELECT count(*) FROM pg_class WHERE relname LIKE 'relata%'"
        #expect(try lines(made, in: database) == ["0"], "nothing is left behind")
        let denied = try Tool.run("delete", database.url, "Odd Schema.Odd.Table \"x\"", "Hammer", "--yes")
        #expect(denied.exitCode == 0, "its item is gone")
        let missing = try Tool.run("delete", database.url, "person", "1", "--yes")
        #expect(missing.exitCode == 1 && missing.errors.contains("has no person with the key 1"))
    }

    @Test(.timeLimit(.minutes(20))) func storesSeeADeletion() async throws {
        let database = try PrivateCluster.shared.makeDatabase()
        var options = Store.Options()
        options.changeLog = true
        options.externalChangeDelay = 30
        let store = try await Store.open(database.url, for: [ToldShelf.self, ToldBook.self], options: options)
        let shelf = try await store.insert(ToldShelf(name: "A"))
        try await store.insert([ToldBook(title: "x", shelf: ToOne(shelf)), ToldBook(title: "y", shelf: ToOne(shelf))])
        var counts = store.observe(countOf: ToldBook.all).makeAsyncIterator()
        #expect(try await counts.next() == 2)
        let position = try await store.endOfChanges()
        let url = database.url
        let key = "\(shelf.id)"
        let done = try await Task.detached { try Tool.run("delete", url, "ToldShelf", key, "--yes") }.value
        #expect(done.exitCode == 0, "\(done.errors)")
        #expect(try await counts.next() == 0)
        let changes = try await polling(forAtLeast: 2, within: .seconds(60)) {
            try await store.changes(after: position, limit: 10).filter { $0.change.kind == .delete }
        }
        #expect(changes.map(\.change.entity).sorted() == ["ToldBook", "ToldShelf"])
        try store.close()
    }

    @Test func errorsNameTheFixAndNoPassword() throws {
        let database = try ForeignDatabase.make(on: .shared)
        let place = try PrivateCluster.shared.place
        let guarded = "postgresql://\(PrivateCluster.guardedRole):"
        let wrong = try Tool.run("inspect", guarded + "wrongsecret@/\(database.name)?host=\(place)")
        #expect(wrong.exitCode == 1 && wrong.hasErrorLine)
        #expect(wrong.errors.contains("password") && !wrong.errors.contains("wrongsecret"), "\(wrong.errors)")
        let missing = try Tool.run("inspect", "postgresql://postgres:topsecret@/nowhere?host=\(place)")
        #expect(missing.exitCode == 1 && missing.errors.contains("\"nowhere\" does not exist"), "\(missing.errors)")
        #expect(!missing.errors.contains("topsecret"))
        let allowed = guarded + "secret@/\(database.name)?host=\(place)"
        let nothing = try Tool.run("inspect", allowed)
        #expect(
            nothing.exitCode == 0 && nothing.output.contains("the role has no privilege to read it"),
            "\(nothing.errors)")
        #expect(!nothing.output.contains("secret@") && nothing.output.contains("\(PrivateCluster.guardedRole)@"))
        let refused = try Tool.run("fetch", allowed, "person")
        #expect(refused.exitCode == 1 && refused.errors.contains("person"), "\(refused.errors)")
        let away = try Tool.run("check", "postgres://postgres@/x?host=/nowhere/at/all")
        #expect(away.exitCode == 1 && away.errors.contains("can't connect"), "\(away.errors)")
        let bad = try Tool.run("fetch", "postgres://user:verysecret@host:port:1/x", "person")
        #expect(bad.exitCode == 1 && !bad.errors.contains("verysecret"), "\(bad.errors)")
    }
}
#endif
