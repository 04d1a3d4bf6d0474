import Foundation
import Relata
import RelataCore
import Testing

/// A table whose every name needs quotes.
@Model(table: "order\"; DROP TABLE \"select\" --") struct Odd {
    @Attribute(column: "primary key") let id: ID<Odd>
    @Attribute(.unique, column: "it's") var name: String
    @Attribute(column: "\"") var quote: Int = 0
    @Attribute(column: "naïve 🙂 ?1 :a") var smile: String?
    @Relationship(deleteRule: .cascade, inverse: \Odd.parent, order: \Odd.place) var parts: ToMany<Odd>
    @Attribute(column: "place)") var place: Int = 0
    @Relationship(columns: ["group by"]) var parent: ToOne<Odd>?
    @Relationship(ordered: true, joinTable: "join on", joinColumns: ["from", "to\"; --"]) var friends: ToMany<Odd>
    @Relationship(inverse: \Odd.friends) var friendOf: ToMany<Odd>
}

/// An entity and properties that are words of SQL and of Swift.
@Model private struct Select {
    let id: ID<Select>
    @Attribute(.unique) var order: Int
    var group: String = ""
    var table: String = ""
    var values: [String] = []
    var `where`: String = ""
    var `default`: Int = 0
    // A quote that is one character with the accent after it.
    var null: String = "'\u{301}; DROP TABLE"
    var from: ToOne<Select>?
    @Relationship(inverse: \Select.from) var `in`: ToMany<Select>
    var join: ToMany<Select>
    #Index<Select>([\.group, \.where])
}

