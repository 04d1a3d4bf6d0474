import Foundation
import Relata
import Testing

private enum OldReel {
    @Model struct Reel {
        let id: Int
        var title: String
        var text: String
    }
}

private enum NewReel {
    @Model struct Reel {
        let id: Int
        var note: String?
        var title: String
        var text: String
    }
}

/// An app's own SQL: one statement at a time, which never ends the store's own transaction.
@Suite struct OwnSQLTests {
    @Test(arguments: Engine.embedded) func aSecondStatementIsRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self)
        for sql: SQL in [
            #"INSERT INTO "Author" ("id", "name") VALUES ('a', 'b'); DROP TABLE "Author""#,
            #"DELETE FROM "Author"; nonsense"#, "DELETE FROM \"Author\";; -- and\nDELETE FROM \"Author\"",
            "DELETE FROM \"Author\"\u{0}; DROP TABLE \"Author\"", "", " ; ", "-- nothing",
        ] {
            #expect(thrown { try store.execute(sql) }?.kind == "invalidUse", "\(sql)")
            #expect(thrown { try store.rows(sql) }?.kind == "invalidUse", "\(sql)")
            #expect(thrown { try store.fetch(Author.self, sql: sql) }?.kind == "invalidUse", "\(sql)")
        }
        let error = thrown { try store.rows("SELECT 1; SELECT 2") }
        #expect(error?.description.contains("\"SELECT 2\" follows") == true)
        #expect(try store.count(Author.all) == 0)
        for _ in 1...2 {
            #expect(try store.rows("SELECT 1 ; -- a comment\n ; /* and another */ \t;\n") == [[1]])
        }
    }

    @Test(arguments: Engine.allCases) func aTransactionEndsWithItsClosure(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self)
        let statements: [SQL] = [
            "COMMIT", "end transaction", "ROLLBACK", "BEGIN", " commit -- now", "SAVEPOINT s", "RELEASE relata_0",
            "ROLLBACK TO relata_0", "/* */ COMMIT;",
        ]
        for round in 1...2 {
            #expect(throws: Rollback.self) {
                try store.write { tx in
                    try tx.insert(Author(name: "one"))
                    try tx.savepoint { tx in
                        for sql in statements {
                            #expect(thrown { try tx.execute(sql) }?.kind == "invalidUse", "\(sql)")
                            #expect(thrown { try tx.rows(sql) }?.kind == "invalidUse", "\(sql)")
                        }
                        try tx.insert(Author(name: "two"))
                    }
                    #expect(try tx.count(Author.all) == 2)
                    throw Rollback()
                }
            }
            #expect(try store.count(Author.all) == 0, "\(round)")
            for sql in statements {
                #expect(thrown { try store.execute(sql) }?.kind == "invalidUse", "\(sql)")
                #expect(thrown { try store.rows(sql) }?.kind == "invalidUse", "\(sql)")
                #expect(thrown { try store.read { try $0.rows(sql) } }?.kind == "invalidUse", "\(sql)")
            }
            // The store's own transactions continue, and so does one that only reads.
            try store.read { tx throws in
                #expect(thrown { try tx.rows("COMMIT") }?.description.contains("COMMIT") == true)
                #expect(try tx.count(Author.all) == 0)
            }
        }
        try store.write { tx in
            try tx.insert(Author(name: "kept"))
            #expect(throws: Rollback.self) {
                try tx.savepoint { tx in
                    try tx.insert(Author(name: "dropped"))
                    throw Rollback()
                }
            }
        }
        #expect(try store.fetch(Author.all).map(\.name) == ["kept"])
    }

    @Test(arguments: Engine.allCases) func objectsFindTheirColumnsByName(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self)
        try store.insert(Series(id: 1, title: "s"))
        let episode = try store.save(Episode(id: 7, title: "e", position: 3, series: ToOne(id: 1)))
        let whole: SQL = #"SELECT "title", 5 AS "more", "seriesId", "position", "id" FROM "Episode""#
        #expect(try store.fetch(Episode.self, sql: whole) == [episode])
        #expect(try store.fetch(Episode.self, sql: #"SELECT * FROM "Episode""#) == [episode])
        let shouted: SQL = #"SELECT "id" AS "ID", "title" AS "TITLE", "position", "seriesId" FROM "Episode""#
        #expect(try store.fetch(Episode.self, sql: shouted) == [episode])
        #expect(try store.fetch(Episode.self, sql: #"SELECT * FROM "Episode" WHERE "id" = 0"#) == [])
        // The same for a query without rows.
        let part: SQL = #"SELECT "title", "id", "seriesId" FROM "Episode" WHERE "id" = 0"#
        let missing = thrown { try store.fetch(Episode.self, sql: part) }?.description ?? ""
        #expect(missing.contains("no column position: it returns title, id, seriesId, and"))
        let join: SQL = #"SELECT * FROM "Episode" JOIN "Series" ON "Series"."id" = "seriesId""#
        let twice = thrown { try store.fetch(Episode.self, sql: join) }?.description ?? ""
        #expect(twice.contains("the column id twice: it returns id, "))
    }

    @Test(arguments: Engine.shared) func columnsAddedLaterKeepTheirValues(_ engine: Engine) throws {
        let database = TestDatabase(engine)
        let old = try database.open(OldReel.Reel.self)
        try old.insert(OldReel.Reel(id: 1, title: "t", text: "x"))
        let store = try database.open(NewReel.Reel.self)
        try store.update(NewReel.Reel.self, id: 1) { $0.note = "n" }
        let reel = try store.fetch(NewReel.Reel.self, sql: #"SELECT * FROM "Reel""#).first
        #expect(reel?.note == "n" && reel?.title == "t" && reel?.text == "x")
        try old.close()
    }

    @Test(arguments: Engine.allCases) func theCountBelongsToTheStatement(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Author.self, Series.self)
        try store.write { tx in
            try tx.insert([Author(name: "a"), Author(name: "b")])
            #expect(try tx.execute(#"UPDATE "Author" SET "name" = "name" || 'x'"#) == 2)
            #expect(try tx.execute(#"CREATE TABLE "Other" ("id" INTEGER PRIMARY KEY)"#) == 0)
            #expect(try tx.execute(#"SELECT * FROM "Author""#) == 0)
            #expect(try tx.execute(#"INSERT INTO "Other" VALUES (1), (2), (3)"#) == 3)
            #expect(try tx.execute(#"DELETE FROM "Other" WHERE "id" > 9"#) == 0)
            #expect(try tx.execute(#"DROP TABLE "Other""#) == 0)
            // Rows that a delete rule deletes aren't counted.
            try tx.insert(
                Series(
                    title: "s",
                    episodes: ToMany([Episode(title: "1", series: .unset), Episode(title: "2", series: .unset)])))
            #expect(try tx.execute(#"DELETE FROM "Series""#) == 1)
        }
        #expect(try store.execute(#"DELETE FROM "Author""#) == 2)
    }
}
