import Foundation
import Relata
import Testing

/// Members of `Codable` values by their properties.
@Suite struct StoredMemberTests {
    private func showrooms(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(engine, for: Showroom.self)
        let oslo = Showroom.Address(city: "Oslo", number: 5, country: .init(code: "NO", tax: 25))
        let lima = Showroom.Address(
            city: "Lima", country: .init(code: "PE"), kind: .home, former: .init(code: "ES", tax: 21))
        try store.save([
            Showroom(id: 1, address: oslo, postal: lima, visits: [oslo]),
            Showroom(id: 2, address: lima, postal: oslo, visits: [oslo, lima]),
            Showroom(id: 3, address: .init(city: "Cusco", number: 30, country: .init(code: "PE", tax: 18))),
        ])
        return store
    }

    private func ids(_ store: Store, _ query: Query<Showroom>) throws -> [Int] {
        try store.fetch(query.sorted { $0.id }).map(\.id)
    }

    @Test(arguments: Engine.allCases) func propertiesOfAValueAreItsMembers(_ engine: Engine) throws {
        let store = try showrooms(engine)
        #expect(try ids(store, Showroom.where { $0.address.city == "Oslo" }) == [1])
        #expect(try ids(store, Showroom.where { $0.address.city != "Oslo" }) == [2, 3])
        #expect(try ids(store, Showroom.where { $0.address.city.in(["Oslo", "Cusco"]) }) == [1, 3])
        #expect(try ids(store, Showroom.where { $0.address.number > 4 && $0.address.city.hasPrefix("C") }) == [3])
        #expect(try ids(store, Showroom.where { $0.address.number == nil }) == [2])
        #expect(try ids(store, Showroom.where { $0.address.number ?? 0 == 0 }) == [2])
        #expect(try ids(store, Showroom.where { $0.address.kind == .home }) == [2])
        #expect(try ids(store, Showroom.where { $0.address.country.code == "PE" }) == [2, 3])
        #expect(try ids(store, Showroom.where { $0.address.country.tax > 20 }) == [1])
        #expect(try ids(store, Showroom.where { $0.address.former.tax > 20 }) == [2])
        #expect(try ids(store, Showroom.where { $0.address.former == nil }) == [1, 3])
    }

    @Test(arguments: Engine.allCases) func membersOfOptionalValuesAreOptional(_ engine: Engine) throws {
        let store = try showrooms(engine)
        #expect(try ids(store, Showroom.where { $0.postal.city == "Oslo" }) == [2])
        #expect(try ids(store, Showroom.where { $0.postal.city == nil }) == [3])
        #expect(try ids(store, Showroom.where { $0.postal.country.code != "NO" }) == [1, 3])
        #expect(try ids(store, Showroom.where { $0.postal.former.code == "ES" }) == [1])
        #expect(try ids(store, Showroom.where { $0.postal.number == 5 }) == [2])
    }

