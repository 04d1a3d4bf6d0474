import Foundation
import Relata
import Testing

/// Members of `Codable` values and elements of arrays, which a column holds as JSON.
@Suite struct StoredCollectionTests {
    private func parcels(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(engine, for: Consignment.self)
        let day = Date(timeIntervalSince1970: 86_400)
        try store.save([
            Consignment(
                id: 1, seal: Data(), labels: ["new", "a\"b"], codes: [1, 2],
                address: .init(city: "Oslo", number: 5, place: .init(latitude: 59.9), isFar: true, since: day),
                stops: [.init(city: "Bergen", number: 1), .init(city: "Voss", number: 30, kind: .work)]),
            Consignment(
                id: 2, seal: Data(), labels: ["5", "ä"], codes: [5], stamps: ["s"],
                address: .init(city: "Lima", kind: .work), stops: [.init(city: "Bergen", number: 30)]),
            Consignment(id: 3, seal: Data()),
        ])
        return store
    }

    private func ids(_ store: Store, _ query: Query<Consignment>) throws -> [Int] {
        try store.fetch(query.sorted { $0.id }).map(\.id)
    }

    @Test(arguments: Engine.embedded) func membersAreReadByName(_ engine: Engine) throws {
        let store = try parcels(engine)
        let city: @Sendable (Consignment.Fields) -> TypedExpression<String?> = {
            $0.address.member("town", as: String.self)
        }
        #expect(try ids(store, Consignment.where { city($0) == "Oslo" }) == [1])
        #expect(try ids(store, Consignment.where { city($0) != "Oslo" }) == [2, 3])
        #expect(try ids(store, Consignment.where { city($0) == nil }) == [3])
        #expect(try ids(store, Consignment.where { city($0).hasPrefix("Li") }) == [2])
        #expect(try ids(store, Consignment.where { city($0).in(["Lima", "Oslo"]) }) == [1, 2])
        #expect(try ids(store, Consignment.where { $0.address.member("number", as: Int.self) > 4 }) == [1])
        #expect(try ids(store, Consignment.where { $0.address.member("number", as: Int.self) ?? 0 == 0 }) == [2, 3])
        #expect(
            try ids(store, Consignment.where { $0.address.member("kind", as: Consignment.Address.Kind.self) == .work })
                == [2])
        #expect(try ids(store, Consignment.where { $0.address.member("isFar", as: Bool.self) == true }) == [1])
        #expect(
            try ids(store, Consignment.where { $0.address.member("place", "latitude", as: Double.self) > 50 }) == [1])
        let day = Date(timeIntervalSince1970: 86_400)
        #expect(try ids(store, Consignment.where { $0.address.member("since", as: Date.self) == day }) == [1])
        let place = Consignment.Address.Place(latitude: 59.9)
        #expect(
            try ids(
                store, Consignment.where { $0.address.member("place", as: Consignment.Address.Place.self) == place })
                == [1])
        // A member of another type, or with another name, is unset.
        #expect(try ids(store, Consignment.where { $0.address.member("town", as: Int.self) != nil }) == [])
        #expect(try ids(store, Consignment.where { $0.address.member("city", as: String.self) != nil }) == [])
        let rows = try store.fetch(
            Consignment.sorted { $0.id }.select {
                (
                    city($0), $0.address.member("number", as: Int.self), $0.address.member("since", as: Date.self),
                    $0.address.member("place", as: Consignment.Address.Place.self)
                )
            })
        #expect(rows.map(\.0) == ["Oslo", "Lima", nil] && rows.map(\.1) == [5, nil, nil])
        #expect(rows.map(\.2) == [day, nil, nil] && rows.map(\.3) == [place, nil, nil])
        #expect(try store.fetch(Consignment.sorted { city($0).descending }).map(\.id) == [1, 2, 3])
        #expect(try ids(store, Consignment.matching("address.town == 'Oslo'")) == [1])
        #expect(try ids(store, Consignment.matching("address.place.latitude > 50 AND address.isFar == TRUE")) == [1])
        #expect(try ids(store, Consignment.matching("address.town == nil")) == [3])
        #expect(try ids(store, Consignment.matching("address.town BEGINSWITH[c] 'li'")) == [2])
        let error = thrown { try store.fetch(Consignment.where { $0.sender.member("x", as: String.self) == "" }) }
        #expect(error?.description.contains("only a value that is stored as JSON has members") == true)
        let quoted = thrown { try store.fetch(Consignment.where { $0.address.member("a\"b", as: String.self) == "" }) }
        #expect(quoted?.kind == "invalidUse")
    }

    @Test(arguments: Engine.embedded) func elementsAreFoundInArraysAndSets(_ engine: Engine) throws {
        let store = try parcels(engine)
        #expect(try ids(store, Consignment.where { $0.labels.contains("new") }) == [1])
        #expect(try ids(store, Consignment.where { !$0.labels.contains("new") }) == [2, 3])
        #expect(try ids(store, Consignment.where { $0.labels.contains("a\"b") }) == [1])
        #expect(try ids(store, Consignment.where { $0.labels.contains("ä") }) == [2])
        #expect(try ids(store, Consignment.where { $0.labels.contains("") }) == [])
        #expect(try ids(store, Consignment.where { $0.codes.contains(5) || $0.codes.contains(1) }) == [1, 2])
        #expect(try ids(store, Consignment.where { $0.stamps.contains("s") }) == [2])
        #expect(try ids(store, Consignment.where { $0.labels.count == 2 }) == [1, 2])
        #expect(try ids(store, Consignment.where { $0.stamps.count.optional == nil }) == [1, 3])
        #expect(try ids(store, Consignment.where { $0.stops.contains(.init(city: "Bergen", number: 30)) }) == [2])
        #expect(try ids(store, Consignment.where { $0.labels.contains { $0.hasPrefix("n") } }) == [1])
        #expect(try ids(store, Consignment.where { $0.codes.contains { $0 > 2 } }) == [2])
        // Both conditions are about one element.
        #expect(
            try ids(
                store,
                Consignment.where {
                    $0.stops.contains {
                        $0.member("town", as: String.self) == "Bergen" && $0.member("number", as: Int.self) > 10
                    }
                }) == [2])
        // A condition within a condition knows the elements of both.
        #expect(
            try ids(
                store,
                Consignment.where { parcel in
                    parcel.labels.contains { label in parcel.labels.contains { other in other > label && label == "5" }
                    }
                }) == [2])
        #expect(
            try ids(
                store, Consignment.where { parcel in parcel.codes.contains { code in code > parcel.codes.count } }) == [
                    2
                ])
        #expect(try ids(store, Consignment.matching("labels CONTAINS %@", "new")) == [1])
        #expect(try ids(store, Consignment.matching("'new' IN labels")) == [1])
        #expect(try ids(store, Consignment.matching("codes CONTAINS 5 OR 1 IN codes")) == [1, 2])
        #expect(try ids(store, Consignment.matching("labels.@count > 1")) == [1, 2])
        #expect(try ids(store, Consignment.matching("stops.town == nil")) == [1, 2, 3])
    }
}
