import Foundation
import Relata
import Testing

/// Conditions as text find the same as the typed ones.
@Suite struct PredicateTextTests {
    @Test(arguments: Engine.allCases) func comparisons(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("A", Disc.matching("title == 'A'"))
        try discs.expect("A", Disc.matching("title = %@", "A"))
        try discs.expect("BCE", Disc.matching("rating != %f", 4.5))
        try discs.expect("BCE", Disc.matching("rating <> 4.5"))
        try discs.expect("B", Disc.matching("rating == nil"))
        try discs.expect("B", Disc.matching("rating = %@", nil as Double?))
        try discs.expect("BDE", Disc.matching("copies <= %d", 3))
        try discs.expect("AC", Disc.matching("%K >= 7", "copies"))
        try discs.expect("BC", Disc.matching("price >= %@", Decimal(10)))
        try discs.expect("BD", Disc.matching("isLive == TRUE"))
        try discs.expect("A", Disc.matching("released == %@", Discs.date("2001-02-03T04:05:06Z")))
        try discs.expect("AE", Disc.matching("copies IN {10, 3}"))
        try discs.expect("AE", Disc.matching("copies IN %@", [10, 3]))
        try discs.expect("BCE", Disc.matching("copies BETWEEN {0, 7}"))
        try discs.expect("BC", Disc.matching("format == %@", Disc.Format.cd.rawValue))
        try discs.expect("ABCDE", Disc.matching("TRUEPREDICATE"))
        try discs.expect("", Disc.matching("FALSEPREDICATE"))
    }

