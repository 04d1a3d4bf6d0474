import Foundation
import Relata
import RelataTesting

// Models for samples: attributes of every kind with limits, and links with requirements.

@Model struct Gadget {
    let id: ID<Gadget>
    @Attribute(.unique, .length(...3)) var code: String
    @Attribute(.unique) var slug: String
    @Attribute(.notEmpty, .length(20...30)) var title: String
    @Attribute(.pattern("[A-Z]{2}-\\d{3,5}(?:/(?:new|old))?")) var number: String
    @Attribute(.pattern(#"[^@\s]+@example\.(com|org)"#)) var email: String?
    @Attribute(.range(-3...3)) var grade: Int
    @Attribute(.range(100...)) var small: UInt8
    @Attribute(.range((Int.max - 2)...)) var large: Int
    @Attribute(.range(1...2)) var share: Double
    @Attribute(.range(0.25...0.5)) var ratio: Double
    @Attribute(.range(...(-1))) var loss: Decimal
    @Attribute(.length(4...6)) var bytes: Data
    var kind: Kind
    var state: State
    var level: Level
    var shape: Shape
    var home: URL
    @Attribute(.notEmpty) var tags: [String]
    var sizes: Set<Int>
    var names: [String: Date]
    var maker: Maker
    var colour: Colour
    @Attribute(.iso8601) var printed: Date
    @Attribute(.seconds) var seen: Date?
    @Attribute(.text) var token: UUID
    @Attribute(.createdAt) var created: Date
    @Attribute(.updatedAt) var updated: Date
    @Attribute(.revision) var revision: Int

    enum Kind: String, CaseIterable { case tool, toy, spare }
    enum State: Codable, CaseIterable { case new, used }
    enum Level: Int, Codable { case low = 1, middle, high }
    enum Shape: String, SampleValue {
        case round, square
        static func sample(_ random: inout SampleRandom) -> Shape { random.chance(0.5) ? .round : .square }
    }
    struct Maker: Codable, Equatable {
        var name: String
        var founded: Date?
        var kinds: [Kind]
        var parent: [Maker]
        var level: Level
    }
    struct Colour: AttributeValue, Equatable {
        var hue: Int64
        static var attributeType: AttributeType { .integer }
        var databaseValue: Value { .integer(hue) }
        init?(databaseValue: Value) {
            guard case .integer(let hue) = databaseValue, hue.isMultiple(of: 2) else { return nil }
            self.hue = hue
        }
    }
}

extension Gadget.Kind: Codable {}

/// Circles: a club needs a chair, who needs a club; and each member may have a mentor.
@Model struct Club {
    let id: ID<Club>
    var name: String
    @Relationship(onTargetDelete: .cascade) var chair: ToOne<Rower>
    @Relationship(inverse: \Rower.club, ordered: true, minimum: 2, maximum: 5) var rowers: ToMany<Rower>
}

@Model struct Rower {
    var id: Int?
    var name: String
    @Relationship(onTargetDelete: .cascade) var club: ToOne<Club>
    var mentor: ToOne<Rower>?
}

/// A join model with a set of links that is unique, and a one-to-one that is required.
@Model struct Booking {
    #Unique<Booking>([\.guest, \.night])
    let id: ID<Booking>
    var guest: ToOne<Tourist>
    var night: ToOne<Night>
    var from: Int
    var to: Int
    @Relationship(inverse: \Invoice.booking) var invoice: HasOne<Invoice>

    func validate() throws { if to < from { throw Backwards() } }
    struct Backwards: Error {}
}

@Model struct Tourist {
    @Attribute(.primaryKey) let name: String
    @Relationship(deleteRule: .cascade, inverse: \Booking.guest) var bookings: ToMany<Booking>
}

@Model struct Night {
    @Attribute(.primaryKey) let number: Int
    @Relationship(deleteRule: .cascade, inverse: \Booking.night) var bookings: ToMany<Booking>
}

@Model struct Invoice {
    @Attribute(.primaryKey) let number: Int
    @Relationship(onTargetDelete: .cascade) var booking: ToOne<Booking>
}

@Model struct Unmakeable {
    let id: ID<Unmakeable>
    var kind: Kind
    enum Kind: String { case one }
}

@Model struct Flag {
    let id: ID<Flag>
    @Attribute(.unique) var isSet: Bool
    @Attribute(.pattern("(?=a)a|b")) var letter: String
}
