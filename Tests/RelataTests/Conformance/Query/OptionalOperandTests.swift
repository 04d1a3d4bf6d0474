import Foundation
import Relata
import Testing

/// Values that may be unset: replacing them, and comparing them with values that are always set.
@Suite struct OptionalOperandTests {
    @Test(arguments: Engine.allCases) func unsetValuesAreReplaced(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("BC", Disc.where { ($0.rating ?? 3) == 3 })
        try discs.expect("BC", Disc.where { $0.rating ?? 3 == 3 })
        try discs.expect("C", Disc.where { $0.notes ?? $0.title == "C" })
        try discs.expect("C", Disc.where { $0.notes ?? ($0.label.country ?? "none") == "none" })
        try discs.expect("BC", Disc.where { $0.label.country ?? "none" == "none" })
        try discs.expect("C", Disc.where { $0.label.name ?? "none" == "none" })
        try discs.expect(
            "C", Disc.where { $0.released ?? Discs.date("1900-01-01T00:00:00Z") < Discs.date("1950-01-01T00:00:00Z") })
        try discs.expect("BC", Disc.matching("rating ?? 3 == 3"))
        try discs.expect("C", Disc.matching("notes ?? label.country ?? 'none' == 'none'"))
        try discs.expect("C", Disc.matching("label.name ?? 'none' == 'none'"))
        let notes: [String] = try discs.store.fetch(Disc.sorted { $0.title }.select { $0.notes ?? $0.title })
        #expect(notes == ["Été à Paris", "ete", "C", "100% Paris_x*", ""])
        let countries: [String?] = try discs.store.fetch(
            Disc.sorted { $0.title }.select { $0.label.country ?? $0.notes })
        #expect(countries == ["NO", "ete", nil, "NO", "NO"])
        let sorted = try discs.store.fetch(
            Disc.sorted {
                ($0.rating ?? 9).descending; $0.title
            })
        #expect(sorted.map(\.title) == ["B", "A", "D", "C", "E"])
    }

    @Test(arguments: Engine.allCases) func valuesThatMayBeUnsetAreComparedWithOthers(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.store.update(Disc.where { $0.title == "B" }) { $0.notes.set(to: "B") }
        try discs.expect("B", Disc.where { $0.title == $0.notes })
        try discs.expect("B", Disc.where { $0.notes == $0.title })
        try discs.expect("ACDE", Disc.where { $0.title != $0.notes })
        try discs.expect("ACDE", Disc.where { $0.notes != $0.title })
        // By bytes: É comes after all of ASCII.
        try discs.expect("A", Disc.where { $0.title < $0.notes })
        try discs.expect("AB", Disc.where { $0.notes >= $0.title })
        try discs.expect("DE", Disc.where { $0.title > $0.notes })
        try discs.expect("BDE", Disc.where { $0.notes <= $0.title })
        try discs.expect("BDE", Disc.where { $0.title >= $0.notes })
        try discs.expect("A", Disc.where { $0.notes > $0.title })
        try discs.expect("DE", Disc.where { $0.notes < $0.title })
        try discs.expect("AB", Disc.where { $0.title <= $0.notes })
    }

    @Test(arguments: Engine.allCases) func emptyIsNotUnset(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("E", Disc.where { $0.notes.isEmpty })
        try discs.expect("ABCD", Disc.where { !$0.notes.isEmpty })
        try discs.expect("", Disc.where { $0.title.isEmpty })
        try discs.expect("C", Disc.where { $0.pieces.isEmpty })
        try discs.expect("E", Disc.matching("notes == ''"))
        let store = try TestStore.make(engine, for: Consignment.self)
        try store.save([
            Consignment(id: 1, seal: Data(), labels: [], codes: [], counts: [:]),
            Consignment(id: 2, seal: Data([1]), labels: ["a"], codes: [1], counts: ["a": 1], stamps: []),
            Consignment(id: 3, seal: Data([0]), labels: [""], codes: [0], counts: ["": 0], stamps: ["x"]),
        ])
        #expect(try store.fetch(Consignment.where { $0.seal.isEmpty }).map(\.id) == [1])
        #expect(try store.fetch(Consignment.where { $0.labels.isEmpty }).map(\.id) == [1])
        #expect(try store.fetch(Consignment.where { $0.codes.isEmpty }).map(\.id) == [1])
        #expect(try store.fetch(Consignment.where { $0.counts.isEmpty }).map(\.id) == [1])
        #expect(try store.fetch(Consignment.where { $0.stamps.isEmpty }).map(\.id) == [2])
        #expect(try store.fetch(Consignment.where { !$0.stamps.isEmpty }.sorted { $0.id }).map(\.id) == [1, 3])
        #expect(try store.fetch(Consignment.matching("labels.@count == 0")).map(\.id) == [1])
        // Another program may write JSON with white space.
        try store.write { tx in
            _ = try tx.execute(#"UPDATE "Consignment" SET "labels" = ' [ ] ', "counts" = '{ }' WHERE "id" = 3"#)
        }
        #expect(try store.count(Consignment.where { $0.labels.isEmpty && $0.counts.isEmpty }) == 2)
    }
}

@Model struct Consignment {
    #Index<Consignment>([\.sender])
    @Attribute(.primaryKey) let id: Int
    var seal: Data
    var labels: [String] = []
    var codes: Set<Int> = []
    var counts: [String: Int] = [:]
    var stamps: [String]?
    var sender: String?
    var address: Address?
    var stops: [Address] = []

    struct Address: Codable, Hashable, Sendable {
        var city: String
        var number: Int?
        var kind: Kind = .home
        var place: Place?
        var isFar: Bool = false
        var since: Date?

        enum Kind: String, Codable { case home, work }
        struct Place: Codable, Hashable, Sendable { var latitude: Double }
        enum CodingKeys: String, CodingKey {
            case city = "town"
            case number, kind, place, isFar, since
        }
    }
}
