import DocumentationSupport
import Foundation
import Relata
import Testing

@Model struct Member {
    let id: ID<Member>
    @Attribute(.unique, .notEmpty) var email: String
    @Attribute(.length(1...80)) var name: String
    @Attribute(.range(0...150)) var age: Int?
    var plan: Plan = .basic
    var interests: Set<String> = []
    var address: Address?
    @Transient var isSelected = false

    var greeting: String { "Dear \(name)" }
}

enum Plan: String, Sendable {
    case basic, gold
}

struct Address: Codable, Hashable, Sendable {
    var street: String
    var city: String
}

@Model struct Country {
    @Attribute(.primaryKey, .pattern("[A-Z]{2}")) let code: String
    var name: String
}

@Model struct Seat {
    @Attribute(.primaryKey) let row: String
    @Attribute(.primaryKey) let number: Int
    var isTaken: Bool = false
}

@Model struct Ticket {
    var id: Int?
    var seat: ToOne<Seat>
    var price: Decimal
}

@Model struct Stay {
    var id: Int?
    var guest: String
    var arrival: Date
    var departure: Date
    @Attribute(.createdAt) var bookedAt: Date = .distantPast
    @Attribute(.updatedAt) var changedAt: Date = .distantPast
    #Index<Stay>([\.arrival, \.departure])
    #Unique<Stay>([\.guest, \.arrival])

    func validate() throws {
        if departure <= arrival { throw StayError.endsBeforeItBegins }
    }
}

enum StayError: Error {
    case endsBeforeItBegins
}

@Model(table: "albums") struct Album {
    @Attribute(column: "AlbumId") var id: Int?
    @Attribute(column: "Title") var title: String
    @Relationship(columns: ["ArtistId"]) var artist: ToOne<Performer>
}

@Model(table: "artists") struct Performer {
    @Attribute(column: "ArtistId") var id: Int?
    @Attribute(column: "Name") var name: String
    @Relationship(inverse: \Album.artist) var albums: ToMany<Album>
}

@Model struct Reading {
    var id: Int?
    var takenAt: Date
    @Attribute(.iso8601) var printedAt: Date?
    @Attribute(.seconds) var uploadedAt: Date?
    @Attribute(.text) var device: UUID
}

@Test func attributes() async throws {
    try await example {
        let store = try await Store.open(temporary("members.sqlite"), for: Member.self)
        var ada = Member(email: "ada@example.org", name: "Ada", interests: ["chess"])
        ada.address = Address(street: "12 St James's Square", city: "London")
        try await store.save(ada)

        let gold = try await store.fetch(Member.where { $0.plan == .gold || $0.name == "Ada" })
        print(gold.map(\.greeting))
        // docs: hide
        try printed(in: "Documentation/Models.md")
        // docs: show

        do {
            try await store.save(Member(email: " ", name: "", age: 200))
        } catch RelataError.validation(let failures) {
            for failure in failures { print(failure.property ?? "", failure.message) }
        }
        // docs: hide
        try printed(in: "Documentation/Models.md")
        // docs: show
    }
}

@Test func keys() async throws {
    try await example {
        let store = try await Store.open(temporary("theatre.sqlite"), for: Ticket.self, Country.self)
        let ticket = try await store.save(Ticket(seat: Seat(row: "C", number: 12), price: 19.90))
        let seat = try await store.fetch(Seat.self, id: Seat.Key(row: "C", number: 12))
        print(ticket.id ?? 0, seat?.isTaken ?? true)
        // docs: hide
        try printed(in: "Documentation/Models.md")
        try await store.save(Country(code: "NZ", name: "New Zealand"))
        #expect(try await store.fetch(Country.self, id: "NZ")?.name == "New Zealand")
        await #expect(throws: RelataError.self) { try await store.save(Country(code: "nz", name: "New Zealand")) }
        // docs: show
    }
}

@Test func ruleOfAModel() async throws {
    try await example {
        let store = try await Store.open(temporary("hotel.sqlite"), for: Stay.self)
        let monday = Date(timeIntervalSince1970: 1_772_409_600)
        do {
            try await store.insert(Stay(guest: "Ada", arrival: monday, departure: monday))
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/Models.md")
        let stay = try await store.save(Stay(guest: "Ada", arrival: monday, departure: monday + 86400))
        #expect(stay.bookedAt > monday - 86400 * 365 * 50)
        #expect(stay.bookedAt == stay.changedAt)
        await #expect(throws: RelataError.self) {
            try await store.save(Stay(guest: "Ada", arrival: monday, departure: monday + 86400))
        }
        // docs: show
    }
}

@Test func existingTables() async throws {
    try await example {
        // docs: hide
        try OtherProgram.run(
            """
            CREATE TABLE artists (ArtistId INTEGER PRIMARY KEY, Name TEXT NOT NULL, Website TEXT);
            CREATE TABLE albums (
                AlbumId INTEGER PRIMARY KEY, Title TEXT NOT NULL,
                ArtistId INTEGER NOT NULL REFERENCES artists (ArtistId)
            );
            CREATE INDEX albums_artist ON albums (ArtistId);
            INSERT INTO artists VALUES (1, 'Nina Simone', NULL);
            INSERT INTO albums VALUES (1, 'Wild Is the Wind', 1);
            """, in: temporary("music.sqlite"))
        // docs: show
        let store = try await Store.open(temporary("music.sqlite"), for: Album.self)
        for album in try await store.fetch(Album.all.including { $0.artist }) {
            print(album.title, "by", try album.artist.object.name)
        }
        // docs: hide
        try printed(in: "Documentation/Models.md")
        // docs: show
    }
}

@Test func encodings() async throws {
    try await example {
        let store = try await Store.open(temporary("readings.sqlite"), for: Reading.self)
        let date = Date(timeIntervalSince1970: 1_772_409_600.123456)
        let device = UUID(uuidString: "0198C6F2-7B1A-7C3D-8E4F-1A2B3C4D5E6F") ?? UUID()
        try await store.insert(Reading(takenAt: date, printedAt: date, uploadedAt: date, device: device))
        print(try await store.rows("SELECT takenAt, printedAt, uploadedAt, device FROM Reading")[0])
        // docs: hide
        try printed(in: "Documentation/Models.md")
        // docs: show
    }
}
