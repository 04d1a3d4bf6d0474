import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import RelataTesting
import TestEngines
import Testing

@testable import RelataParse

/// The form of objects in replies.
@Suite(.onEveryEngine) struct ReplyFormTests {
    private let folder: TestDatabases

    init() throws { folder = try TestDatabases() }

    @Test func everyTypeHasItsForm() async throws {
        let server = try TestServer()
        let target = try await server.create("Target", ["x": 1])
        let fields: JSONValue = [
            "string": "a \"quoted\"\ttext\u{1} ü 😀", "number": 1.5, "whole": 3, "big": 1e300, "no": false,
            "date": date("1969-12-31T23:59:59.999Z"), "bytes": ["__type": "Bytes", "base64": "AAEC"],
            "object": ["b": [1, .null], "a": ["c": "d"]], "array": [1, "x", .null, ["k": true]],
            "file": ["__type": "File", "name": "n", "url": "u"], "place": place(1.5, -2),
            "area": ["__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1], [0, 0]]],
            "pointer": pointer("Target", target),
        ]
        let id = try await server.create("Form", fields)
        let object = try await server.get("Form", id)
        for (name, value) in try #require(fields.object) { #expect(object[name] == value, "\(name)") }
        let created = try #require(object["createdAt"]?.string)
        #expect(created.count == 24 && created.hasSuffix("Z"))
        #expect(object["objectId"] == .string(id))
        #expect(object["__type"] == nil && object["className"] == nil && object["ACL"] == nil)
        // Unset fields are left out.
        try await server.send(
            "PUT", "/classes/Form/\(id)", ["string": ["__op": "Delete"], "pointer": ["__op": "Delete"]])
        let rest = try await server.get("Form", id)
        #expect(rest["string"] == nil && rest["pointer"] == nil)
        #expect(try await server.send("GET", "/classes/Form/nobody").code == 101)
        #expect(try await server.send("GET", "/classes/Form/nobody").status == 404)
        #expect(try await server.send("GET", "/classes/Nope/x").status == 404)
        #expect(try await server.send("GET", "/classes/Form/\(id)?where=%7B%7D").code == 102)
    }

    @Test func datesAreWrittenAsISO() {
        for (microseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (-1000, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000_999, "2000-02-29T00:00:00.000Z"), (1_795_215_432_011_000, "2026-11-20T22:57:12.011Z"),
            (DateText.textRange.lowerBound, "0000-01-01T00:00:00.000Z"),
            (DateText.textRange.upperBound, "9999-12-31T23:59:59.999Z"),
            (4_107_542_399_999_999, "2100-02-28T23:59:59.999Z"),
        ] as [(Int64, String)] {
            var writer = JSONWriter()
            writer.write(microseconds: microseconds)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\(text)\"")
        }
    }