    @Test(arguments: Engine.allCases) func aFloatIsComparedWithFloats(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self, OptionalSample.self)
        try store.insert(Sample(float: 0.1, double: 0.1))
        try store.insert([OptionalSample(float: 0.1), OptionalSample()])
        #expect(try store.count(Sample.where { $0.float == 0.1 }) == 1)
        for text in [
            "float == 0.1", "0.1 = float", "float >= 0.1", "float IN {7, 0.1}", "float BETWEEN {0.1, 0.2}",
            "double == 0.1",
            "-float == -0.1", "abs(float) == 0.1",
        ] {
            #expect(try store.count(Sample.matching(text)) == 1, "\(text)")
        }
        for text in ["float > 0.1", "float != 0.1", "float < 0.1", "NOT float IN {0.1}"] {
            #expect(try store.count(Sample.matching(text)) == 0, "\(text)")
        }
        #expect(try store.count(Sample.matching("float == %@", 0.1)) == 1)
        #expect(try store.count(Sample.matching("float == %@", Float(0.1))) == 1)
        #expect(try store.count(Sample.matching("double == %f AND float IN %@", 0.1, [0.1])) == 1)
        #expect(try store.count(OptionalSample.matching("float == 0.1")) == 1)
        #expect(try store.count(OptionalSample.matching("float != 0.1")) == 1)
    }

    @Test(arguments: Engine.allCases) func invalidNameArgumentsAreRefused(_ engine: Engine) throws {
        let store = try Discs(engine).store
        for name in ["", ".", "..copies.", "copies.", ".copies", "band..name"] {
            let error = thrown { try store.count(Disc.matching("copies > 0 AND %K == 3", name)) }
            guard case .predicateFormat(_, let column, let message)? = error else {
                Issue.record("\(name): \(error.map { "\($0)" } ?? "no error")")
                continue
            }
            #expect(column == 16 && message.contains("\"\(name)\""))
        }
        #expect(try store.count(Disc.matching("%K == 'Ash'", "band.name")) == 2)
    }

    @Test(arguments: Engine.allCases) func textAndLogic(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("AD", Disc.matching("notes CONTAINS 'Paris'"))
        try discs.expect("AB", Disc.matching("notes BEGINSWITH[cd] %@", "ETE"))
        try discs.expect("A", Disc.matching("notes ENDSWITH[c] 'PARIS'"))
        try discs.expect("B", Disc.matching("notes LIKE 'e?e'"))
        try discs.expect("D", Disc.matching("notes MATCHES '[0-9]+%.*'"))
        try discs.expect("B", Disc.matching("isLive == 1 AND format == 'cd'"))
        try discs.expect("AE", Disc.matching("NOT (isLive == TRUE OR format == 'cd')"))
        try discs.expect("AE", Disc.matching("!(isLive == TRUE || format == 'cd') && copies > 0"))
        try discs.expect("ABD", Disc.matching("title == 'A' OR isLive == TRUE AND copies < 5"))
        try discs.expect("B", Disc.matching("isLive == TRUE").where { $0.rating == nil })
        try discs.expect("C", Disc.matching("copies / 2 == 3 AND uppercase(title) == 'C'"))
        try discs.expect("AD", Disc.matching("year(released) == 2001"))
    }

    @Test(arguments: Engine.allCases) func relationships(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let (ash, bee, rock) = (discs.ash, discs.bee, discs.rock)
        try discs.expect("ADE", Disc.matching("label.country == 'NO'"))
        try discs.expect("AB", Disc.matching("band = %@", ash))
        try discs.expect("AB", Disc.matching("band = %@", ash.id))
        try discs.expect("ABC", Disc.matching("band IN %@", [ash, bee]))
        try discs.expect("B", Disc.matching("label = %@", "Two"))
        try discs.expect("C", Disc.matching("label = nil"))
        try discs.expect("A", Disc.matching("SELF = %@", 1))
        try discs.expect("D", Disc.matching("ANY pieces.seconds > 250"))
        try discs.expect("ACD", Disc.matching("ALL pieces.seconds >= 100"))
        try discs.expect("BCE", Disc.matching("NONE pieces.seconds == 200"))
        try discs.expect("", Disc.matching("ANY (pieces.seconds == 100 AND pieces.title ENDSWITH '1')"))
        try discs.expect("ABD", Disc.matching("tags CONTAINS %@", rock))
        try discs.expect("ABD", Disc.matching("%@ IN tags", rock))
        try discs.expect("D", Disc.matching("pieces.@count > 2"))
        try discs.expect("AD", Disc.matching("pieces.@sum.seconds > 250"))
        try discs.expect("A", Disc.matching("pieces.@avg.seconds == 150"))
        try discs.expect("AD", Disc.matching("pieces.seconds.@max >= 200"))
        try discs.expect("B", Disc.matching("pieces.@min.seconds == 50"))
        try discs.expect("A", Disc.matching("band.name == %@ AND ANY tags.word BEGINSWITH %@", "Ash", "l"))
    }

    @Test(arguments: Engine.allCases) func anArgumentOfAnotherEntityIsRefused(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let (ash, oslo, rock) = (discs.ash, City(name: "Oslo"), Label(name: "rock"))
        func expectRefused(
            _ query: Query<Disc>, _ wanted: String, _ given: String, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let error = thrown { try discs.store.count(query) }
            #expect(error?.kind == "predicateFormat", sourceLocation: sourceLocation)
            #expect(
                error?.description.contains("expected an object of \(wanted) or its key, not one of \(given)") == true,
                "\(error as Any)", sourceLocation: sourceLocation)
        }
        expectRefused(Disc.matching("band == %@", oslo), "Band", "City")
        expectRefused(Disc.matching("band != (%@)", oslo), "Band", "City")
        expectRefused(Disc.matching("band == %@", ToOne(oslo)), "Band", "City")
        expectRefused(Disc.matching("band == %@", ToOne<City>(id: "Oslo")), "Band", "City")
        expectRefused(Disc.matching("band IN %@", [oslo]), "Band", "City")
        expectRefused(Disc.matching("band IN {%@, %@}", ash, oslo), "Band", "City")
        expectRefused(Disc.matching("band == %@", ID<Sleeve>()), "Band", "Sleeve")
        expectRefused(Disc.matching("band IN %@", [ID<Sleeve>()]), "Band", "Sleeve")
        expectRefused(Disc.matching("band.id == %@", ID<Sleeve>()), "Band", "Sleeve")
        expectRefused(Disc.matching("band.id IN %@", [ID<Sleeve>()]), "Band", "Sleeve")
        expectRefused(Disc.matching("tags CONTAINS %@", rock), "Keyword", "Label")
        expectRefused(Disc.matching("%@ IN tags", rock), "Keyword", "Label")
        expectRefused(Disc.matching("ANY tags == %@", rock), "Keyword", "Label")
        expectRefused(
            Disc.matching("SELF == %@", Piece(id: 1, title: "p", seconds: 1, disc: .unset)), "Disc", "Piece")
        let mixed: [any PredicateArgumentConvertible] = [ash, oslo]
        let error = thrown { try discs.store.count(Disc.matching("band IN %@", mixed)) }
        #expect(error?.description.contains("objects of Band and of City") == true, "\(error as Any)")
        try discs.expect("AB", Disc.matching("band.id == %@", ash.id))
        try discs.expect("AB", Disc.matching("band.id == %@", ash))
        try discs.expect("AB", Disc.matching("band IN %@", [ash.id]))
        try discs.expect("AB", Disc.matching("band == %@", ToOne(ash)))
        try discs.expect("AB", Disc.matching("band.origin == %@", oslo))
        try discs.expect("C", Disc.matching("label == %@", nil as ToOne<Label>?))
        // An object without a key doesn't stand for an unset link.
        let new = ToOne(Disc(title: "new", band: .unset))
        #expect(thrown { try discs.store.count(Piece.matching("disc == %@", new)) }?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func quantifiersBeforeArraysGetAHint(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Consignment.self)
        for text in ["ANY labels == 'x'", "NONE labels CONTAINS 'x'", "ANY labels IN {'x'}", "ANY labels == 3"] {
            let error = thrown { try store.count(Consignment.matching(text)) }
            #expect(
                error?.description.contains("labels is an attribute: write labels CONTAINS 'x'") == true,
                "\(text): \(error as Any)")
        }
        // Compared one by one, an array would equal none of a list.
        for text in ["labels == {'x', 'y'}", "labels != {}", "{'x'} == labels"] {
            let error = thrown { try store.count(Consignment.matching(text)) }
            #expect(error?.description.contains("write labels CONTAINS 'x'") == true, "\(text): \(error as Any)")
        }
        #expect(thrown { try store.count(Consignment.matching("labels == %@", ["x"])) }?.kind == "predicateFormat")
    }

    @Test(
        arguments: Engine.allCases,
        [
            ("titel == 'A'", 1), ("title == 'A' AND copis > 1", 18), ("title ==", 9), ("title == 'A", 10),
            ("label.land == 'NO'", 7), ("pieces.seconds > 1", 1), ("(copies > 1", 12), ("copies > 'many'", 10),
            ("copies ~ 1", 8), ("ANY title == 'A'", 1), ("title == %@", 10), ("pieces.@middle.seconds > 1", 8),
        ])
    func errorsPointAtTheirColumn(_ engine: Engine, _ mistake: (text: String, column: Int)) throws {
        let (text, column) = mistake
        let store = try Discs(engine).store
        let error = thrown { try store.fetch(Disc.matching(text)) }
        guard case .predicateFormat(text, let found, let message)? = error else {
            Issue.record("\(text): \(String(describing: error))")
            return
        }
        #expect(found == column, "\(message)")
    }
}
