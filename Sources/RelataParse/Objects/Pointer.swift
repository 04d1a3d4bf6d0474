import RelataCore

/// An object named by its class and id: `{"__type": "Pointer", "className": "Genre", "objectId": "x7Yz"}`.
struct Pointer: Hashable, Sendable {
    let className: String
    let objectID: String

    init(className: String, objectID: String) {
        self.className = className
        self.objectID = objectID
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
