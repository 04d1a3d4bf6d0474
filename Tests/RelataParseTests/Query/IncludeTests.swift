import Testing

@testable import RelataParse

/// The fields in a reply, and the included objects.
@Suite(.onEveryEngine) struct IncludeTests {
    let server: TestServer
    let log: SQLStatements
    let country: String
    let authors: [String]
    let book: String

    init() async throws {
        log = SQLStatements()
        server = try TestServer(trace: log)
        country = try await server.create("Country", ["name": "us"])
        authors = try await server.save(
            "Author", ["name": "le", "age": 88, "country": pointer("Country", country)], ["name": "mi"])
        let lines: JSONValue = [
            pointer("Author", authors[0]), 5, pointer("Author", "nobody"), pointer("Nope", "x"),
            pointer("Author", authors[1]),
            pointer("Author", authors[0]),
        ]
        book = try await server.create(
            "Book",
            [
                "title": "t", "author": pointer("Author", authors[0]), "editor": pointer("Author", authors[1]),
                "people": lines, "info": ["by": pointer("Author", authors[0])],
                "fans": adding(pointer("Author", authors[0])),
            ])
    }

    private func get(_ parameters: String) async throws -> JSONValue { try await server.get("Book", book, parameters) }

    @Test func pointersBecomeTheirObjects() async throws {
        let plain = try await get("")
        #expect(plain["author"] == pointer("Author", authors[0]))
        #expect(plain["fans"] == ["__type": "Relation", "className": "Author"])
        let object = try await get("include=author")
        #expect(object["author"]?["__type"] == "Object")
        #expect(object["author"]?["className"] == "Author")
        #expect(object["author"]?["objectId"] == .string(authors[0]))
        #expect(object["author"]?["age"] == 88)
        #expect(object["author"]?["createdAt"]?.string?.hasSuffix("Z") == true)
        #expect(object["author"]?["country"] == pointer("Country", country))
        #expect(object["editor"] == pointer("Author", authors[1]))
        #expect(try await get("include=author.country")["author"]?["country"]?["name"] == "us")
        #expect(try await get("include=%5B%22editor%22%2C%22author.country%22%5D")["editor"]?["name"] == "mi")
    }

    @Test func allPointersCanBeIncludedAtOnce() async throws {
        for parameters in ["include=*", "includeAll=true"] {
            let object = try await get(parameters)
            #expect(object["author"]?["name"] == "le")
            #expect(object["editor"]?["name"] == "mi")
            #expect(object["author"]?["country"] == pointer("Country", country))
        }
        #expect(try await get("include=author.*")["author"]?["country"]?["name"] == "us")
    }

    @Test func unknownNamesAreIgnored() async throws {
        #expect(try await get("include=nope,title,fans,author.nope,nope.deeper") == get("include=author"))
    }

    @Test func pointersInArraysAndObjectsBecomeTheirObjects() async throws {
        let people = try await get("include=people.country,info.by")
        let elements = try #require(people["people"]?.array)
        // Elements whose objects don't exist are left out.
        #expect(elements.count == 4)
        #expect(elements[0]["country"]?["name"] == "us")
        #expect(elements[1] == 5)
        #expect(elements[2]["name"] == "mi")
        #expect(elements[3] == elements[0])
        #expect(try await get("")["people"]?.array?.count == 6)
        #expect(people["info"]?["by"]?["name"] == "le")
    }

