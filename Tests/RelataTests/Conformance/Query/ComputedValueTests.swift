import Foundation
import Relata
import Testing

/// A computed value may be too large for its type, or unset: the error is about the computation, not the store.
@Suite struct ComputedValueTests {
    @Test(arguments: Engine.embedded) func updatesToTooLargeResultsAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        let samples = [Sample(int: .max, int8: 100, uint8: 3), Sample(int: 1, int8: 1, uint8: 9)]
        try store.insert(samples)
        try store.write { tx in
            try tx.insert(Sample(int8: -1))
            guard
                case .validation(let failures)? = thrown({
                    try tx.update(Sample.all) { $0.int8.set(to: $0.int8 * 100) }
                })
            else {
                Issue.record("no validation")
                return
            }
            #expect(failures.map(\.property) == ["int8"] && failures[0].entity == "Sample")
            let key = samples[0].id.databaseValue
            #expect(failures[0].key?.values == [key])
            #expect(failures[0].message.contains("10000") && failures[0].message.contains("Int8"))
        }
        // Only the update was undone.
        #expect(try Set(store.fetch(Sample.all).map(\.int8)) == [100, 1, -1])
        #expect(thrown { try store.update(Sample.all) { $0.uint8.set(to: $0.uint8 - 5) } }?.failures.first == "uint8")
        #expect(thrown { try store.update(Sample.all) { $0.int.set(to: $0.int + 1) } }?.failures == ["int"])
        #expect(try store.update(Sample.all) { $0.int8.set(to: $0.int8 - 1) } == 3)
        #expect(try Set(store.fetch(Sample.all).map(\.int8)) == [99, 0, -2])
    }

    @Test(arguments: Engine.allCases) func tooLargeResultsAreErrorsOfTheQuery(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        try store.insert(Sample(int: .max, int8: 100))
        let errors = [
            thrown { try store.value(of: Sample.all) { ($0.int8 * 100).maximum() } },
            thrown { try store.fetch(Sample.all.select { ($0.id, $0.int8 + 100) }) },
            thrown { try store.fetch(Sample.all.select { $0.int + 1 }) },
            thrown { try store.fetch(MoreOfSample.all) },
        ]
        #expect(errors.map { $0?.kind } == ["invalidUse", "invalidUse", "invalidUse", "invalidUse"])
        #expect(errors[0]?.description.contains("10000 doesn't fit") == true)
        #expect(errors[3]?.description.contains("Sample.more") == true)
        #expect(try store.value(of: Sample.all) { ($0.int8 + 27).maximum() } == 127)
    }

    @Test(arguments: Engine.allCases) func invalidStoredValuesAreErrorsOfTheStore(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        try store.insert(Sample(int16: 5))
        try store.execute(#"UPDATE "Sample" SET "int8" = 300"#)
        let errors = [
            thrown { try store.fetch(Sample.all.select { $0.int8 }) },
            thrown { try store.value(of: Sample.all) { $0.int8.maximum() } },
            thrown { try store.fetch(PlainSample.all) },
        ]
        #expect(errors.map { $0?.kind } == ["corruptStore", "corruptStore", "corruptStore"])
        // An update of other columns doesn't read it.
        #expect(try store.update(Sample.all) { $0.int16.set(to: $0.int16 + 1) } == 1)
    }

    @Test(arguments: Engine.allCases) func anUpdateToAnUnsetResultIsRefused(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let store = discs.store
        let error = thrown { try store.update(Disc.all) { $0.copies.set(to: 6 / $0.copies) } }
        #expect(error?.failures == ["copies"])
        #expect(error?.description.contains(".or(") == true)
        // Values behind an unset to-one.
        #expect(thrown { try store.update(Disc.all) { $0.title.set(to: $0.label.name) } }?.failures == ["title"])
        try discs.expect("A", Disc.where { $0.copies == 10 })
        #expect(try store.update(Disc.all) { $0.copies.set(to: (6 / $0.copies).or(-1)) } == 5)
        #expect(try store.fetch(Disc.sorted { $0.title }.select { $0.copies }) == [0, -1, 0, -2, 2])
    }

    @Test(arguments: Engine.allCases) func integersCompareWithFractions(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        try store.insert([
            Sample(int: 3, uint8: 2, float: 0.5, double: 1.25, decimal: Decimal(string: "9.99") ?? 0),
            Sample(int: 7, uint8: 4, float: 2, double: 4, decimal: Decimal(string: "0.1") ?? 0),
        ])
        #expect(try store.value(of: Sample.all) { ($0.decimal * $0.int).sum() } == Decimal(string: "30.67"))
        let rows = try store.fetch(
            Sample.sorted { $0.int }.select {
                (
                    $0.int * $0.decimal, $0.decimal / $0.uint8, $0.double * $0.int, $0.float * $0.uint8,
                    $0.double / $0.int
                )
            })
        #expect(rows.map(\.0) == [Decimal(string: "29.97"), Decimal(string: "0.7")])
        #expect(rows.map(\.1) == [Decimal(string: "4.995"), Decimal(string: "0.025")])
        #expect(rows.map(\.2) == [3.75, 28])
        #expect(rows.map(\.3) == [1, 8])
        let quotients: [Double] = [1.25 / 3, 4.0 / 7]
        #expect(rows.map(\.4) == quotients)
        let converted = try store.fetch(
            Sample.sorted { $0.int }.select { ($0.int.double / 2, $0.decimal + $0.uint8.decimal, $0.int / 2) })
        #expect(converted.map(\.0) == [1.5, 3.5])
        #expect(converted.map(\.2) == [1, 3])
        #expect(converted.map(\.1) == [Decimal(string: "11.99"), Decimal(string: "4.1")])
        #expect(try store.count(Sample.where { $0.decimal * $0.int > 29 && $0.int.decimal == 3 }) == 1)
        #expect(try store.update(Sample.all) { $0.decimal.set(to: $0.decimal * $0.int) } == 2)
        #expect(try store.count(Sample.where { $0.decimal == 0.7 }) == 1)
    }

    @Test(arguments: Engine.allCases) func aConstantMayComeFirst(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("A", Disc.where { 20 - $0.copies == 10 })
        try discs.expect("AC", Disc.where { 1 + $0.copies > 4 })
        try discs.expect("BDE", Disc.where { 2 * $0.copies < 7 })
        try discs.expect("E", Disc.where { 7 % $0.copies == 1 && 7 / $0.copies == 2 })
        try discs.expect("AD", Disc.where { 0.5 * $0.rating.or(0) == 2.25 })
    }

    @Test(arguments: Engine.allCases) func optionalAttributesAcceptRequiredValues(_ engine: Engine) throws {
        let discs = try Discs(engine)
        #expect(try discs.store.update(Disc.all) { $0.rating.set(to: $0.rating.or(1) * 2) } == 5)
        let ratings: [Double?] = try discs.store.fetch(Disc.sorted { $0.title }.select { $0.rating })
        #expect(ratings == [9, 2, 6, 9, 2])
    }
}

@Shape(of: Sample.self) struct MoreOfSample {
    var more: Int8
    static let more = from { $0.int8 + 100 }
}

@Shape(of: Sample.self) struct PlainSample { var int8: Int8 }
