import Foundation
import Relata
import RelataCore
import RelataEngine

/// Writes values as text that is equal in every run. Random values and times of the run become numbers, in the order of
/// their first use.
struct DumpText {
    private let isRaw: Bool
    /// The numbers of objects by entity and key, of UUIDs, and of stamps.
    private var objects: [String: [KeyValue: Int]] = [:]
    private var uuids: [UUID: Int] = [:]
    private var dates: [Value: Int] = [:]

    init(raw isRaw: Bool) { self.isRaw = isRaw }

    /// The name of an object by its entity and key: `Book#2` if a part of the key is a UUID, otherwise
    /// `Genre("Fantasy")`.
    mutating func object(_ entity: String, _ key: KeyValue, _ types: [AttributeType]) -> String {
        let parts = zip(key.values, types).map { $0.read(as: $1) }
        if !isRaw, types.contains(where: \.isUUID) {
            let number = objects[entity]?[KeyValue(parts)] ?? (objects[entity]?.count ?? 0) + 1
            objects[entity, default: [:]][KeyValue(parts)] = number
            return "\(entity)#\(number)"
        }
        return "\(entity)(" + zip(parts, types).map { text($0, $1) }.joined(separator: ", ") + ")"
    }

    /// A value of an attribute.
    mutating func text(_ value: Value, _ type: AttributeType, isStamp: Bool = false) -> String {
        if value.isNull { return "nil" }
        switch (type, value.read(as: type)) {
        case (.boolean, .integer(let number)): return number == 0 ? "false" : "true"
        case (.date, let value): return date(value, isStamp: isStamp)
        case (.uuid, .uuid(let uuid)): return text(uuid)
        case (.json, .text(let json)): return text(json: json)
        case (.decimal, .text(let number)): return number
        case (_, .text(let text)): return text.debugDescription
        case (_, let value): return value.description
        }
    }

    private mutating func text(_ uuid: UUID) -> String {
        // Versions 4 and 7 are random. Other versions come from a name, or were written by hand.
        guard !isRaw, [4, 7].contains(uuid.uuid.6 >> 4) else { return uuid.uuidString.lowercased() }
        let number = uuids[uuid] ?? uuids.count + 1
        uuids[uuid] = number
        return "<uuid \(number)>"
    }

    private mutating func text(json: String) -> String {
        var text = json
        for match in json.matches(of: /[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/) {
            if let uuid = UUID(uuidString: String(match.output)) {
                text = text.replacing(match.output, with: self.text(uuid))
            }
        }
        return text
    }

    private mutating func date(_ value: Value, isStamp: Bool) -> String {
        if isStamp && !isRaw {
            let number = dates[value] ?? dates.count + 1
            dates[value] = number
            return "<date \(number)>"
        }
        guard let microseconds = Date(databaseValue: value).flatMap({ DateText.microseconds(of: $0) }),
            DateText.textRange.contains(microseconds)
        else { return value.description }
        return DateText.text(microseconds: microseconds).replacing(".000000Z", with: "Z")
    }
}

extension AttributeType {
    var isUUID: Bool { if case .uuid = self { true } else { false } }
}

extension Value {
    /// A stored UUID is bytes or text if its type is unknown.
    func read(as type: AttributeType) -> Value {
        type.isUUID ? UUID(databaseValue: self).map { .uuid($0) } ?? self : self
    }
}

extension Model {
    /// A key as dumps know it.
    static func dumpKey(_ key: Key) throws -> KeyValue {
        var binder = Binder(collecting: keyTypes.count)
        try bind(key, to: &binder)
        return KeyValue(binder.values)
    }
}
