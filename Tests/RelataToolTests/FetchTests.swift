#if CommandLineTool
import Foundation
import Testing

@Suite struct FetchTests {
    private func titles(_ run: ToolRun) throws -> [String] {
        let records = try #require(try run.json() as? [[String: Any]], "\(run.errors)")
        return records.compactMap { $0["title"] as? String }
    }

    @Test func conditionsAndOrderFollowRelationships() throws {
        let file = try SampleFile.library()
        let run = try file.run(
            "fetch", "Book", "--where", "publisher.name == \"Gollancz\" AND authors.@count > 1", "--sort",
            "genre.name,-year", "--format", "json")
        #expect(run.exitCode == 0)
        #expect(try titles(run) == ["Good Omens", "Hard to Be a God"])
        let any = try file.run(
            "fetch", "Book", "--where", "ANY reviews.stars < 4 OR NONE authors.born > 1900", "--sort",
            "-title",
            "--format", "json")
        #expect(try titles(any) == ["The Doors of Perception", "Mort", "Brave New World"])
        let most = try file.run("fetch", "Book", "--sort", "-reviews.@count,title", "--limit", "2", "--format", "json")
        #expect(try titles(most) == ["Mort", "The Dispossessed"])
        let best = try file.run(
            "fetch", "Book", "--where", "reviews.@count > 0", "--sort", "-reviews.@avg.stars,title", "--format", "json")
        let stars = try file.run(
            "fetch", "Book", "--where", "reviews.@count > 0", "--sort", "-reviews.stars.@avg,title", "--format", "json")
        #expect(try !titles(best).isEmpty && titles(best) == titles(stars))
        let wrong = try file.run("fetch", "Book", "--sort", "reviews.@middle.stars")
        #expect(wrong.exitCode != 0 && wrong.errors.contains("there is no aggregate @middle"), "\(wrong.errors)")
    }

    @Test func aNegativeLimitIsNamed() throws {
        let run = try SampleFile.library().run("fetch", "Book", "--limit", "-1")
        #expect(run.exitCode != 0 && run.output.isEmpty)
        #expect(run.errors.contains("--limit -1 is negative: give a number of objects"), "\(run.errors)")
    }

    @Test func databaseNamesAreAcceptedInAnyCase() throws {
        let file = try SampleFile.library()
        for condition in ["genreId == 3", "GENRE == 3", "genre_id == 3", "genre.Name == 'Essays'"] {
            let run = try file.run("fetch", "book", "--where", condition, "--format", "json")
            #expect(try titles(run) == ["The Doors of Perception"], "\(condition)")
        }
    }

    @Test func includedObjectsAreNestedInJSON() throws {
        let run = try SampleFile.library().run(
            "fetch", "Author", "--where", "name BEGINSWITH 'Terry'", "--include",
            "books.genre,books.reviews", "--format", "json")
        let author = try #require((try run.json() as? [[String: Any]])?.first)
        let books = try #require(author["books"] as? [[String: Any]])
        #expect(books.map { $0["title"] as? String } == ["Good Omens", "Mort"])
        #expect((books[0]["genre"] as? [String: Any])?["name"] as? String == "Fantasy")
        #expect((books[1]["reviews"] as? [[String: Any]])?.map { $0["stars"] as? Int } == [5, 3])
        #expect(books[0]["publisher"] as? Int == 3, "what isn't included is known by its key")
        #expect(books[0]["authors"] == nil)
    }

    @Test func allIncludesCount() throws {
        let run = try SampleFile.library().run(
            "fetch", "Book", "--where", "id == 5", "--include", "genre", "--include", "publisher,authors", "--format",
            "json")
        let book = try #require((try run.json() as? [[String: Any]])?.first, "\(run.errors)")
        #expect((book["genre"] as? [String: Any])?["name"] as? String == "Fantasy")
        #expect(book["publisher"] is [String: Any], "\(run.output)")
        #expect((book["authors"] as? [[String: Any]])?.count == 2)
    }

