import Relata
import RelataTesting
import Testing

/// Several relationships between the same two models, or of a model with itself: each is loaded and edited separately.
@Suite struct ParallelLinkTests {
    private static let codes = ["AMS", "BER", "CDG", "DUB", "EDI"]

    private static func flights(_ engine: Engine, _ recorder: StatementRecorder = StatementRecorder()) throws -> Store {
        let store = try TestStore.make(engine, for: Flight.self, options: recorder.options)
        try store.save(codes.map { Airport(code: $0) })
        var first = Flight(number: "1", origin: ToOne(id: "AMS"), destination: ToOne(id: "BER"))
        first.stops.set(ids: ["CDG", "DUB"])
        first.alternates.set(ids: ["EDI", "AMS", "DUB"])
        var second = Flight(number: "2", origin: ToOne(id: "BER"), destination: ToOne(id: "AMS"))
        second.stops.set(ids: ["DUB"])
        try store.save([first, second])
        return store
    }

    /// All links of the flight as text: origin, destination, stops and alternates.
    private static func links(_ number: String, _ store: Store) throws -> String {
        let query = Flight.where { $0.number == number }.including {
            $0.origin
            $0.destination
            $0.stops.sorted { $0.code }
            $0.alternates
        }
        let flight = try #require(try store.first(query))
        let lists = [try flight.stops.objects, try flight.alternates.objects].map {
            $0.map(\.code).joined(separator: " ")
        }
        return ([try flight.origin.object.code, try flight.destination.object.code] + lists).joined(separator: ", ")
    }

    @Test(arguments: Engine.allCases) func parallelLinksAreLoadedSeparately(_ engine: Engine) throws {
        let recorder = StatementRecorder()
        let store = try Self.flights(engine, recorder)
        let text = try recorder.expectQueries(5) { try Self.links("1", store) }
        #expect(text == "AMS, BER, CDG DUB, EDI AMS DUB")
        #expect(try Self.links("2", store) == "BER, AMS, DUB, ")
        // A link that isn't named stays unloaded.
        let flight = try #require(try store.first(Flight.sorted { $0.number }.including { $0.alternates }))
        #expect(try flight.alternates.objects.count == 3)
        #expect(!flight.stops.isLoaded && !flight.origin.isLoaded && !flight.destination.isLoaded)
    }

    @Test(arguments: Engine.allCases) func inversesOfParallelLinksAreLoadedSeparately(_ engine: Engine) throws {
        let recorder = StatementRecorder()
        let store = try Self.flights(engine, recorder)
        let airports = try recorder.expectQueries(4) {
            try store.fetch(
                Airport.sorted { $0.code }.including {
                    $0.departures
                    $0.arrivals
                    $0.stopovers.sorted { $0.number }
                })
        }
        #expect(try airports.map { try $0.departures.objects.map(\.number).joined() } == ["1", "2", "", "", ""])
        #expect(try airports.map { try $0.arrivals.objects.map(\.number).joined() } == ["2", "1", "", "", ""])
        #expect(try airports.map { try $0.stopovers.objects.map(\.number).joined() } == ["", "", "1", "12", ""])
    }