    @Test(arguments: Engine.allCases) func elementsHaveMembers(_ engine: Engine) throws {
        let store = try showrooms(engine)
        #expect(try ids(store, Showroom.where { $0.visits.contains { $0.city == "Lima" } }) == [2])
        #expect(
            try ids(store, Showroom.where { $0.visits.contains { $0.country.code == "NO" && $0.number == 5 } }) == [
                1, 2,
            ])
        #expect(
            try ids(store, Showroom.where { $0.visits.contains { $0.country.code == "PE" && $0.number == 5 } }) == [])
    }

    @Test(arguments: Engine.allCases) func membersCanBeSortedSelectedAndGrouped(_ engine: Engine) throws {
        let store = try showrooms(engine)
        #expect(try store.fetch(Showroom.sorted { $0.address.city }).map(\.id) == [3, 2, 1])
        #expect(try store.fetch(Showroom.sorted { $0.address.city.descending }).map(\.id) == [1, 2, 3])
        let rows = try store.fetch(Showroom.sorted { $0.id }.select { ($0.address.country.code, $0.postal.city) })
        #expect(rows.map(\.0) == ["NO", "PE", "PE"])
        #expect(rows.map(\.1) == ["Lima", "Oslo", nil])
    }

    /// The name of a property isn't a name in JSON for certain: nothing would be found under it, or something else.
    @Test(arguments: Engine.first) func ambiguousPropertyNamesAreErrors(_ engine: Engine) throws {
        let store = try showrooms(engine)
        func message(_ query: Query<Showroom>) throws -> String {
            let error = try #require(thrown { try store.fetch(query) })
            #expect(error.kind == "invalidUse")
            return error.description
        }
        let computed = try message(Showroom.where { $0.address.label == "x" })
        #expect(computed.contains("the String of Address is computed") && computed.contains("as: String.self"))
        let renamed = try message(Showroom.where { $0.renamed.city == "x" })
        #expect(renamed.contains("'city' of Renamed may have another name in JSON"))
        #expect(renamed.contains("'.member(\"name in JSON\", as: String.self)'"))
        #expect(try ids(store, Showroom.where { $0.renamed.member("town", as: String.self) == "x" }) == [1, 2, 3])
        #expect(try message(Showroom.where { $0.address.cache == 1 }).contains("'cache' of Address has no coding key"))
        #expect(try message(Showroom.sorted { $0.open.city }).contains("coding keys aren't an enum"))
        #expect(
            try message(Showroom.where { $0.single.number == 1 }).contains("'number' of Single has no name in JSON"))
        #expect(try message(Showroom.where { !($0.visits.contains { $0.label == "x" }) }).contains("computed"))
        // Swift describes the key path of each by the name of the first. Each has its own error type.
        #expect(try message(Showroom.where { $0.versioned.version == .first }).contains("as: Version.self"))
        #expect(try message(Showroom.where { $0.versioned.city == "x" }).contains("as: String.self"))
        #expect(try message(Showroom.where { $0.versioned.city == "x" }).contains("next to a property without a size"))
        #expect(try ids(store, Showroom.where { $0.versioned.rank == 7 }) == [1, 2, 3])
        #expect(try message(Showroom.where { $0.kind.rawValue == "work" }).contains("the String of Kind is computed"))
    }
}

@Model struct Showroom {
    @Attribute(.primaryKey) let id: Int
    var address: Address
    var postal: Address?
    var visits: [Address] = []
    var renamed: Renamed = Renamed()
    var open: Open = Open()
    var single: Single = Single()
    var versioned: Versioned = Versioned()
    var kind: Address.Kind = Address.Kind.work

    struct Address: Codable, Hashable, Sendable {
        var city: String
        var number: Int?
        var country: Country
        var kind: Kind = .work
        var former: Country?
        var cache = 0
        var label: String { city + country.code }

        enum Kind: String, Codable { case home, work }
        enum CodingKeys: CodingKey { case city, number, country, kind, former }
    }

    struct Country: Codable, Hashable, Sendable {
        var code: String
        var tax: Int?
    }

    struct Renamed: Codable, Hashable, Sendable {
        var city = "x"
        enum CodingKeys: String, CodingKey { case city = "town" }
    }

    /// Its keys may have any name.
    struct Open: Codable, Hashable, Sendable {
        var city = "x"

        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init() {}
        init(from decoder: any Decoder) throws {
            city = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: Key(stringValue: "town"))
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(city, forKey: Key(stringValue: "town"))
        }
    }

    /// Its version has no size in memory, so the city begins at the same offset.
    struct Versioned: Codable, Hashable, Sendable {
        enum Version: String, Codable { case first }
        var version = Version.first
        var city = "Rome"
        var rank = 7
    }

    /// A number in JSON, without members.
    struct Single: Codable, Hashable, Sendable {
        var number = 1

        init() {}
        init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(number)
        }
    }
}