    @Test func tablesShowNamesOfIncludedObjects() throws {
        let run = try SampleFile.library().run(
            "fetch", "Book", "--where", "id IN {5, 9}", "--include",
            "genre,authors,loans.reader")
        #expect(
            run.output == """
                id  title                    year  publisher  genre    authors                          loans
                ──  ───────────────────────  ────  ─────────  ───────  ───────────────────────────────  ────────────────────────
                 5  Good Omens               1990          3  Fantasy  2: Terry Pratchett, Neil Gaiman  1: 2026-10-02 [Mei Chen]
                 9  The Doors of Perception  1954          4  Essays   1: Aldous Huxley                 0

                2 objects

                """)
        let none = try SampleFile.library().run("fetch", "Book", "--where", "year > 3000")
        #expect(none.output == "0 objects\n")
        #expect(none.exitCode == 0)
    }

    @Test func csvQuotesFieldsThatNeedQuotes() throws {
        let file = try SampleFile(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
            INSERT INTO t VALUES (1, 'x, "y"', NULL), (2, 'two' || char(10) || 'lines', ''), (3, '"' || char(769), NULL);
            """)
        let run = try file.run("fetch", "t", "--format", "csv")
        #expect(run.output == "id,a,b\n1,\"x, \"\"y\"\"\",\n2,\"two\nlines\",\"\"\n3,\"\"\"\u{301}\",\n")
    }

    @Test func controlCharactersDoNotReachTheTerminal() throws {
        let file = try SampleFile(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, char(27) || '[2J' || char(10) || 'é漢')"
        )
        let table = try file.run("fetch", "t")
        #expect(table.lines[2] == " 1  ␛[2J␊é漢")
        let json = try file.run("fetch", "t", "--format", "json")
        #expect((try json.json() as? [[String: Any]])?.first?["a"] as? String == "\u{1B}[2J\né漢")
        #expect(!json.output.contains("\u{1B}"))
    }

    @Test func missingObjectsAreShownByKey() throws {
        let file = try SampleFile.library()
        try file.execute("UPDATE Book SET genreId = 77 WHERE id = 6; UPDATE Book SET genreId = NULL WHERE id = 5")
        let run = try file.run("fetch", "Book", "--where", "id IN {5, 6}", "--include", "genre", "--format", "json")
        let books = try #require(try run.json() as? [[String: Any]])
        #expect(books[0]["genre"] is NSNull)
        #expect(books[1]["genre"] as? [String: Int] == ["id": 77])
        let table = try file.run("fetch", "Book", "--where", "id == 6", "--include", "genre")
        #expect(table.output.contains("77 (missing)"))
    }

    @Test func keysOfSeveralColumnsAreFollowed() throws {
        let file = try SampleFile(
            """
            CREATE TABLE Room (house INTEGER, number TEXT, PRIMARY KEY (house, number));
            CREATE TABLE Guest (id INTEGER PRIMARY KEY, name TEXT, roomHouse INTEGER, roomNumber TEXT,
                FOREIGN KEY (roomHouse, roomNumber) REFERENCES Room (house, number));
            INSERT INTO Room VALUES (1, 'a'), (1, 'b'), (2, 'a');
            INSERT INTO Guest VALUES (1, 'Ida', 1, 'b'), (2, 'Mei', 2, 'a'), (3, 'Jo', 1, 'b'), (4, 'No', NULL, NULL);
            """)
        let run = try file.run("fetch", "Room", "--include", "guests.room", "--format", "json")
        let rooms = try #require(try run.json() as? [[String: Any]])
        let guests = rooms.map { ($0["guests"] as? [[String: Any]])?.map { $0["name"] as? String } }
        #expect(guests == [[], ["Ida", "Jo"], ["Mei"]])
        let plain = try file.run("fetch", "Guest", "--where", "room != nil", "--format", "json")
        let room = (try plain.json() as? [[String: Any]])?.first?["room"] as? [Any]
        #expect(room?[0] as? Int == 1 && room?[1] as? String == "b")
    }

    @Test func errorsAreOneLine() throws {
        let file = try SampleFile.library()
        let wrong: [(arguments: [String], message: String)] = [
            (["Bok"], "did you mean Book?"), (["Book", "--where", "titel == 'x'"], "column 1"),
            (["Book", "--where", "title =="], "column"), (["Book", "--sort", "titel"], "did you mean title?"),
            (["Book", "--include", "title"], "Book has no relationship title"),
            (["Book", "--include", "genre.nothing"], "Genre has no property nothing"),
            (["Book", "--where", "title == 'two\nlines"], "column"),
        ]
        for (arguments, message) in wrong {
            let run = try file.run("fetch", arguments)
            #expect(run.exitCode == 1, "\(arguments)")
            #expect(run.hasErrorLine && run.errors.contains(message), "\(arguments): \(run.errors)")
            #expect(run.output.isEmpty)
        }
    }
}
#endif