    @Test(arguments: Engine.allCases) func parallelLinksAreEditedSeparately(_ engine: Engine) throws {
        let store = try Self.flights(engine)
        try store.update(Flight.self, id: "1") { $0.stops.add(id: "EDI") }
        #expect(try Self.links("1", store) == "AMS, BER, CDG DUB EDI, EDI AMS DUB")
        try store.update(Flight.self, id: "1") { $0.alternates.remove(id: "DUB") }
        #expect(try Self.links("1", store) == "AMS, BER, CDG DUB EDI, EDI AMS")
        try store.update(Flight.self, id: "1") { $0.origin = ToOne(id: "DUB") }
        #expect(try Self.links("1", store) == "DUB, BER, CDG DUB EDI, EDI AMS")
        try store.update(Flight.self, id: "1") { $0.alternates.place(id: "AMS", after: nil) }
        #expect(try Self.links("1", store) == "DUB, BER, CDG DUB EDI, AMS EDI")
        // All links in one save; those of another flight stay.
        try store.update(Flight.self, id: "1") { flight in
            flight.origin = ToOne(id: "CDG")
            flight.destination = ToOne(id: "CDG")
            flight.stops.set(ids: ["AMS"])
            flight.alternates.set(ids: ["BER", "AMS"])
        }
        #expect(try Self.links("1", store) == "CDG, CDG, AMS, BER AMS")
        #expect(try Self.links("2", store) == "BER, AMS, DUB, ")
        // The same from the other side.
        try store.update(Airport.self, id: "EDI") { airport in
            airport.arrivals.add(id: "2")
            airport.stopovers.add(id: "1")
        }
        #expect(try Self.links("1", store) == "CDG, CDG, AMS EDI, BER AMS")
        #expect(try Self.links("2", store) == "BER, EDI, DUB, ")
    }

    @Test(arguments: Engine.allCases) func parallelLinksHaveTheirOwnRulesAndConditions(_ engine: Engine) throws {
        let store = try Self.flights(engine)
        func numbers(_ query: Query<Flight>) throws -> [String] {
            try store.fetch(query.sorted { $0.number }).map(\.number)
        }
        #expect(try numbers(Flight.where { $0.origin.code == "AMS" }) == ["1"])
        #expect(try numbers(Flight.where { $0.destination.code == "AMS" }) == ["2"])
        #expect(try numbers(Flight.where { $0.alternates.contains(id: "DUB") }) == ["1"])
        #expect(try numbers(Flight.where { $0.stops.contains(id: "DUB") }) == ["1", "2"])
        #expect(try numbers(Flight.where { $0.stops.contains { $0.stopovers.count == 1 } }) == ["1"])
        // Departures cascade, arrivals deny.
        #expect(thrown { try store.delete(Airport.self, id: "BER") }?.kind == "deleteDenied")
        try store.update(Flight.self, id: "1") { $0.destination = ToOne(id: "CDG") }
        let report = try store.delete(Airport.self, id: "BER")
        #expect(report.deletedKeys(of: "Flight").count == 1)
        #expect(try Self.links("1", store) == "AMS, CDG, CDG DUB, EDI AMS DUB")
    }

    @Test(arguments: Engine.allCases) func selfLinksAreSeparate(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Person.self)
        var people = ["a", "b", "c", "d"].map { Person(name: $0) }
        let ids = people.map(\.id)
        people[0].following.set(ids: [ids[1], ids[2]])
        people[0].favourites.set(ids: [ids[3], ids[1]])
        people[1].boss = ToOne(id: ids[0])
        people[2].boss = ToOne(id: ids[0])
        people[2].following.add(id: ids[0])
        try store.save(people)
        func names(_ list: ToMany<Person>) throws -> String { try list.objects.map(\.name).joined() }
        func state(_ name: String) throws -> String {
            let query = Person.where { $0.name == name }.including {
                $0.boss
                $0.reports.sorted { $0.name }
                $0.following.sorted { $0.name }
                $0.followers.sorted { $0.name }
                $0.favourites
            }
            let person = try #require(try store.first(query))
            let lists = [person.reports, person.following, person.followers, person.favourites]
            return ([try person.boss?.object.name ?? ""] + (try lists.map(names))).joined(separator: ",")
        }
        #expect(try state("a") == ",bc,bc,c,db")
        #expect(try state("b") == "a,,,a,")
        #expect(try state("c") == "a,,a,a,")
        // An edit of one side is visible on its other side, and nowhere else.
        try store.update(ids[1]) { person in
            person.followers.add(id: ids[3])
            person.favourites.add(id: ids[0])
            person.reports.add(id: ids[2])
        }
        #expect(try state("a") == ",b,bc,c,db")
        #expect(try state("b") == "a,c,,ad,a")
        #expect(try state("c") == "b,,a,a,")
        #expect(try state("d") == ",,b,,")
    }
}
