import Foundation
import RelataCore
import TestSupport
import Testing

/// Text becomes the same expressions as typed conditions, and errors have their column.
struct PredicateFormatTests: PredicateParsing {
    let schema: Schema

    init() throws { schema = try Schema(MusicEntities.all) }

    @Test func comparisonOperatorsHaveSeveralSpellings() throws {
        for (sign, comparison) in [
            ("=", ComparisonOperator.equal), ("==", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<", .less),
            (">", .greater),
            ("<=", .lessOrEqual), ("=<", .lessOrEqual), (">=", .greaterOrEqual), ("=>", .greaterOrEqual),
        ] {
            #expect(try parse("id \(sign) 5") == compare(comparison, "id", 5))
            #expect(
                try parse("5\(sign)id")
                    == parse(
                        "id \(["<": ">", ">": "<", "<=": ">=", "=<": ">=", ">=": "<=", "=>": "<="][sign] ?? sign) 5"))
        }
        #expect(
            try parse("title ==[cd] 'x'")
                == compare(.equal, "title", "x", 0, [.caseInsensitive, .diacriticInsensitive]))
        #expect(try parse("artist.name == \"AC/DC\"") == compare(.equal, "artist.name", "AC/DC"))
        #expect(try parse("title == artist.name") == .comparison(.equal, path("title"), path("artist.name"), []))
    }

    @Test func operatorsHaveTheUsualPrecedence() throws {
        let (a, b, c) = (compare(.equal, "id", 1), compare(.equal, "id", 2), compare(.equal, "id", 3))
        #expect(try parse("id = 1 AND id = 2 OR id = 3") == .or([.and([a, b]), c]))
        #expect(try parse("id = 1 && (id = 2 || id = 3)") == .and([a, .or([b, c])]))
        #expect(try parse("not id = 1 and !(id = 2)") == .and([.not(a), .not(b)]))
        #expect(try parse("TRUEPREDICATE") == .and([]))
        #expect(try parse("falsepredicate or id = 1") == .or([.or([]), a]))
        #expect(try parse("isLive AND NOT isLive") == .and([path("isLive"), .not(path("isLive"))]))
    }

    @Test func literalsTakeTheAttributesType() throws {
        #expect(try parse("price = 12.10") == compare(.equal, "price", "12.10"))
        #expect(try parse("price > -1") == compare(.greater, "price", "-1"))
        #expect(try parse("isLive = YES") == compare(.equal, "isLive", 1))
        #expect(try parse("isLive = 0") == compare(.equal, "isLive", 0))
        #expect(try parse("released > '1970-01-02'") == compare(.greater, "released", 86_400_000_000))
        let uuid = UUID()
        #expect(
            try parse("code = '\(uuid.uuidString)'") == compare(.equal, "code", .text(uuid.uuidString.lowercased())))
        #expect(try parse("title = 'it\\'s \\u0041 \\d'") == compare(.equal, "title", "it's A \\d"))
        #expect(try parse("title = nil") == .isNull(path("title")))
        #expect(try parse("NULL != artist") == .not(.isNull(path("artist"))))
    }

    @Test func textOperatorsTakeOptions() throws {
        #expect(try parse("title BEGINSWITH 'a'") == .text(.beginsWith, path("title"), .value("a"), []))
        #expect(
            try parse("title endswith[c] %@", .value("a"))
                == .text(.endsWith, path("title"), .value("a"), .caseInsensitive))
        #expect(
            try parse("title CONTAINS[d] artist.name")
                == .text(.contains, path("title"), path("artist.name"), .diacriticInsensitive))
        #expect(try parse("title LIKE 'a*'") == .text(.like, path("title"), .value("a*"), []))
        #expect(try parse("title MATCHES '[a-z]+'") == .text(.matches, path("title"), .value("[a-z]+"), []))
        #expect(try parse("'x' IN title") == .text(.contains, path("title"), .value("x"), []))
    }

    @Test func argumentsAreValuesListsAndKeys() throws {
        #expect(try parse("artist = %@", .key(KeyValue("a"))) == .keyIn(path("artist"), [KeyValue("a")]))
        #expect(try parse("artist != %@", .value("a")) == .not(.keyIn(path("artist"), [KeyValue("a")])))
        let keys = [KeyValue("a"), KeyValue("b")]
        #expect(try parse("artist IN %@", .keys(keys)) == .keyIn(path("artist"), keys))
        #expect(try parse("artist = %@", .keys(keys)) == .keyIn(path("artist"), keys))
        #expect(try parse("artist = %@", .values(["a", "b"])) == .keyIn(path("artist"), keys))
        #expect(try parse("artist = 'a'") == .keyIn(path("artist"), [KeyValue("a")]))
        #expect(try parse("artist = %@", .value(.null)) == .isNull(path("artist")))
        #expect(try parse("SELF IN {1, 2}") == .keyIn(.property(scope: 0, path: []), [KeyValue(1), KeyValue(2)]))
        #expect(try parse("id IN %@", .values([1, 2])) == .valueIn(path("id"), [1, 2], []))
        #expect(
            try parse(
                "id == %ld AND price > %f AND %K == %d", .value(1), .value(2.5), .value("tracks.@count"), .value(3))
                == parse("id = 1 AND price > 2.5 AND tracks.@count = 3"))
        #expect(try parse("title IN[c] {'a', 'b'}") == .valueIn(path("title"), ["a", "b"], .caseInsensitive))
        #expect(
            try parse("id IN {1, #in}")
                == .or([compare(.equal, "id", 1), .comparison(.equal, path("id"), path("in"), [])]))
        #expect(try parse("id BETWEEN {1, 5}") == parse("id BETWEEN 1 AND 5"))
        #expect(
            try parse("id BETWEEN %@", .values([1, 5]))
                == .and([compare(.greaterOrEqual, "id", 1), compare(.lessOrEqual, "id", 5)]))
        #expect(
            try parse("SELF = %@", .key(KeyValue(["x", 1])), entity: "Tag")
                == .keyIn(.property(scope: 0, path: []), [KeyValue(["x", 1])]))
    }

    @Test func quantifiersOpenScopes() throws {
        let tracks = RelatedSet(scope: 0, path: ["tracks"], innerScope: 1)
        #expect(
            try parse("ANY tracks.title = 'x'")
                == .quantified(.any, tracks, condition: compare(.equal, "title", "x", 1)))
        #expect(
            try parse("SOME tracks.length > id")
                == .quantified(.any, tracks, condition: .comparison(.greater, path("length", 1), path("id"), [])))
        #expect(try parse("ALL tracks.length BETWEEN {1, 2} OR isLive").isDisjunction)
        #expect(
            try parse("NOT NONE tracks.album.title = 'x'")
                == .not(.quantified(.none, tracks, condition: compare(.equal, "album.title", "x", 1))))
        let albumTracks = RelatedSet(scope: 0, path: ["albums", "tracks"], innerScope: 1)
        #expect(
            try parse("ANY albums.tracks.length > 3", entity: "Artist")
                == .quantified(.any, albumTracks, condition: compare(.greater, "length", 3, 1)))
        #expect(
            try parse("ANY (tracks.title = 'x' AND tracks.length > 3)")
                == .quantified(
                    .any, tracks,
                    condition: .and([compare(.equal, "title", "x", 1), compare(.greater, "length", 3, 1)])))
        let inner = RelatedSet(scope: 1, path: ["tracks"], innerScope: 2)
        #expect(
            try parse("ANY (albums.isLive AND ALL albums.tracks.length > 3)", entity: "Artist")
                == .quantified(
                    .any, RelatedSet(scope: 0, path: ["albums"], innerScope: 1),
                    condition: .and([
                        path("isLive", 1), .quantified(.all, inner, condition: compare(.greater, "length", 3, 2)),
                    ])))
        let tags = RelatedSet(scope: 0, path: ["tags"], innerScope: 1)
        let key = KeyValue(["x", 1])
        let isMember = ExpressionNode.quantified(.any, tags, condition: .keyIn(.property(scope: 1, path: []), [key]))
        #expect(try parse("%@ IN tags", .key(key)) == isMember)
        #expect(try parse("tags CONTAINS %@", .key(key)) == isMember)
        #expect(try parse("ANY tags == %@", .key(key)) == isMember)
        #expect(
            try parse("'x' IN tracks.title") == .quantified(.any, tracks, condition: compare(.equal, "title", "x", 1)))
    }

    @Test func figuresOfRelatedSets() throws {
        let tracks = RelatedSet(scope: 0, path: ["tracks"], innerScope: 1)
        let count = ExpressionNode.aggregate(.count, tracks, of: nil, filter: nil)
        let sum = ExpressionNode.aggregate(.sum, tracks, of: path("length", 1), filter: nil)
        #expect(try parse("tracks.@count > 5") == .comparison(.greater, count, .value(5), []))
        #expect(try parse("tracks.@sum.length > 5") == .comparison(.greater, sum, .value(5), []))
        #expect(try parse("tracks.length.@sum > 5") == .comparison(.greater, sum, .value(5), []))
        #expect(
            try parse("tracks.@avg.album.id >= 2 * tracks.@max.length")
                == .comparison(
                    .greaterOrEqual, .aggregate(.average, tracks, of: path("album.id", 1), filter: nil),
                    .arithmetic(.multiply, .value(2), .aggregate(.maximum, tracks, of: path("length", 1), filter: nil)),
                    []))
        let inner = RelatedSet(scope: 1, path: ["tracks"], innerScope: 2)
        #expect(
            try parse("ANY albums.tracks.@count > 5", entity: "Artist")
                == .quantified(
                    .any, RelatedSet(scope: 0, path: ["albums"], innerScope: 1),
                    condition: .comparison(.greater, .aggregate(.count, inner, of: nil, filter: nil), .value(5), [])))
    }

    @Test func subqueriesCountObjectsThatMeetACondition() throws {
        let tracks = RelatedSet(scope: 0, path: ["tracks"], innerScope: 1)
        let long = ExpressionNode.aggregate(
            .count, tracks, of: nil,
            filter: .and([compare(.greater, "length", 3, 1), .comparison(.equal, path("title", 1), path("title"), [])]))
        #expect(
            try parse("SUBQUERY(tracks, $t, $t.length > 3 AND $t.title == title).@count > 1")
                == .comparison(.greater, long, .value(1), []))
        #expect(
            try parse("subquery(tracks, $t, $t.length > %d).@sum.length == 9", .value(3))
                == .comparison(
                    .equal,
                    .aggregate(.sum, tracks, of: path("length", 1), filter: compare(.greater, "length", 3, 1)),
                    .value(9), []))
        let albums = RelatedSet(scope: 0, path: ["albums"], innerScope: 1)
        let inner = RelatedSet(scope: 1, path: ["tracks"], innerScope: 2)
        #expect(
            try parse(
                "SUBQUERY(albums, $a, SUBQUERY($a.tracks, $t, $t.title == $a.title AND $t.title != name).@count > 0).@count == 1",
                entity: "Artist")
                == .comparison(
                    .equal,
                    .aggregate(
                        .count, albums, of: nil,
                        filter: .comparison(
                            .greater,
                            .aggregate(
                                .count, inner, of: nil,
                                filter: .and([
                                    .comparison(.equal, path("title", 2), path("title", 1), []),
                                    .comparison(.notEqual, path("title", 2), path("name"), []),
                                ])), .value(0), [])), .value(1), []))
        // A quantifier inside belongs to the variable's object, and doesn't catch paths of the object outside.
        #expect(
            try parse(
                "SUBQUERY(albums, $a, ANY ($a.tracks.length > 3 AND $a.tracks.title == name)).@count > 0",
                entity: "Artist")
                == .comparison(
                    .greater,
                    .aggregate(
                        .count, albums, of: nil,
                        filter: .quantified(
                            .any, inner,
                            condition: .and([
                                compare(.greater, "length", 3, 2),
                                .comparison(.equal, path("title", 2), path("name"), []),
                            ]))), .value(0), []))
        #expect(
            try parse("SUBQUERY(tags, $x, $x == %@).@count > 0", .key(KeyValue(["x", 1])))
                == .comparison(
                    .greater,
                    .aggregate(
                        .count, RelatedSet(scope: 0, path: ["tags"], innerScope: 1), of: nil,
                        filter: .keyIn(.property(scope: 1, path: []), [KeyValue(["x", 1])])), .value(0), []))
    }

    @Test(arguments: [
        ("SUBQUERY(title, $t, $t.length > 3).@count > 1", 10, "expected a to-many"),
        ("SUBQUERY(tracks, t, $t.length > 3).@count > 1", 18, "expected a variable"),
        ("SUBQUERY(tracks, $t, $x.length > 3).@count > 1", 22, "there is no variable $x"),
        ("SUBQUERY(tracks, $t, $t.long > 3).@count > 1", 25, "Track has no property long"),
        ("SUBQUERY(tracks, $t, $t.length > 3) > 1", 37, "expected .@count"),
        ("SUBQUERY(tracks, $t, $t.length > 3).length > 1", 37, "expected @count"),
        ("SUBQUERY(tracks, $t, $t.length > 3).@sum > 1", 37, "expected an attribute"),
        ("SUBQUERY(tracks, $t, $t.length).@count > 1", 31, "expected a comparison"),
        ("SUBQUERY(tracks, $t, SUBQUERY(tracks, $t, id > 1).@count > 1).@count > 1", 39, "choose another name"),
        ("$t.length > 3", 1, "there is no variable $t"), ("$ > 3", 1, "expected a name after $"),
        ("tracks.@distinctUnionOfObjects.length.@sum > 1", 39, "each object counts once"),
        ("tracks.@distinctUnionOfObjects > 1", 8, "and @count or another aggregate"),
        ("id ?? 'x' == 1", 7, "a number"), ("5 ?? id == 1", 1, "expected a property"),
    ])
    func errorsInSubqueriesTellTheirPlace(_ text: String, _ column: Int, _ message: String) {
        errorsTellTheirPlace(text, column, message)
    }

    @Test func arithmeticAndFunctionsAreExpressions() throws {
        #expect(
            try parse("id + 2 * 3 = 7")
                == .comparison(
                    .equal, .arithmetic(.add, path("id"), .arithmetic(.multiply, .value(2), .value(3))), .value(7), []))
        #expect(
            try parse("(id + 2) * -#in = 7")
                == .comparison(
                    .equal, .arithmetic(.multiply, .arithmetic(.add, path("id"), .value(2)), .negated(path("in"))),
                    .value(7), []))
        #expect(
            try parse("price * 1.1 > 5")
                == .comparison(
                    .greater, .arithmetic(.multiply, path("price"), .value("1.1")), .value("5"), []))
        #expect(
            try parse("year(released) = 1999")
                == .comparison(.equal, .function(.datePart(.year), [path("released")]), .value(1999), []))
        #expect(
            try parse("lowercase(title) = 'x'")
                == .comparison(.equal, .function(.lowercased, [path("title")]), .value("x"), []))
    }

    @Test func namesAreFoundInSeveralSpellings() throws {
        #expect(try parse("ARTIST.Name = 'x'") == parse("artist.name = 'x'"))
        #expect(try parse("ArtistId = 'x'") == parse("artist = 'x'"))
        #expect(try parse("#in = 1") == compare(.equal, "in", 1))
        #expect(try parse("SELF.in = 1") == compare(.equal, "in", 1))
        #expect(
            try parse("`odd name` = 1") == .comparison(.equal, .property(scope: 0, path: ["odd name"]), .value(1), []))
        let node = try PredicateFormat.parse("Titel = 'x'", entity: "Album", schema: schema) { name, _ in
            name == "Titel" ? "title" : nil
        }
        #expect(node == compare(.equal, "title", "x"))
    }

    @Test(arguments: [
        ("titel = 'x'", 1, "did you mean title?"), ("artist.nam = 'x'", 8, "did you mean name?"),
        ("title.x = 'x'", 7, "is an attribute"), ("title = ", 9, "expected a property, a value or ("),
        ("title", 6, "expected a comparison"), ("title = 'x", 9, "expected ' after the text"),
        ("title = 'x' id = 1", 13, "expected AND, OR or the end, not id"), ("(id = 1", 8, "expected an operator or )"),
        ("id = 'x'", 6, "expected a number for id"), ("id = '5'", 6, "write 5 without quotes"),
        ("title = 5", 9, "write '5'"), ("released > 'soon'", 12, "a date such as"), ("code = 'x'", 8, "a UUID such as"),
        ("isLive = 5", 10, "a boolean"), ("id CONTAINS 'x'", 1, "contains searches text only"),
        ("title ==[x] 'a'", 10, "expected c, d or cd"), ("id ==[c] 5", 1, "are for text"),
        ("tracks.title = 'x'", 1, "expected ANY, ALL or NONE before it"),
        ("ANY title = 'x'", 1, "expected a path through a to-many"),
        ("ANY tracks.@count > 1", 1, "expected a path through a to-many"),
        ("artist.@count > 1", 8, "expected a to-many before @count"),
        ("tracks.@median.length = 1", 8, "there is no aggregate @median"),
        ("tracks.@sum > 1", 8, "expected an attribute"),
        ("id IN 5", 7, "expected a list"), ("id BETWEEN {1}", 12, "expected {lower, upper}"),
        ("id < nil", 6, "nil has no order"),
        ("id = %@", 6, "expected an argument"), ("id = %x", 6, "expected %@"), ("id § 5", 4, "is unexpected here"),
        ("artist > 'a'", 1, "have no order"), ("title MATCHES '('", 15, "isn't a regular expression"),
        ("id = 1 AND", 11, "expected a property"), ("{1} = {1}", 1, "expected a property"),
        ("foo(id) = 1", 1, "there is no function foo"),
        ("title + 1 = 2", 1, "is for numbers"), ("title < id", 1, "can't be compared"),
        ("id = {1, 2", 11, "expected , or }"),
    ])
    func errorsTellTheirPlace(_ text: String, _ column: Int, _ message: String) {
        do {
            let node = try parse(text)
            Issue.record("\(text) was read as \(node)")
        } catch .predicateFormat(text: text, column: let found, let said) {
            #expect(found == column, "\(said)")
            #expect(said.contains(message), "\(said)")
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func argumentsMustFitTheirPlaceholders() {
        #expect(throws: RelataError.self) { try parse("id = %d", .value("x")) }
        #expect(throws: RelataError.self) { try parse("id = 1", .value(1)) }
        #expect(throws: RelataError.self) { try parse("%K = 1", .value(1)) }
        #expect(throws: RelataError.self) { try parse("artist = %@", .key(KeyValue(["a", 1]))) }
        #expect(throws: RelataError.self) { try parse("title = %@", .value(5)) }
        #expect(throws: RelataError.self) { try parse(String(repeating: "(", count: 5000) + "id = 1") }
        #expect(throws: RelataError.self) { try parse(String(repeating: "!", count: 5000) + "isLive") }
        #expect(throws: RelataError.self) { try parse("id = 1", entity: "Albun") }
    }

    /// Parts that are parsed, compiled and released recursively need a limit, or the thread's stack overflows.
    @Test(arguments: [
        "{", "{1,", "id + ", "id * ", "'a' + ", "1 + ", "abs(", "id ?? ", "- ", "days(", "ANY ", "{{1}, ",
    ])
    func deeplyNestedAndLongPredicatesAreRefused(part: String) {
        for text in [
            "id IN \(String(repeating: part, count: 20_000))", "id = \(String(repeating: part, count: 20_000))id",
        ] {
            #expect(throws: RelataError.self) { try parse(text) }
        }
    }

    @Test func manyValuesAndManyConditionsAreRead() throws {
        _ = try parse("id IN {\((0..<10_000).map(String.init).joined(separator: ", "))}")
        _ = try parse((0..<10_000).map { "id = \($0)" }.joined(separator: " OR "))
        _ = try parse("id = 1\(String(repeating: " + 1", count: 20))")
    }

    /// Any text gives an expression, or an error with a column inside it.
    @Test(arguments: 0..<200)
    func randomTextIsParsedOrRefused(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let words = [
            "id", "title", "artist", ".", "name", "tracks", "@count", "@sum", "=", "<", "IN", "BETWEEN", "{", "}", "(",
            ")", ",",
            "1", "'x'", "nil", "AND", "OR", "NOT", "ANY", "ALL", "+", "-", "*", "%@", "%K", "CONTAINS", "[c]", "SELF",
            "isLive", "TRUE",
            "length", "[", "'", "year", "!", "#", "`", "SUBQUERY", "SUBQUERY(tracks,", "$t", "$t,", "??", "days(",
            "now()", "released", "@distinctUnionOfObjects",
        ]
        for _ in 0..<50 {
            let text = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                words.randomElement(using: &generator)!
            }
            .joined(separator: Bool.random(using: &generator) ? " " : "")
            do {
                let node = try parse(text, .value("title"), .value(1))
                _ = try QueryCompiler(schema: schema, access: .everything).select(
                    QueryPlan(entity: "Album", condition: node))
            } catch RelataError.predicateFormat(_, let column, _) {
                #expect((1...text.count + 1).contains(column), "seed \(seed): \(text)")
            } catch {
                Issue.record("seed \(seed): \(text): \(error)")
            }
        }
    }
}

extension ExpressionNode {
    fileprivate var isDisjunction: Bool { if case .or = self { true } else { false } }
}