    @Test func deletedObjectsAreLeftOutOfArrays() async throws {
        func people(_ elements: JSONValue...) async throws -> JSONValue? {
            let team = try await server.create(
                "Team", ["people": .array(elements), "info": ["list": .array(elements)]])
            let object = try await server.get("Team", team, "include=people,info.list")
            #expect(object["info"]?["list"] == object["people"])
            return object["people"]
        }
        let (gone, here) = (pointer("Author", "gone"), pointer("Author", authors[1]))
        let shown = try #require(try await people(here)?.array?.first)
        #expect(shown["name"] == "mi")
        #expect(try await people(gone) == [])
        #expect(try await people(gone, gone, gone) == [])
        #expect(try await people(gone, here) == [shown])
        #expect(try await people(here, gone) == [shown])
        #expect(try await people(gone, gone, here, gone, here, gone, gone) == [shown, shown])
        #expect(try await people([gone], 1, [gone, 2, gone], gone, ["k": gone]) == [[], 1, [2], ["k": gone]])
        #expect(try await people(.null, gone, "x") == [.null, "x"])
    }

    @Test func aDanglingPointerStays() async throws {
        let rule: JSONValue = ["type": "Pointer", "targetClass": "Country", "onTargetDelete": "noAction"]
        #expect(try await server.send("PUT", "/schemas/Author", ["fields": ["home": rule]]).status == 200)
        try await server.send("PUT", "/classes/Author/\(authors[1])", ["home": pointer("Country", country)])
        try await server.send("PUT", "/classes/Author/\(authors[0])", ["country": ["__op": "Delete"]])
        #expect(try await server.send("DELETE", "/classes/Country/\(country)").status == 200)
        let dangling = pointer("Country", country)
        #expect(try await server.get("Author", authors[1])["home"] == dangling)
        #expect(try await server.get("Author", authors[1], "include=home")["home"] == dangling)
        let book = try await get("include=editor.home,people.home")
        #expect(book["editor"]?["name"] == "mi" && book["editor"]?["home"] == dangling)
        #expect(book["people"]?.array?[2]["home"] == dangling)
        #expect(try await server.names("Author", ["home": dangling]) == ["mi"])
        #expect(try await server.names("Author", ["home.name": "us"]) == [])
    }

