import Foundation
import Relata
import Testing

enum Color: String, Sendable, CaseIterable { case red, green, blue }
enum Level: Int, Sendable { case low = -1, high = 9 }
struct Place: Codable, Sendable, Equatable, Hashable {
    var latitude: Double
    var label: String?
    var tags: [String] = []
}

@Model struct Sample {
    let id: ID<Sample>
    var flag: Bool = false
    var int: Int = 0
    var int8: Int8 = 0
    var int16: Int16 = 0
    var int32: Int32 = 0
    var int64: Int64 = 0
    var uint: UInt = 0
    var uint8: UInt8 = 0
    var uint16: UInt16 = 0
    var uint32: UInt32 = 0
    var uint64: UInt64 = 0
    var float: Float = 0
    var double: Double = 0
    var decimal: Decimal = 0
    var string: String = ""
    var date: Date = Date(timeIntervalSince1970: 0)
    @Attribute(.iso8601) var isoDate: Date = Date(timeIntervalSince1970: 0)
    @Attribute(.seconds) var secondsDate: Date = Date(timeIntervalSince1970: 0)
    var data: Data = Data()
    var uuid: UUID = UUID()
    @Attribute(.text) var textUUID: UUID = UUID()
}

@Model struct RichSample {
    let id: ID<RichSample>
    var url: URL = URL(filePath: "/")
    var color: Color = .red
    var level: Level = .low
    var place: Place = Place(latitude: 0)
    var places: [Place] = []
    var numbers: Set<Int> = []
    var scores: [String: Double] = [:]
    var matrix: [[Int]] = []
    var marks: [UUID: Int] = [:]
}

@Model struct OptionalSample {
    let id: ID<OptionalSample>
    var flag: Bool?
    var int: Int?
    var uint8: UInt8?
    var uint64: UInt64?
    var float: Float?
    var double: Double?
    var decimal: Decimal?
    var string: String?
    var date: Date?
    @Attribute(.iso8601) var isoDate: Date?
    var data: Data?
    var uuid: UUID?
    @Attribute(.text) var textUUID: UUID?
    var url: URL?
    var color: Color?
    var level: Level?
    var place: Place?
    var places: [Place]?
    var scores: [String: Double]?
    var numbers: Set<Int>?
}

/// Every type of attribute round-trips.
@Suite struct AttributeTests {
    private func stored<M: Model>(_ object: M, _ engine: Engine) throws -> M? {
        let store = try TestStore.make(engine, for: M.self)
        try store.insert(object)
        let key = try #require(object.primaryKey)
        return try store.fetch(M.self, id: key)
    }

    @Test(arguments: Engine.allCases) func integersKeepTheirLimits(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        let least = Sample(
            flag: false, int: .min, int8: .min, int16: .min, int32: .min, int64: .min, uint: .min, uint8: .min,
            uint16: .min, uint32: .min, uint64: .min)
        let greatest = Sample(
            flag: true, int: .max, int8: .max, int16: .max, int32: .max, int64: .max, uint: UInt(Int.max), uint8: .max,
            uint16: .max, uint32: .max, uint64: UInt64(Int64.max))
        try store.insert([least, greatest])
        #expect(try store.fetch(Sample.self, id: least.id) == least)
        #expect(try store.fetch(Sample.self, id: greatest.id) == greatest)
    }

    @Test(arguments: Engine.allCases, [Float.leastNonzeroMagnitude, -.greatestFiniteMagnitude, .infinity, -0.0, 0.1])
    func floatsRoundTrip(_ engine: Engine, _ number: Float) throws {
        let sample = Sample(float: number, double: Double(number))
        #expect(try stored(sample, engine) == sample)
    }

    @Test(arguments: Engine.allCases, [Double.leastNonzeroMagnitude, .greatestFiniteMagnitude, -.infinity, 0.1 + 0.2])
    func doublesRoundTripBitForBit(_ engine: Engine, _ number: Double) throws {
        #expect(try stored(Sample(double: number), engine)?.double.bitPattern == number.bitPattern)
    }

