import Foundation
import Relata
import Testing

@Model private struct Document {
    let id: ID<Document>
    var name: String
    var text: String = ""
    var data: Data?
    var settings: [String: Int] = [:]
    var number: Int = 0
}

/// The largest and the smallest values that fit.
@Suite struct ValueTests {
    static let texts = [
        "", "\0", "before\0after", "👩‍👩‍👧‍👦🏳️‍🌈", "e\u{301}", "\u{FEFF}", "\u{202E}left", "\r\n\t", "%_*?[a-z]\\", "NULL", "é",
    ]

    @Test(arguments: Engine.embedded) func everyTextMatchesOnlyItself(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Document.self)
        try await store.insert(Self.texts.map { Document(name: $0, text: "<\($0)>") })
        for text in Self.texts {
            let stored = try await store.fetch(Document.where { $0.name == text })
            // Swift compares é with e and an accent as equal, databases by their bytes.
            #expect(stored.map { Array($0.name.utf8) } == [Array(text.utf8)], "\(text.debugDescription)")
            #expect(try await store.count(Document.matching("name == %@", text)) == 1)
            #expect(try await store.count(Document.where { $0.name.in([text]) }) == 1)
            let whole = "<\(text)>"
            #expect(try await store.count(Document.where { $0.text.hasPrefix(whole) }) == 1)
            #expect(try await store.count(Document.where { $0.text.hasSuffix(whole) }) == 1)
            #expect(try await store.count(Document.where { $0.text.contains(whole) }) == 1)
            #expect(try await store.count(Document.matching("text CONTAINS %@", whole)) == 1)
            #expect(
                try await store.count(Document.matching("text BEGINSWITH %@ AND text ENDSWITH %@", whole, whole)) == 1)
            let copy = try #require(stored.first)
            let changed = try await store.update(copy.id) { $0.name += "!" }
            #expect(Array(changed.name.utf8) == Array(text.utf8) + [UInt8(ascii: "!")])
            try await store.update(copy.id) { $0.name = text }
        }
        let sorted = try await store.fetch(Document.all.sorted { $0.name }.select { $0.name })
        #expect(
            sorted.map { Array($0.utf8) }
                == Self.texts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test(arguments: Engine.allCases) func largeTextsAndBlobsRoundTrip(engine: Engine) throws {
        let data = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ 3) })
        let text = String(repeating: "ten bytes 👋", count: 1 << 20 / 14)
        let store = try TestStore.make(engine, for: Document.self)
        let saved = try store.insert(Document(name: "large", text: text, data: data))
        let stored = try #require(try store.fetch(Document.self, id: saved.id))
        #expect(stored.data == data && stored.text == text)
        try store.update(saved.id) { $0.data?[5] = 0 }
        #expect(try store.count(Document.where { $0.data == data }) == 0)
        #expect(try store.fetch(Document.self, id: saved.id)?.data?[5] == 0)
    }

    @Test(arguments: Engine.allCases) func codableValuesWithAThousandKeys(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Document.self)
        let settings = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("key \"\($0)\" 🔑", $0) })
        let saved = try store.insert(Document(name: "settings", settings: settings))
        #expect(try store.fetch(Document.self, id: saved.id)?.settings == settings)
        let changed = try store.update(saved.id) { $0.settings["key \"500\" 🔑"] = -1 }
        #expect(changed.settings.count == 1000 && changed.settings["key \"500\" 🔑"] == -1)
    }

    @Test(arguments: Engine.allCases) func inWithAHundredThousandValues(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Document.self)
        let documents = (0..<50).map { Document(name: "name \($0 * 3000)", number: $0 * 3000) }
        try store.insert(documents)
        let numbers = Array(1...100_000)
        let names = numbers.map { "name \($0)" }
        let keys = (0..<100_000).map { $0 % 3000 == 0 && $0 / 3000 < 50 ? documents[$0 / 3000].id : ID<Document>() }
        #expect(try store.count(Document.where { $0.number.in(numbers) }) == 33)
        #expect(try store.count(Document.where { !$0.number.in(numbers) }) == 17)
        #expect(try store.count(Document.where { $0.name.in(names) }) == 33)
        #expect(try store.count(Document.where { $0.id.in(keys) }) == 34)
        #expect(try store.count(Document.matching("number IN %@", numbers)) == 33)
        #expect(try store.count(Document.matching("name IN %@", names)) == 33)
        #expect(try store.rows(#"SELECT count(*) FROM "Document" WHERE "number" IN \#(list: numbers)"#) == [[33]])
        #expect(try store.delete(Document.where { $0.number.in(numbers) }).deletedCount == 33)
    }

    @Test(arguments: Engine.allCases) func fetchingAHundredThousandKeysAtOnce(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Document.self)
        let documents = try store.insert((0..<10).map { Document(name: "\($0)") })
        let keys = documents.map(\.id) + (0..<100_000).map { _ in ID<Document>() }
        let results = try store.fetch(ids: keys.map { ObjectKey(Document.self, $0) })
        #expect(results.prefix(10).compactMap { $0.object(as: Document.self)?.name } == documents.map(\.name))
        #expect(results.count { (try? $0.result.get()) == nil } == 100_000)
    }

    @Test(arguments: Engine.allCases) func thousandsOfConditionsAreNotTooMany(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Document.self)
        try store.insert((0..<10).map { Document(name: "\($0)", number: $0 * 1000) })
        let any = Document.where { document in
            (1..<3000).map { document.number == $0 }.reduce(document.number == 0) { $0 || $1 }
        }
        #expect(try store.count(any) == 3)
        let text = (0..<3000).map { "number == \($0)" }.joined(separator: " OR ")
        #expect(try store.count(Document.matching(text)) == 3)
        var many = Document.all
        for number in 1...2000 { many = many.where { $0.number != number } }
        #expect(try store.count(many) == 8)
    }

    @Test(arguments: Engine.allCases) func tooDeepConditionsAreErrors(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Document.self)
        for (open, close) in [("(", ")"), ("NOT (", ")"), ("-(", ")"), ("NOT ", ""), ("lowercase(", ")")] {
            let text = String(repeating: open, count: 50_000) + "number == 1" + String(repeating: close, count: 50_000)
            #expect(thrown { try store.count(Document.matching(text)) }?.kind == "predicateFormat", "\(open)")
        }
        let sum = "number" + String(repeating: " + 1", count: 50_000) + " == 1"
        #expect(thrown { try store.count(Document.matching(sum)) }?.kind == "predicateFormat")
        let nested = Document.where { document in
            var condition = document.number == 1
            for number in 0..<5000 { condition = !(condition && document.number == number) }
            return condition
        }
        #expect(thrown { try store.count(nested) }?.kind == "invalidUse")
    }
}