    @Test func objectsThatAreSentBackAreStoredAsPointers() async throws {
        let plain = try await get("")
        let shown = try await get("include=author.country,people.country,info.by")
        #expect(shown["people"]?.array?[0]["country"]?["__type"] == "Object")
        let sent: JSONValue = .object((shown.object ?? [:]).filter { ["author", "people", "info"].contains($0.key) })
        #expect(try await server.send("PUT", "/classes/Book/\(book)", sent).status == 200)
        let stored = try await get("")
        for field in ["author", "info"] { #expect(stored[field] == plain[field], "\(field)") }
        // Without the two elements whose objects don't exist.
        let people = [0, 1, 4, 5].map { plain["people"]?.array?[$0] ?? .null }
        #expect(stored["people"] == .array(people))
        #expect(try await get("include=people")["people"]?.array?[2]["name"] == "mi")

        let object = try #require(shown["people"]?.array?[2])
        let added = try await server.send(
            "PUT", "/classes/Book/\(book)",
            [
                "people": ["__op": "AddUnique", "objects": [object]], "info.second": object,
                "more": ["__op": "Add", "objects": [["deep": [object, 1]]]],
            ])
        #expect(added["people"] == .array(people) && added["more"] == [["deep": [pointer("Author", authors[1]), 1]]])
        #expect(try await get("")["info"]?["second"] == pointer("Author", authors[1]))
        try await server.send("PUT", "/classes/Book/\(book)", ["people": ["__op": "Remove", "objects": [object]]])
        #expect(try await get("")["people"]?.array?.count == 3)
        let new = try await server.create("Book", ["people": [object], "author": object])
        #expect(try await server.get("Book", new)["people"] == [pointer("Author", authors[1])])
        #expect(try await server.get("Book", new, "include=people")["people"]?.array?[0]["name"] == "mi")
    }

    @Test func onlyChosenFieldsAreShown() async throws {
        let stamps: Set = ["objectId", "createdAt", "updatedAt"]
        func fields(_ parameters: String) async throws -> Set<String> {
            let members = try #require(try await get(parameters).object)
            return Set(members.keys).subtracting(stamps)
        }
        #expect(try await fields("keys=title") == ["title"])
        #expect(try await fields("keys=title,editor,nope") == ["title", "editor"])
        #expect(try await fields("excludeKeys=title,people,info") == ["author", "editor", "fans"])
        #expect(try await fields("keys=title,author&excludeKeys=author") == ["title"])
        let title = try #require(try await get("keys=title").object)
        #expect(Set(title.keys) == stamps.union(["title"]))
        let name = try #require(try await get("keys=author.name")["author"]?.object)
        #expect(Set(name.keys) == stamps.union(["__type", "className", "name"]))
        let both = try await get("keys=title,author.name&include=author,author.country")
        #expect(both["author"]?["age"] == nil)
        #expect(try await get("include=author&excludeKeys=author.age")["author"]?["age"] == nil)
        #expect(try await get("include=author&excludeKeys=author.age")["author"]?["name"] == "le")
        #expect(try await fields("keys=title&include=author") == ["title"])
        for include in ["include=*", "includeAll=true"] {
            let all = try await get("\(include)&excludeKeys=author.age,editor.nope")
            #expect(all["author"]?["age"] == nil && all["author"]?["name"] == "le")
            #expect(all["editor"]?["name"] == "mi")
        }
        let deep = try await get("include=author.*&excludeKeys=author.country.name")["author"]?["country"]
        #expect(deep?["objectId"] == .string(country) && deep?["name"] == nil)
    }

    @Test func arraysNeedOneMoreStatementForEachClassAndLevel() async throws {
        for _ in 0..<30 {
            try await server.save(
                "Book",
                ["author": pointer("Author", authors[1]), "people": .array(authors.map { pointer("Author", $0) })])
        }
        #expect(
            try await log.queries { _ = try await server.find("Book", [:], ["include": "author.country,editor"]) }.count
                == 1)
        #expect(try await log.queries { _ = try await server.find("Book", [:], ["include": "people"]) }.count == 2)
        #expect(
            try await log.queries { _ = try await server.find("Book", [:], ["include": "people.country,author"]) }.count
                == 2)
    }

    @Test func aClassMayHaveMorePointersThanCanBeJoined() async throws {
        var fields: JSONObject = [:]
        for number in 0..<80 { fields["p\(number)"] = pointer("Author", authors[number % 2]) }
        let id = try await server.create("Wide", .object(fields))
        let object = try await server.get("Wide", id, "include=*")
        for number in 0..<80 { #expect(object["p\(number)"]?["name"] == (number % 2 == 0 ? "le" : "mi")) }
    }

    @Test func tooDeepIncludesAreRefused() async throws {
        let path = Array(repeating: "a", count: 30).joined(separator: ".")
        #expect(try await server.send("GET", "/classes/Book?include=\(path)").code == 102)
    }

    @Test(arguments: ["include=*", "includeAll=true"])
    func allPointersIncludeThoseInArrays(_ parameters: String) async throws {
        let object = try await get(parameters)
        #expect(object["people"] == (try await get("include=people"))["people"])
        #expect(object["people"]?.array?.first?["name"] == "le" && object["author"]?["name"] == "le")
        #expect(object["info"]?["by"] == pointer("Author", authors[0]))
    }

    /// Arrays that show the same objects in the same form share one statement.
    @Test func arraysThatShowTheSameShareAStatement() async throws {
        let people: JSONValue = [pointer("Author", authors[0]), pointer("Author", authors[1])]
        let id = try await server.create("Club", ["members": people, "guests": people])
        log.removeAll()
        let club = try await server.get("Club", id, "include=members.country,guests.country")
        #expect(log.all.count { $0.contains("\"Author\"") && $0.hasPrefix("SELECT") } == 1)
        #expect(club["members"] == club["guests"] && club["members"]?.array?.count == 2)
        #expect(club["guests"]?.array?.first?["country"]?["name"] == "us")
    }
}
