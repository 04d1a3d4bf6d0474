import Foundation
import RelataCore
import RelataEngine
import TestEngines
import TestSupport

@testable import RelataRecords

/// Random classes and objects: every type, every kind of key and link, cycles, and values that files find hard.
struct RandomObjects {
    private var generator: SeededGenerator
    let entities: [Entity]
    private static let types: [AttributeType] = [
        .boolean, .integer, .real, .decimal, .text, .date(.microseconds), .date(.iso8601), .date(.seconds), .data,
        .uuid(.blob), .uuid(.text), .json,
    ]

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        var entities = (0..<Int.random(in: 1...4, using: &generator)).map { Entity(name: "Class\($0)", properties: []) }
        for number in entities.indices { Self.fill(&entities, number, &generator) }
        self.entities = entities
    }

    private static func fill(_ entities: inout [Entity], _ number: Int, _ generator: inout SeededGenerator) {
        var properties: [Property] = []
        let keys = Int.random(in: 0..<4, using: &generator)
        switch keys {
        case 0: properties.append(.attribute(Attribute("id", type: .integer, isOptional: true)))
        case 1: properties.append(.attribute(Attribute("id", type: .uuid(.blob))))
        case 2: properties.append(.attribute(Attribute("id", type: .text)))
        default:
            properties += [
                .attribute(Attribute("row", type: .integer)), .attribute(Attribute("id", type: .text)),
            ]
        }
        entities[number].key = keys == 3 ? ["row", "id"] : ["id"]
        entities[number].isKeyAssigned = keys == 0
        for place in 0..<Int.random(in: 1...7, using: &generator) {
            let type = types.randomElement(using: &generator) ?? .text
            properties.append(
                .attribute(Attribute("field\(place)", type: type, isOptional: Bool.random(using: &generator))))
        }
        // Links to itself, to earlier classes, and to later ones, which makes cycles.
        for place in 0..<Int.random(in: 0...2, using: &generator) {
            let target = Int.random(in: entities.indices, using: &generator)
            properties.append(
                .relationship(
                    Relationship("link\(place)", target: "Class\(target)", kind: .toOne(isOptional: true))))
            guard Bool.random(using: &generator), target != number else { continue }
            let view = Relationship(
                "list\(number)x\(place)", target: "Class\(number)", kind: .toMany(inverse: "link\(place)"),
                order: Bool.random(using: &generator) ? .stored : nil)
            entities[target].properties.append(.relationship(view))
        }
        for place in 0..<Int.random(in: 0...2, using: &generator) {
            let target = Int.random(in: entities.indices, using: &generator)
            properties.append(
                .relationship(
                    Relationship(
                        "many\(place)", target: "Class\(target)", kind: .manyToMany(),
                        order: Bool.random(using: &generator) ? .stored : nil)))
        }
        if Bool.random(using: &generator) {
            properties += [
                .attribute(Attribute("revision", type: .integer)),
                .attribute(Attribute("createdAt", type: .date(.microseconds))),
                .attribute(Attribute("updatedAt", type: .date(.iso8601))),
            ]
            (entities[number].revision, entities[number].createdAt, entities[number].updatedAt) = (
                "revision", "createdAt", "updatedAt"
            )
        }
        entities[number].properties = properties + entities[number].properties
    }

    /// Saves objects of all classes, and links between them.
    mutating func save(in store: RecordStore) async throws {
        var saved: [String: [Record]] = [:]
        for entity in entities {
            var records: [Record] = []
            for number in 0..<Int.random(in: 0...12, using: &generator) {
                var record = Record(entity.name)
                for attribute in entity.attributes
                where ![entity.revision, entity.createdAt, entity.updatedAt].contains(attribute.name) {
                    let isKey = entity.key.contains(attribute.name)
                    if isKey, entity.isKeyAssigned { continue }
                    if attribute.isOptional, Int.random(in: 0..<4, using: &generator) == 0 { continue }
                    record[attribute.name] = value(attribute.type, isKey: isKey, number)
                }
                records.append(record)
            }
            saved[entity.name] = records.isEmpty ? [] : try await store.save(records)
        }
        for entity in entities {
            for var record in saved[entity.name] ?? [] {
                for relationship in entity.relationships {
                    let targets = saved[relationship.target] ?? []
                    guard let target = targets.randomElement(using: &generator) else { continue }
                    if case .toOne = relationship.kind {
                        record[relationship.name] = .link(target)
                    } else if case .manyToMany = relationship.kind {
                        record[relationship.name] = .links(
                            targets.shuffled(using: &generator).prefix(Int.random(in: 0...4, using: &generator)).map {
                                $0
                            })
                    }
                }
                _ = try await store.save(record)
            }
        }
    }

    private mutating func value(_ type: AttributeType, isKey: Bool, _ number: Int) -> RecordValue {
        if isKey {
            switch type {
            case .integer: return .integer(Int64(number) - 3)
            case .uuid: return .uuid(uuid())
            default: return .text("\(number)" + (Self.texts.randomElement(using: &generator) ?? ""))
            }
        }
        switch type {
        case .boolean: return .boolean(Bool.random(using: &generator))
        case .integer:
            return .integer([0, -1, Int64.max, Int64.min, 1 << 53 + 1].randomElement(using: &generator) ?? 0)
        case .real:
            var numbers = [0.1, -1e300, Double.leastNonzeroMagnitude, 1.0 / 3, 42, 1e15, .greatestFiniteMagnitude]
            // On a server, keys of several columns are sent as JSON, which can't represent infinity.
            if TestEngine.current == .sqlite { numbers.append(.infinity) }
            return .real(numbers.randomElement(using: &generator) ?? 0)
        case .decimal:
            let texts = ["0.10", "123456789012345678901234567890.12", "-1", "1e-20"]
            return .decimal(texts.randomElement(using: &generator).flatMap { Decimal(string: $0) } ?? 0)
        case .text: return .text(Self.texts.randomElement(using: &generator) ?? "")
        case .date(let encoding):
            let range: ClosedRange<Int64> =
                encoding == .microseconds ? -200_000_000_000_000_000...400_000_000_000_000_000 : DateText.textRange
            let microseconds = Int64.random(in: range, using: &generator) / 1_000_000 * 1_000_000 + 123_456
            return .date(DateText.date(microseconds: min(max(microseconds, range.lowerBound), range.upperBound)))
        case .data: return .data(Data((0..<UInt8.random(in: 0...40, using: &generator)).map { $0 &* 37 }))
        case .uuid: return .uuid(uuid())
        case .json:
            let texts = [
                "{\"a\": [1, 2.50, null, \"x\\n\\u00e9\"]}", "[]", "\"a, \\\"b\\\"\"", "12345678901234567890.5",
                "false",
                "{\"a\":\n  1}",
            ]
            return .json(texts.randomElement(using: &generator) ?? "1")
        }
    }

    private mutating func uuid() -> UUID {
        var bytes = [UInt8](repeating: 0, count: 16)
        for place in bytes.indices { bytes[place] = UInt8.random(in: 0...255, using: &generator) }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private static let texts = [
        "", " ", "plain", "comma, and \"quotes\"", "two\r\nlines", "\n", "null", "é e\u{301} 🎷", "=1+1", "\u{FEFF}mark",
        "tab\tand ; semicolon", "\\back\\slash", "\u{1}\u{1F}", "@class", "'single'",
    ]
}

extension RecordStore {
    /// All rows of all tables as they are stored, in the order of their keys. JSON is compared by its meaning.
    func dump() async throws -> [String: [[Value]]] {
        try await read { transaction in
            var rows: [String: [[Value]]] = [:]
            for table in try MovedTable.tables(of: transaction.recordClasses) {
                let cursor = try RowCursor(
                    table.copied.rows(transaction.connection.dialect, after: nil), on: transaction.connection)
                var found: [[Value]] = []
                while let row = try cursor.next() {
                    found.append(
                        zip(table.copied.values(row), table.fields).map { value, field in
                            guard field.type == .json, case .text(let text) = value else { return value }
                            return .text(text.replacingOccurrences(of: "\n", with: " "))
                        })
                }
                rows[table.name] = found
            }
            return rows
        }
    }
}
