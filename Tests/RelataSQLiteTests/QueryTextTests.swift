import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Text searches.
struct QueryTextTests {
    let library: QueryLibrary

    init() throws { library = try .small() }

    @Test func substringsAreMatchedLiterally() throws {
        #expect(try library.books(.contains, "th") == [1, 4])
        #expect(try library.books(.contains, "%") == [3])
        #expect(try library.books(.contains, "_") == [3])
        #expect(try library.books(.contains, "") == [1, 2, 3, 4])
        #expect(try library.books(.beginsWith, "100%") == [3])
        #expect(try library.books(.beginsWith, "100_") == [])
        #expect(try library.books(.beginsWith, "Earth") == [1])
        #expect(try library.books(.beginsWith, "Earthseas") == [])
        #expect(try library.books(.endsWith, "sea") == [1])
        #expect(try library.books(.endsWith, "wool_") == [3])
        #expect(try library.books(.endsWith, "l%") == [])
        #expect(try library.books(.endsWith, "") == [1, 2, 3, 4])
    }

    @Test func caseAndDiacriticsAreIgnoredOnRequest() throws {
        #expect(try library.books(.beginsWith, "EARTH", .caseInsensitive) == [1, 4])
        #expect(try library.books(.contains, "DISPO", .caseInsensitive) == [2])
        #expect(try library.books(.endsWith, "SEA", .caseInsensitive) == [1])
        let essay = ExpressionNode.text(
            .beginsWith, the("name"), .value("ess"), [.caseInsensitive, .diacriticInsensitive])
        #expect(try library.keys("Genre", essay) == [2, 3])
        #expect(
            try library.keys(
                "Genre", .comparison(.equal, the("name"), .value("ESSAI"), [.caseInsensitive, .diacriticInsensitive]))
                == [3])
        #expect(try library.keys("Genre", .comparison(.equal, the("name"), .value("éSSAI"), .caseInsensitive)) == [3])
        #expect(
            try library.keys("Genre", .comparison(.equal, the("name"), .value("Essai"), .diacriticInsensitive)) == [3])
        #expect(try library.keys("Genre", .comparison(.equal, the("name"), .value("Essai"), .caseInsensitive)) == [])
    }

    @Test func wildcardsAndExpressionsMatchTheWhole() throws {
        #expect(try library.books(.like, "Earth*") == [1])
        #expect(try library.books(.like, "*s?a") == [1])
        #expect(try library.books(.like, "earth") == [])
        #expect(try library.books(.like, "100%*") == [3])
        #expect(try library.books(.like, "e*", .caseInsensitive) == [1, 4])
        #expect(try library.books(.like, "*\\*") == [])
        #expect(try library.books(.matches, "[Ee]arth.*") == [1, 4])
        #expect(try library.books(.matches, "arth") == [])
        #expect(try library.books(.matches, "a|Earthsea") == [1])
        #expect(try library.books(.matches, "EARTH.*", .caseInsensitive) == [1, 4])
    }

    @Test func unsetTextMatchesNothing() throws {
        for search in [TextOperator.contains, .beginsWith, .endsWith, .like, .matches] {
            let condition = ExpressionNode.text(
                search, the("text"), .value(search == .like ? "*" : search == .matches ? ".*" : ""), [])
            #expect(try library.keys("Review", condition) == [1, 3, 4])
            #expect(try library.keys("Review", .not(condition)) == [2])
        }
    }

    @Test func patternsMayBeAttributes() throws {
        try library.insert("Review", [["id": 9, "stars": 1, "text": "Earth", "bookId": 1]])
        for (search, found) in [(TextOperator.beginsWith, true), (.contains, true), (.endsWith, false), (.like, false)]
        {
            let condition = ExpressionNode.text(search, the("book.title"), the("text"), [])
            #expect(try library.keys("Review", .and([condition, the("id") == 9])) == (found ? [9] : []))
        }
    }

    @Test func allCharactersCount() throws {
        let texts = ["a\u{0}b", "\u{0}", "👩‍👩‍👧 x", "\u{10FFFF}", "a\u{10FFFF}z", "\u{D7FF}", "\u{E000}", ""]
        for (index, text) in texts.enumerated() {
            try library.insert("Genre", [["id": .integer(Int64(100 + index)), "name": .text(text)]])
        }
        for text in texts where !text.isEmpty {
            for search in [TextOperator.contains, .beginsWith, .endsWith] {
                let expected = texts.indices.filter { index in
                    let (name, part) = (Array(texts[index].utf8), Array(text.utf8))
                    return switch search {
                    case .beginsWith: name.starts(with: part)
                    case .endsWith: name.suffix(part.count) == part[...]
                    default: name.indices.contains { name[$0...].starts(with: part) }
                    }
                }
                let condition = ExpressionNode.text(search, the("name"), .value(.text(text)), [])
                let found = try library.keys("Genre", .and([condition, the("id") >= 100]))
                #expect(found == expected.map { .integer(Int64(100 + $0)) }, "\(search) \(text.debugDescription)")
            }
        }
        #expect(try library.keys("Genre", .text(.beginsWith, the("name"), .value("\u{D7FF}"), [])) == [105])
        #expect(try library.keys("Genre", .function(.length, [the("name")]) == 3) == [100, 102, 104])
    }
}
