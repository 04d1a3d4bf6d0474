import RelataCore
import RelataRecords

/// The change of a field by a request.
enum FieldChange: Sendable {
    /// Gives it a value.
    case set(JSONValue)
    /// Takes its value away. Null and undefined are one.
    case unset
    /// Adds to a number; one that is unset counts as 0.
    case increment(JSONValue)
    /// Adds elements to the end of an array.
    case add([JSONValue])
    /// Adds the elements that an array doesn't have.
    case addUnique([JSONValue])
    /// Takes all elements that equal one of these from an array.
    case remove([JSONValue])
    case addRelation([Pointer])
    case removeRelation([Pointer])
    /// Places objects in a relation, in their order, right after another; `nil` for first. Those that aren't members
    /// become members.
    case placeRelation([Pointer], after: Pointer?)
    /// Changes a member of an object, or an element of an array: `"address.city"`, `"lines.0.amount"`.
    indirect case member([String], FieldChange)

    /// The change for a plain value; `nil` for an operation.
    ///
    /// - Throws: ``ParseError`` 121 for names within the value that can't be.
    init?(plain value: JSONValue, of field: String) throws(ParseError) {
        switch value {
        case .null: self = .unset
        case .bool, .integer, .double, .string: self = .set(value)
        case .object(let members) where members["__op"] != nil: return nil
        case .array, .object: self = .set(try value.withPointers.stored(in: field))
        }
    }

    /// Reads the JSON of a field: a value, or an operation.
    ///
    /// - Throws: ``ParseError`` 107 and 108 for an operation that isn't one, 121 for names within the value that can't
    ///   be.
    static func changes(_ value: JSONValue, of field: String) throws(ParseError) -> [FieldChange] {
        if let plain = try FieldChange(plain: value, of: field) { return [plain] }
        return try operations(value, of: field)
    }

    /// Reads an operation, or several in one.
    ///
    /// - Throws: the errors of ``changes(_:of:)``.
    static func operations(_ value: JSONValue, of field: String) throws(ParseError) -> [FieldChange] {
        let members = value.object ?? [:]
        let operation = members["__op"]?.string
        func objects() throws(ParseError) -> [JSONValue] {
            guard let objects = members["objects"]?.array else {
                // The texts are those of Parse's own server, by which clients recognise errors.
                let verb =
                    switch operation {
                    case "Remove", "RemoveRelation": "remove"
                    case "PlaceRelation": "place"
                    default: "add"
                    }
                throw ParseError(.invalidJSON, "objects to \(verb) must be an array")
            }
            var stored: [JSONValue] = []
            for object in objects { stored.append(try object.withPointers.stored(in: field)) }
            return stored
        }
        func pointers() throws(ParseError) -> [Pointer] {
            var pointers: [Pointer] = []
            for object in try objects() {
                guard let pointer = Pointer(object) else {
                    throw ParseError(.invalidJSON, "\(field): a relation contains only pointers")
                }
                pointers.append(pointer)
            }
            guard let first = pointers.first else { return [] }
            guard pointers.allSatisfy({ $0.className == first.className }) else {
                throw ParseError(.incorrectType, "\(field): a relation contains objects of one class")
            }
            return pointers
        }
        func other(than pointers: [Pointer]) throws(ParseError) -> Pointer? {
            let after = members["after"] ?? .null
            if after.isNull { return nil }
            guard let pointer = Pointer(after) else {
                throw ParseError(.invalidJSON, "\(field): after is a pointer to a member, or null for the first place")
            }
            guard pointers.allSatisfy({ $0.className == pointer.className }) else {
                throw ParseError(.incorrectType, "\(field): a relation contains objects of one class")
            }
            return pointer
        }
        switch operation {
        case "Delete": return [.unset]
        case "Increment":
            guard let amount = members["amount"], amount.number != nil else {
                throw ParseError(.invalidJSON, "incrementing must provide a number")
            }
            return [.increment(amount)]
        case "Add": return [.add(try objects())]
        case "AddUnique": return [.addUnique(try objects())]
        case "Remove": return [.remove(try objects())]
        case "AddRelation": return [.addRelation(try pointers())]
        case "RemoveRelation": return [.removeRelation(try pointers())]
        case "PlaceRelation":
            let placed = try pointers()
            return [.placeRelation(placed, after: try other(than: placed))]
        case "SetOnInsert":
            throw ParseError(.commandUnavailable, "\(field): the operation SetOnInsert isn't supported")
        case "Batch":
            guard let operations = members["ops"]?.array else {
                throw ParseError(.invalidJSON, "\(field): the operation Batch needs an array of ops")
            }
            var changes: [FieldChange] = []
            for operation in operations {
                guard operation["__op"]?.string != "Batch" else {
                    throw ParseError(.invalidJSON, "\(field): a Batch can't contain another")
                }
                changes += try Self.changes(operation, of: field)
            }
            return changes
        default:
            throw ParseError(
                .commandUnavailable,
                "The \(operation?.prefix(32) ?? "nameless") operator is not supported yet.")
        }
    }