/// Names and texts in every place: never a part of SQL.
@Suite struct NameTests {
    @Test(arguments: Engine.allCases) func namesThatNeedQuotesWorkEverywhere(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Odd.self)
        var root = Odd(name: "root", quote: 1, smile: "😀")
        root.parts.add((0..<3).map { Odd(name: "part \($0)", quote: 10 + $0) })
        root.friends.add([Odd(name: "friend"), Odd(name: "other friend")])
        root = try store.save(root)
        let query = Odd.where { $0.parts.contains { $0.quote > 11 } && $0.friends.count == 2 && $0.smile != nil }
        let found = try store.fetch(
            query.sorted { $0.quote }.including {
                $0.parts; $0.friends
            })
        #expect(found.map(\.name) == ["root"])
        #expect(try found[0].parts.objects.map(\.name) == ["part 0", "part 1", "part 2"])
        #expect(try found[0].friends.objects.map(\.name) == ["friend", "other friend"])
        #expect(try store.fetch(Odd.matching("ANY friendOf.name == 'root' AND quote == 0")).count == 2)
        #expect(try store.fetch(Odd.where { $0.parent.name == "root" }.select { ($0.name, $0.quote) }).count == 3)
        #expect(try store.update(Odd.where { $0.parent == root }) { $0.quote.set(to: $0.quote + 1) } == 3)
        let error = thrown { try store.insert(Odd(name: "root")) }
        #expect("\(error as Any)".contains("another Odd already has the same name"))
        #expect(try store.save(Odd(name: "root", quote: 5), matching: { $0.name }).id == root.id)
        #expect(try store.fetch(Odd.self, id: root.id)?.quote == 5)
        #expect(try store.page(Odd.all.sorted { $0.name }, size: 2).objects.count == 2)
        #expect(try store.deletionPlan(for: root).deletedCount == 4)
        #expect(try store.delete(root).removedJoinRows.map(\.count) == [2])
        #expect(try store.fetch(Odd.all.sorted { $0.name }).map(\.name) == ["friend", "other friend"])
    }

    @Test(arguments: Engine.allCases) func sqlKeywordsAreValidNames(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Select.self)
        let first = try store.save(Select(order: 1, group: "a", table: "t", values: ["v"], where: "here", default: 7))
        var second = Select(order: 2, where: "there", from: ToOne(first))
        second.join.add(first)
        second = try store.save(second)
        let query = Select.where { $0.from.order == 1 && $0.where == "there" && $0.join.contains { $0.default == 7 } }
        #expect(
            try store.fetch(
                query.sorted {
                    $0.group; $0.where
                }
            ).map(\.order) == [2])
        #expect(try store.fetch(Select.matching("ANY %K.order == 2 AND table == 't'", "in")).map(\.default) == [7])
        #expect(try store.update(Select.where { $0.default == 7 }) { $0.where.set(to: "elsewhere") } == 1)
        #expect(try store.related(to: first) { $0.in }.map(\.order) == [2])
        #expect(try store.delete(first).nullified.count == 1)
    }

    /// Input of an attacker.
    static let attacks = [
        "'; DROP TABLE Genre; --", "\"; DROP TABLE Genre; --", "' OR '1'='1", "\" OR \"\"=\"", "x') OR 1=1 --",
        "1; DELETE FROM Genre",
        "?1", ":name", "@a", "$b", "%@", "%K", "\\", "\\'", "''", "/* */", "name", "\"name\"", "`name`", "[name]",
        "\0'; DROP TABLE Genre; --",
    ]

    @Test(arguments: Engine.embedded) func valuesNeverBecomeSQL(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Genre.self)
        try store.insert(Genre(name: "untouched"))
        for attack in Self.attacks {
            let genre = try store.insert(Genre(name: attack))
            let book = try store.save(Book(title: attack, genre: ToOne(genre), isbn: ToOne(ISBN(value: attack))))
            #expect(try store.fetch(Genre.where { $0.name == attack }) == [genre])
            #expect(try store.count(Genre.where { $0.name.in([attack, attack + "x"]) }) == 1)
            #expect(try store.count(Genre.where { $0.name.equals(attack, .caseInsensitive) }) == 1)
            #expect(try store.fetch(Book.where { $0.genre.name == attack && $0.isbn.value == attack }).count == 1)
            #expect(try store.fetch(ISBN.self, id: attack)?.value == attack)
            #expect(try store.count(Book.where { $0.isbn == attack }) == 1)
            #expect(try store.count(Genre.matching("name == %@", attack)) == 1)
            #expect(try store.count(Book.matching("genre.name ==[cd] %@ AND isbn == %@", attack, attack)) == 1)
            let literal = attack.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
            if !attack.contains("%") { #expect(try store.count(Genre.matching("name == '\(literal)'")) == 1) }
            for pattern in [attack, attack + "*"] {
                _ = try store.count(Genre.where { $0.name.like(pattern) })
                _ = try? store.count(Genre.where { $0.name.matches(pattern) })
            }
            #expect(try store.count(Genre.where { $0.name.contains(attack) }) >= 1)
            #expect(try store.rows(#"SELECT count(*) FROM "Genre" WHERE "name" = \#(attack)"#) == [[1]])
            #expect(try store.rows(#"SELECT count(*) FROM "Genre" WHERE "name" IN \#(list: [attack])"#) == [[1]])
            #expect(try store.update(Book.where { $0.title == attack }) { $0.title.set(to: attack + "!") } == 1)
            #expect(try store.update(book.id) { $0.title = attack }.title == attack)
            #expect(try store.save(Genre(name: attack), matching: { $0.name }).id == genre.id)
            #expect(try store.delete(book).deletedCount == 1)
            #expect(try store.delete(Genre.where { $0.name == attack }).deletedCount == 1)
            #expect(try store.delete(ISBN.self, id: attack).deletedCount == 1)
        }
        #expect(try store.fetch(Genre.all).map(\.name) == ["untouched"])
    }

    @Test(arguments: Engine.embedded) func injectedNamesAreRefused(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Genre.self)
        try store.insert(Genre(name: "untouched"))
        for attack in Self.attacks where attack != "name" {
            // As a condition, and as the name of a property.
            if let error = thrown({ try store.fetch(Genre.matching(attack)) }) {
                #expect(error.kind == "predicateFormat", "\(attack): \(error)")
            } else {
                Issue.record("\(attack) was understood")
            }
            let kind = thrown { try store.fetch(Genre.matching("%K == 'x'", attack)) }?.kind
            #expect(kind == "predicateFormat", "\(attack)")
            // A name in an app's own SQL is quoted, whatever it contains.
            let error = thrown { try store.rows("SELECT 1 FROM \(name: attack)") }
            #expect(error?.kind == "database", "\(attack): \(error as Any)")
        }
        #expect(try store.fetch(Genre.all).map(\.name) == ["untouched"])
    }

    @Test func impossibleNamesAreRefused() {
        for name in ["", "a\0b", "sqlite_master", "relata_metadata"] {
            let entity = Entity(name: "Thing", table: name, properties: [.attribute(Attribute("id", type: .integer))])
            #expect(thrown { try Schema([entity]) }?.kind == "schemaMismatch", "\(name.debugDescription)")
        }
        for name in ["", "a\0b"] {
            let entity = Entity(
                name: "Thing",
                properties: [
                    .attribute(Attribute("id", type: .integer)),
                    .attribute(Attribute("text", column: name, type: .text)),
                ])
            #expect(thrown { try Schema([entity]) }?.kind == "schemaMismatch", "\(name.debugDescription)")
        }
    }
}