    @Test func datesAreWrittenAsTheLibraryWritesThem() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SampleRandom(seed: seed)
        for _ in 0..<2000 {
            let microseconds = Int64.random(in: DateText.textRange, using: &generator)
            let whole = (microseconds - (microseconds % 1000 + 1000) % 1000)
            var writer = JSONWriter()
            writer.write(microseconds: microseconds)
            #expect(
                String(decoding: writer.bytes, as: UTF8.self) == "\"\(DateText.parseText(microseconds: whole))\"",
                "seed \(seed)")
        }
    }

    /// A store on tables that another program created.
    private func foreign(_ options: ParseService.Options = ParseService.Options()) throws -> TestServer {
        let path = try folder.path("foreign.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name NVARCHAR(120));
            CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, "Album Title" TEXT, Price DECIMAL(10,2), Made DATETIME,
                Extra JSON, ArtistId INTEGER REFERENCES Artist(ArtistId));
            CREATE TABLE Line (AlbumId INTEGER REFERENCES Album(AlbumId), Code TEXT, Note TEXT, PRIMARY KEY (AlbumId, Code));
            INSERT INTO Artist VALUES (1, 'Ä'), (2, x'ff41');
            INSERT INTO Album VALUES (10, 'One', '9.90', '2020-01-01 10:00:00', '{"b":1, "a":2}', 1),
                (11, 'Two', 'free', 'never', '{broken', 2), (12, NULL, NULL, NULL, NULL, NULL);
            INSERT INTO Line VALUES (10, 'a,b', 'x'), (10, 'c', 'y'), (11, 'a', 'z');
            CREATE TABLE Mark (Place REAL PRIMARY KEY, Note TEXT, Count INTEGER);
            INSERT INTO Mark VALUES (8.0, 'eight', 9007199254740993), (0.5, 'half', 1), (1e400, 'all', 1);
            """)
        try connection.close()
        return try TestServer(path: path, options: options)
    }

    @Test(.onSQLite) func tablesOfOtherProgramsAreReadAsTheyAre() async throws {
        let server = try foreign()
        let albums = try await server.find("Album", [:], ["order": "objectId", "includeAll": true])
        #expect(albums.map { $0["objectId"] } == ["10", "11", "12"])
        #expect(albums[0].object?.values.contains("One") == true)
        let artist = try #require(albums[0].object?.values.first { $0["__type"] == "Object" })
        #expect(artist["objectId"] == "1" && artist["name"] == "Ä")
        // Bytes that aren't valid text are replaced.
        let other = try #require(albums[1].object?.values.first { $0["__type"] == "Object" })
        #expect(other["name"]?.string?.hasSuffix("A") == true)
        // Unset fields are left out; a relation is always included.
        #expect(albums[2].object?.values.filter { $0["__type"] != "Relation" }.count == 1)
    }

    @Test(.onSQLite) func keysOfNumbersAndOfSeveralPartsAreIDs() async throws {
        let server = try foreign()
        #expect(try await server.values(of: "objectId", "Album", ["objectId": ["$gt": "10"]]) == ["11", "12"])
        #expect(try await server.values(of: "objectId", "Album", ["objectId": "x"]) == [])
        let lines = try await server.values(of: "objectId", "Line")
        #expect(lines == ["10,a%2Cb", "10,c", "11,a"])
        #expect(try await server.values(of: "note", "Line", ["objectId": "10,a%2Cb"]) == ["x"])
        #expect(try await server.values(of: "objectId", "Line", ["objectId": ["$gt": "10,a%2Cb"]]) == ["10,c", "11,a"])
        #expect(
            try await server.values(of: "objectId", "Line", ["objectId": ["$lte": "10,c"]]) == ["10,a%2Cb", "10,c"])
        #expect(try await server.get("Line", "10,c")["note"] == "y")
        #expect(try await server.get("Mark", "8.0")["note"] == "eight")
        #expect(try await server.get("Mark", "0.5")["note"] == "half")
        for id in ["0x1p3", "nan", "inf", "infinity", "1e400"] {
            #expect(try await server.send("GET", "/classes/Mark/\(id)").code == 101, "\(id)")
        }
    }

    @Test(.onSQLite) func onlyNumbersCanBeTheIDsOfNumbers() async throws {
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        let server = try foreign(options)
        for id: JSONValue in ["nan", "-inf", "0x10", ""] {
            let reply = try await server.send("POST", "/classes/Mark", ["objectId": id])
            #expect(reply.code == 105, "\(id) \(reply)")
        }
        #expect(try await server.send("POST", "/classes/Mark", ["objectId": "-15.0"]).status == 201)
        #expect(try await server.get("Mark", "-15.0")["objectId"] == "-15.0")
    }

    @Test(.onSQLite) func thePartsOfAKeyCannotBeChanged() async throws {
        let server = try foreign()
        let line = try #require(try await server.get("Line", "10,c").object)
        let album = try #require(line.first { $0.value["__type"] == "Pointer" }?.key)
        for body: JSONValue in [
            ["code": "d"], [album: pointer("Album", "11")], ["code": .null], ["note": "z", "code": "d"],
        ] {
            let reply = try await server.send("PUT", "/classes/Line/10,c", body)
            #expect(reply.code == 105, "\(body): \(reply.json)")
        }
        #expect(try await server.get("Line", "10,c")["note"] == "y")
        // Clients send back the fields that they received.
        let body: JSONValue = ["code": "c", album: pointer("Album", "10"), "note": "z"]
        let reply = try await server.send("PUT", "/classes/Line/10,c", body)
        #expect(reply.status == 200, "\(reply.json)")
        #expect(try await server.get("Line", "10,c")["note"] == "z")
        #expect(try await server.values(of: "objectId", "Line") == ["10,a%2Cb", "10,c", "11,a"])
    }

    @Test(.onSQLite) func integersAreIncrementedByIntegers() async throws {
        let server = try foreign()
        for amount: JSONValue in [0.5, -0.25, 1e300] {
            for id in ["8.0", "0.5"] {
                let body: JSONValue = ["count": ["__op": "Increment", "amount": amount]]
                let reply = try await server.send("PUT", "/classes/Mark/\(id)", body)
                #expect(reply.code == 111, "\(amount): \(reply.json)")
            }
        }
        let reply = try await server.send("PUT", "/classes/Mark/8.0", ["count": ["__op": "Increment", "amount": 2.0]])
        #expect(reply["count"] == 9_007_199_254_740_995)
    }

    @Test(.onSQLite) func otherSpellingsOfAnIDAreNotFound() async throws {
        let server = try foreign()
        for id in ["010", "+10", "10.0", "-0", "\u{661}\u{660}"] {
            let path = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            #expect(try await server.send("GET", "/classes/Album/\(path)").code == 101, "\(id)")
            #expect(try await server.send("PUT", "/classes/Album/\(path)", ["price": 1]).code == 101, "\(id)")
            #expect(try await server.send("DELETE", "/classes/Album/\(path)").code == 101, "\(id)")
            #expect(try await server.find("Album", ["objectId": .string(id)]).isEmpty, "\(id)")
        }
        #expect(try await server.send("GET", "/classes/Line/010,c").code == 101)
        #expect(try await server.send("GET", "/classes/Album/10").status == 200)
    }

    @Test(.onSQLite) func aColumnWithInvalidJSONIsShownAsTextAndCanBeRepaired() async throws {
        let server = try TestServer()
        let whole = try await server.create("Book", ["tags": ["a"], "info": ["k": 1], "at": place(1, 2)])
        let broken = try await server.create("Book", ["tags": ["b"], "info": ["k": 2], "at": place(3, 4)])
        let texts = [
            "{broken", "", "[1,]", "[1] x", "{\"a\"}", "\"\u{1}\"", "[01]", "nul", "-", "\"\\u12\"",
            String(repeating: "[", count: 100) + String(repeating: "]", count: 100),
        ]
        for text in texts {
            try await server.store.pool.write { connection in
                try connection.execute(
                    SQLStatement(
                        "UPDATE \"Book\" SET tags = ?1, info = ?1, at = ?1 WHERE objectId = ?2",
                        [.value(.text(text)), .value(.text(broken))]))
            }
            let book = try await server.get("Book", broken)
            for field in ["tags", "info", "at"] { #expect(book[field] == .string(text), "\(text)") }
            #expect(try await server.find("Book").count == 2)
            #expect(try await server.get("Book", broken, "include=tags")["tags"] == .string(text))
            let added = try await server.send(
                "PUT", "/classes/Book/\(broken)", ["tags": ["__op": "Add", "objects": ["c"]]])
            #expect(added.status == 500 && added.code == 1, "\(text): \(added.json)")
            #expect(added["error"]?.string?.contains("Book.tags contains text that isn't JSON") == true)
        }
        // Bytes that aren't valid text.
        try await server.store.pool.write { connection in
            try connection.execute("UPDATE \"Book\" SET tags = CAST(x'22ff22' AS TEXT)")
        }
        #expect(try await server.get("Book", whole)["tags"] == "\"\u{FFFD}\"")
        #expect(try await server.send("PUT", "/classes/Book/\(broken)", ["tags": ["c"]]).status == 200)
        #expect(try await server.get("Book", broken)["tags"] == ["c"])
    }

    @Test(.onSQLite) func conditionsOnInvalidJSONAreAnErrorOrFindNothing() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["tags": ["a"], "info": ["k": 1]])
        try await server.store.pool.write { connection in
            try connection.execute("UPDATE \"Book\" SET tags = '{broken', info = '{broken'")
        }
        for condition: JSONValue in [["tags": "a"], ["info.k": 1], ["tags": ["$all": ["a"]]], ["info": ["k": 1]]] {
            let reply = try await server.query("Book", condition)
            #expect(reply.results.isEmpty && (reply.status == 200 || reply.code == 1), "\(condition): \(reply.json)")
        }
        #expect(try await server.find("Book", ["objectId": .string(id)]).count == 1)
    }

    @Test(.onSQLite) func theSharedSampleIsServed() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../shared/data/chinook.sqlite").standardizedFileURL
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        try FileManager.default.copyItem(atPath: file.path, toPath: folder.path("sample.sqlite"))
        let server = try TestServer(path: folder.path("sample.sqlite"))
        for parseClass in try await server.store.read(as: .master, { $0.classes.all.map(\.name) }) {
            let objects = try await server.find(parseClass, [:], ["include": "*", "limit": 50])
            #expect(!objects.isEmpty)
            for object in objects { #expect(object["objectId"]?.string?.isEmpty == false) }
        }
    }

    @Test func parametersWithoutAValueAreIgnored() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A", "n": 1])
        let plain = try await server.find("Book")
        #expect(try await server.find("Book", "limit=&skip=&order=&include=&excludeKeys=") == plain)
        #expect(plain.first?["n"] == 1)
        #expect(try await server.send("GET", "/classes/Book?limit=1&limit=2").code == 102)
        #expect(try await server.send("POST", "/classes/Book", ["_method": 1]).code == 107)
        #expect(try await server.find("Book").count == 1)
    }
}