    /// Combines the change with the next one, if possible: each is work on all elements.
    mutating func join(_ next: FieldChange) -> Bool {
        switch next {
        case .add(let more):
            guard case .add(var objects) = self else { return false }
            // They have no other owner during the change, so that they aren't copied.
            self = .unset
            objects += more
            self = .add(objects)
        case .addUnique(let more):
            guard case .addUnique(var objects) = self else { return false }
            self = .unset
            objects += more
            self = .addUnique(objects)
        case .remove(let more):
            guard case .remove(var objects) = self else { return false }
            self = .unset
            objects += more
            self = .remove(objects)
        default: return false
        }
        return true
    }

    /// Whether it has no effect on a missing field.
    var asksForNothing: Bool {
        switch self {
        case .unset: true
        case .addRelation(let pointers), .removeRelation(let pointers), .placeRelation(let pointers, _):
            pointers.isEmpty
        default: false
        }
    }

    /// The objects of a relation that it needs.
    var neededMembers: [Pointer] {
        switch self {
        case .addRelation(let pointers): pointers
        case .placeRelation(let pointers, let other): pointers + [other].compactMap(\.self)
        default: []
        }
    }

    /// Whether it is about a whole number that no floating-point number is.
    var isLargeInteger: Bool {
        switch self {
        case .set(.integer(let number)), .increment(.integer(let number)):
            number.isRoundedByDouble
        default: false
        }
    }

    /// Whether the new value doesn't depend on the old one.
    var isPlain: Bool {
        switch self {
        case .set, .unset: true
        default: false
        }
    }

    /// The type that a field must have for the change; `nil` for any type.
    func type(of field: String) throws(ParseError) -> FieldType? {
        switch self {
        case .set(let value): try FieldType(of: value, in: field)
        case .unset: nil
        case .increment: .number
        case .add, .addUnique, .remove: .array
        case .addRelation(let pointers), .removeRelation(let pointers), .placeRelation(let pointers, _):
            pointers.first.map { .relation($0.className) }
        case .member(let path, _): path.first.flatMap { Self.index($0) } == nil ? .object : .array
        }
    }
}

extension FieldType {
    /// The type of a value.
    ///
    /// - Throws: ``ParseError`` 111 for a value that looks like a type of Parse and is invalid.
    init?(of value: JSONValue, in field: String) throws(ParseError) {
        switch value {
        case .null: return nil
        case .bool: self = .boolean
        case .integer, .double: self = .number
        case .string: self = .string
        case .array: self = .array
        case .object(let members):
            guard let type = members["__type"] else {
                self = .object
                return
            }
            let className = members["className"]?.string
            switch (type.string, className) {
            case ("Date", _): self = .date
            case ("Bytes", _): self = .bytes
            case ("File", _): self = .file
            case ("GeoPoint", _): self = .geoPoint
            case ("Polygon", _): self = .polygon
            case ("Pointer", let name?), ("Object", let name?): self = .pointer(name)
            case ("Relation", let name?): self = .relation(name)
            default:
                throw ParseError(.incorrectType, "This is not a valid \(type.string?.prefix(32) ?? "value"): \(field)")
            }
        }
    }
}
