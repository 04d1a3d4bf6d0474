import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Searching text by matching parts and by words, and places by their location.
struct QuerySearchTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    @Test func aPartMatches() throws {
        #expect(try library.books(.search, "arth") == [1, 4])
        #expect(try library.books(.search, "^earth") == [4])
        #expect(try library.books(.search, "^EARTH", .caseInsensitive) == [1, 4])
        #expect(try library.books(.search, "(?i)^EARTH") == [1, 4])
        #expect(try library.books(.search, "[0-9]+%") == [3])
        #expect(try library.books(.search, "sea$|_$") == [1, 3])
        #expect(throws: RelataError.self) { try library.books(.search, "(") }
    }

    @Test func aSearchThatTakesTooLongEnds() throws {
        try library.connection.execute("UPDATE Book SET title = '\(String(repeating: "a", count: 60))b'")
        #expect {
            try library.books(.search, "(a+)+$")
        } throws: { error in
            if case RelataError.invalidUse(let message) = error { message.contains("took too long") } else { false }
        }
        #expect(try library.books(.search, "a+b$") == [1, 2, 3, 4])
    }

    @Test func aMatchThatTakesTooLongEnds() throws {
        try library.connection.execute("UPDATE Book SET title = '\(String(repeating: "a", count: 60))b'")
        for options in [TextOptions(), [.caseInsensitive, .diacriticInsensitive]] {
            #expect {
                try library.books(.matches, "(a+)+c", options)
            } throws: { error in
                if case RelataError.invalidUse(let message) = error { message.contains("took too long") } else { false }
            }
        }
        #expect(try library.books(.matches, "a+b") == [1, 2, 3, 4])
        #expect(try library.books(.matches, "a+") == [])
    }

    @Test func allSearchesOfAStatementShareTheirTime() throws {
        try library.connection.execute("UPDATE Book SET title = '\(String(repeating: "a", count: 60))b'")
        let pattern = ExpressionNode.text(.search, the("title"), .value("(a+)+$"), [])
        let many = ExpressionNode.or((0..<20).map { .and([pattern, the("id") > .integer(Int64($0) - 100)]) })
        let time = processorTime { #expect(throws: RelataError.self) { try library.keys("Book", many) } }
        // Each of them alone may take a second.
        #expect(time < 10)
    }

    @Test func searchesMatchWholeWords() throws {
        try library.connection.execute("UPDATE Book SET title = 'Les Dépossédés, a science-fiction novel' WHERE id = 2")
        let all: TextOptions = [.caseInsensitive, .diacriticInsensitive]
        #expect(try library.books(.words, "EARTHSEA nothing", all) == [1])
        #expect(try library.books(.words, "EARTHSEA") == [])
        #expect(try library.books(.words, "earth", all) == [])
        #expect(try library.books(.words, "depossedes wool", all) == [2, 3])
        #expect(try library.books(.words, "\"science fiction\"", all) == [2])
        #expect(try library.books(.words, "\"fiction science\"", all) == [])
        #expect(try library.books(.words, "novel wool -science", all) == [3])
        #expect(try library.books(.words, "", all) == [])
    }

    @Test func wordsAreCounted() throws {
        try library.connection.execute("UPDATE Book SET title = 'Wool, wool and more Wool' WHERE id = 2")
        try library.connection.execute("UPDATE Book SET notes = NULL")
        func counts(
            _ words: String, _ options: TextOptions = [], in text: ExpressionNode = the("title")
        ) throws -> [Value] {
            let count = ExpressionNode.function(.wordCount(options), [text, .value(.text(words))])
            let plan = QueryPlan(entity: "Book", sort: [SortTerm(the("id"))])
            return try library.run(try library.compiler.select(plan, columns: .expressions([count]))).map { $0[0] }
        }
        #expect(try counts("Wool") == [0, 2, 0, 0])
        #expect(try counts("wool", .caseInsensitive) == [0, 3, 1, 0])
        #expect(try counts("wool -more", .caseInsensitive) == [0, 0, 1, 0])
        #expect(try counts("\"wool and\" more", .caseInsensitive) == [0, 2, 0, 0])
        #expect(try counts("\"wool wool\" \"more wool\"", .caseInsensitive) == [0, 2, 0, 0])
        #expect(try counts("wool", in: .function(.json(.text, []), [the("notes")])) == [.null, .null, .null, .null])
        #expect(throws: RelataError.self) { try counts("wool", in: the("id")) }
    }

    @Test func distancesAreAngles() throws {
        func far(_ latitude: Double, _ longitude: Double, _ other: Double, _ otherLongitude: Double) throws -> Double {
            let node = ExpressionNode.function(
                .distance, [latitude, longitude, other, otherLongitude].map { .value(.real($0)) })
            let query = try library.compiler.select(
                QueryPlan(entity: "Genre", limit: 1), columns: .expressions([node]))
            guard case .real(let angle) = try library.run(query)[0][0] else { return -1 }
            return angle
        }
        #expect(try abs(far(0, 0, 0, 90) - .pi / 2) < 1e-9)
        #expect(try abs(far(90, 0, -90, 50) - .pi) < 1e-9)
        #expect(try far(52.5, 13.4, 52.5, 13.4) == 0)
        // Berlin and Paris are 878 km apart.
        #expect(try abs(far(52.52, 13.405, 48.8566, 2.3522) * 6371 - 878) < 2)
        // The short way, across the 180th meridian.
        #expect(try abs(far(0, 179, 0, -179) - 2 * .pi / 180) < 1e-9)
    }

    @Test func placesLieInPolygonsAndOnTheirEdges() throws {
        try library.connection.execute("UPDATE Book SET notes = '[[0,0],[0,10],[10,10],[10,0]]' WHERE id = 1")
        try library.connection.execute("UPDATE Book SET notes = '[[0,0],[5,5],[0,10],[10,5]]' WHERE id = 2")
        func holding(_ latitude: Double, _ longitude: Double) throws -> [Value] {
            try library.keys(
                "Book",
                .function(.isInPolygon, [.value(.real(latitude)), .value(.real(longitude)), the("notes")]))
        }
        #expect(try holding(6, 5) == [1, 2])
        #expect(try holding(1, 5) == [1])
        #expect(try holding(0, 5) == [1])
        #expect(try holding(10, 5) == [1, 2])
        #expect(try holding(11, 5) == [])
        #expect(try holding(5, -1) == [])
    }
}
