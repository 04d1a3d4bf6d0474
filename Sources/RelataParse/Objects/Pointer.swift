import RelataCore

/// An object named by its class and id: `{"__type": "Pointer", "className": "Genre", "objectId": "x7Yz"}`.
struct Pointer: Hashable, Sendable {
    let className: String
    let objectID: String

    init(className: String, objectID: String) {
        self.className = className
        self.objectID = objectID
    }

    /// Ids are compared by their bytes.
    static func == (left: Self, right: Self) -> Bool {
        left.objectID.hasSameBytes(as: right.objectID) && left.className.hasSameBytes(as: right.className)
    }

    /// Feeds a hasher with the bytes.
    func hash(into hasher: inout Hasher) {
        className.hashBytes(into: &hasher)
        objectID.hashBytes(into: &hasher)
    }

    /// The pointer that a value is, or the one of an object that was included; `nil` for anything else.
    init?(_ value: JSONValue) {
        guard let members = value.object, let type = members["__type"]?.string, type == "Pointer" || type == "Object",
            let className = members["className"]?.string, let objectID = members["objectId"]?.string
        else { return nil }
        self.init(className: className, objectID: objectID)
    }

    /// The value on the wire.
    var json: JSONValue {
        ["__type": "Pointer", "className": .string(className), "objectId": .string(objectID)]
    }
}

extension JSONValue {
    /// The value with a pointer instead of each object of a class: clients send included objects back, and the pointer
    /// is what was stored.
    var withPointers: JSONValue { holdsObjects ? replacingObjects : self }

    private var holdsObjects: Bool {
        switch self {
        case .array(let elements): elements.contains(where: \.holdsObjects)
        case .object(let members): isObjectOfClass || members.values.contains(where: \.holdsObjects)
        default: false
        }
    }

    private var isObjectOfClass: Bool { self["__type"] == "Object" && Pointer(self) != nil }

    private var replacingObjects: JSONValue {
        switch self {
        case .array(let elements): return .array(elements.map(\.replacingObjects))
        case .object(let members):
            if isObjectOfClass, let pointer = Pointer(self) { return pointer.json }
            return .object(JSONObject(members.map { ($0.key, $0.value.replacingObjects) }))
        default: return self
        }
    }
}
