// Models of awkward.sqlite, written by `relata inspect --format swift`.
// Keep your own code in other files, as extensions: this one is rewritten when the tables change.
// swift-format-ignore-file
//
// Parts of the tables that a model can't declare:
// - orphans.nowhere: its foreign key to missing points at a table that doesn't exist: create that table, or drop the key
// - lessons.length: the database computes it: it is left out

import Foundation
import Relata

@Model(table: "class") struct Class {
    @Attribute(column: "init") var id: Int?
    var `default`: String
    @Attribute(.unique) var `func`: String?
    @Attribute(column: "hash") var hash2: Int?
    @Attribute(column: "a b-c") var aBC: String?
    @Attribute(column: "quote\"d") var quoteD: String?
    @Attribute(column: "1st") var _1st: String?
}

@Model(table: "String") struct StringRecord {
    var id: Int?
    @Attribute(column: "Type") var type: String?
    @Attribute(column: "self") var selfValue: String?
}

@Model(table: "rooms") struct Room {
    @Attribute(.primaryKey) var building: String
    @Attribute(.primaryKey) var number: Int
    var seats: Int?
    @Relationship(deleteRule: .deny, inverse: \Lesson.room) var lessons: ToMany<Lesson>
    @Relationship(deleteRule: .cascade, inverse: \Seat.room) var roomSeats: ToMany<Seat>
}

@Model(table: "lessons") struct Lesson {
    var id: Int?
    @Relationship(columns: ["building", "number"]) var room: ToOne<Room>?
    @Attribute(column: "starts_at") var startsAt: String
    @Relationship(columns: ["teacher_id"]) var teacher: ToOne<Teacher>
    @Relationship(columns: ["substitute_id"]) var substitute: ToOne<Teacher>?
    @Relationship(columns: ["follows"]) var follows: ToOne<Lesson>?
    var price: Double?
    var done: Bool
    var photo: Data?
    var extra: JSON?
    @Relationship(deleteRule: .deny, inverse: \Lesson.follows) var lessons: ToMany<Lesson>
    #Unique<Lesson>([\.room, \.startsAt])
    #Index<Lesson>([\.startsAt, \.price])
}

@Model(table: "teachers") struct Teacher {
    var id: Int?
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Lesson.teacher) var teacherLessons: ToMany<Lesson>
    @Relationship(inverse: \Lesson.substitute) var substituteLessons: ToMany<Lesson>
    @Relationship(deleteRule: .cascade, inverse: \Badge.teacher) var badge: HasOne<Badge>
    @Relationship(joinTable: "teachers_subjects", joinColumns: ["teacher_id", "subject"]) var subjects: ToMany<Subject>
}

@Model(table: "badges") struct Badge {
    @Attribute(.primaryKey) @Relationship(columns: ["teacher"]) var teacher: ToOne<Teacher>
    var color: String?
}

@Model(table: "subjects") struct Subject {
    @Attribute(.primaryKey) var code: String
    var title: String?
    @Relationship(inverse: \Teacher.subjects) var teachers: ToMany<Teacher>
}

@Model(table: "notes_without_key") struct NotesWithoutKey {
    @Attribute(column: "rowid") var id: Int?
    var text: String?
    var lesson: Int?
}

@Model(table: "orphans") struct Orphan {
    var id: Int?
    var nowhere: Int?
}

@Model(table: "seats") struct Seat {
    @Attribute(.primaryKey) @Relationship(columns: ["building", "number"]) var room: ToOne<Room>
    @Attribute(.primaryKey) var seat: Int
    var label: String?
}

@Model struct 表 {
    @Attribute(.primaryKey) var 名前: String
    var 价格: Double?
}

/// Any JSON. Declare a `Codable` type of your own where you know more about a column.
enum JSON: Hashable, Sendable, Codable {
    case null, bool(Bool), integer(Int), number(Double), string(String), array([JSON]), object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