    @Test(
        arguments: Engine.allCases,
        [
            "0", "0.1", "-0.30000000000000000000000000000000000001", "99999999999999999999999999999999999999",
            "12345678901234567890.123456789012345678", "1e-120", "-7e120",
        ])
    func decimalsLoseNothing(_ engine: Engine, _ text: String) throws {
        let number = try #require(Decimal(string: text))
        #expect(try stored(Sample(decimal: number), engine)?.decimal == number)
        #expect(try stored(OptionalSample(decimal: number), engine)?.decimal == number)
    }

    @Test(
        arguments: Engine.embedded,
        ["", "a\0b\0", "👩‍👩‍👧‍👦 é e\u{301}", "'; DROP TABLE Sample; --", "\"", "\u{FEFF}line\r\n\u{2028}", "%_?*[a]"])
    func stringsRoundTrip(_ engine: Engine, _ text: String) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        let sample = try store.insert(Sample(string: text))
        let stored = try #require(try store.fetch(Sample.self, id: sample.id)?.string)
        #expect(Array(stored.utf8) == Array(text.utf8))
        #expect(try store.count(Sample.where { $0.string == text }) == 1)
    }

    @Test(
        arguments: Engine.allCases,
        [0, 1_700_000_000.123456, -1.000001, 253_402_300_799.999, -62_135_596_800, 4_102_444_800.5])
    func datesKeepMicroseconds(_ engine: Engine, _ seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let sample = Sample(date: date, isoDate: date, secondsDate: date)
        let back = try #require(try stored(sample, engine))
        let precision = max(0.000_000_51, seconds.magnitude.ulp * 2)
        #expect(abs(back.date.timeIntervalSince(date)) <= precision)
        #expect(abs(back.isoDate.timeIntervalSince(date)) <= precision)
        #expect(back.secondsDate == date)
        // A stored value never changes.
        let again = try #require(try stored(back, engine))
        #expect(again.date == back.date && again.isoDate == back.isoDate)
    }

    @Test(arguments: Engine.allCases) func bytesRoundTrip(_ engine: Engine) throws {
        let bytes = Data((0...255).map { UInt8($0) })
        let sample = Sample(data: bytes, uuid: UUID(), textUUID: UUID())
        #expect(try stored(sample, engine) == sample)
    }

    @Test(arguments: Engine.allCases) func emptyDataIsNotUnset(_ engine: Engine) throws {
        #expect(try stored(OptionalSample(data: Data()), engine)?.data == Data())
        #expect(try stored(OptionalSample(data: nil), engine)?.data == nil)
        #expect(try stored(OptionalSample(string: ""), engine)?.string == "")
        #expect(try stored(OptionalSample(places: []), engine)?.places == [])
        #expect(try stored(Sample(), engine)?.data == Data())
    }

    @Test(arguments: Engine.embedded) func enumsURLsAndCodableValuesRoundTrip(_ engine: Engine) throws {
        let places = [Place(latitude: 1.5, label: "a\0", tags: ["x"]), Place(latitude: -0.1)]
        let sample = RichSample(
            url: try #require(URL(string: "https://example.org/ü?q=1#f")), color: .blue, level: .high, place: places[0],
            places: places, numbers: [3, 1, 2], scores: ["a": 0.1, "": -1], matrix: [[], [1, 2]],
            marks: [UUID(): 1, UUID(): 2])
        #expect(try stored(sample, engine) == sample)
    }

    @Test(arguments: Engine.allCases) func equalSetsAreStoredEquallyAndFoundByEachOther(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: RichSample.self)
        // The same elements, in another order within the set.
        let small = Set(0..<60)
        var large = Set<Int>(minimumCapacity: 5000)
        for number in (0..<60).reversed() { large.insert(number) }
        #expect(small == large)
        try store.insert([RichSample(numbers: small), RichSample(numbers: large), RichSample(numbers: [1])])
        #expect(try store.count(RichSample.where { $0.numbers == small }) == 2)
        #expect(try store.count(RichSample.where { $0.numbers == large }) == 2)
        #expect(try store.fetch(RichSample.all.select { $0.numbers }.distinct).count == 2)
        #expect(try store.fetch(RichSample.where { $0.numbers == large }).allSatisfy { $0.numbers == small })
    }

    @Test(arguments: Engine.allCases) func equalDictionariesAreStoredEqually(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: RichSample.self)
        let keys = (0..<60).map { _ in UUID() }
        let small = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
        var large = [UUID: Int](minimumCapacity: 5000)
        for (number, key) in keys.enumerated().reversed() { large[key] = number }
        #expect(small == large)
        try store.insert([RichSample(marks: small), RichSample(marks: large), RichSample(marks: [keys[0]: 1])])
        #expect(try store.count(RichSample.where { $0.marks == small }) == 2)
        #expect(try store.fetch(RichSample.all.select { $0.marks }.distinct).count == 2)
        #expect(try store.fetch(RichSample.where { $0.marks == large }).allSatisfy { $0.marks == small })
    }

    @Test(arguments: Engine.allCases) func optionalsRoundTripSetAndUnset(_ engine: Engine) throws {
        let unset = OptionalSample()
        #expect(try stored(unset, engine) == unset)
        let set = OptionalSample(
            flag: true, int: -1, uint8: 255, uint64: 1, float: 0.5, double: 0.25, decimal: 1.1, string: "s",
            date: Date(timeIntervalSince1970: 1), isoDate: Date(timeIntervalSince1970: 2), data: Data([0]),
            uuid: UUID(),
            textUUID: UUID(), url: URL(string: "a:b"), color: .green, level: .low, place: Place(latitude: 1),
            places: [Place(latitude: 2)], scores: ["k": 1], numbers: [3, 1, 2])
        #expect(try stored(set, engine) == set)
        let empty = OptionalSample(places: [], scores: [:], numbers: [])
        #expect(try stored(empty, engine) == empty)
    }

    @Test(arguments: Engine.allCases) func largeCodableValuesRoundTrip(_ engine: Engine) throws {
        let scores = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("column \($0)", Double($0) / 3) })
        #expect(try stored(RichSample(scores: scores), engine)?.scores == scores)
    }

    @Test(arguments: Engine.allCases) func unstorableValuesAreRefusedByNameBeforeWriting(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self, OptionalSample.self)
        let tooLarge = UInt64(Int64.max) + 1
        for sample in [
            Sample(uint64: tooLarge), Sample(uint: .max), Sample(double: .nan), Sample(float: .nan),
            Sample(decimal: .nan), Sample(date: Date(timeIntervalSince1970: 1e30)),
        ] {
            let error = thrown { try store.insert([Sample(), sample]) }
            #expect(error?.kind == "validation")
            #expect(try store.count(Sample.all) == 0)
        }
        let error = try #require(thrown { try store.save(Sample(uint64: tooLarge)) })
        #expect(error.failures == ["uint64"])
        #expect("\(error)".contains("9223372036854775808"))
        let stored = try store.insert(OptionalSample(uint64: 1))
        #expect(thrown { try store.update(stored.id) { $0.uint64 = tooLarge } }?.failures == ["uint64"])
        var changed = stored
        changed.uint64 = tooLarge
        #expect(thrown { try store.update(changed) }?.failures == ["uint64"])
        #expect(thrown { try store.save(changed) }?.failures == ["uint64"])
        #expect(try store.refresh(stored).uint64 == 1)
    }

    @Test(arguments: Engine.allCases) func mismatchedRowsAreErrorsThatNameThem(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self, RichSample.self)
        let sample = try store.insert(Sample())
        try store.execute(#"UPDATE "Sample" SET "int8" = 300"#)
        let error = try #require(thrown { try store.fetch(Sample.self, id: sample.id) })
        #expect(error.kind == "corruptStore")
        #expect("\(error)".contains("Sample") && "\(error)".contains("int8") && "\(error)".contains("300"))
        try store.insert(RichSample())
        try store.execute(#"UPDATE "RichSample" SET "color" = 'violet'"#)
        #expect(thrown { try store.fetch(RichSample.all) }?.kind == "corruptStore")
    }
}
