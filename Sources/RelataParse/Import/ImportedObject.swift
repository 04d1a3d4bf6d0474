import RelataCore

/// An object of the source in the form of the REST API.
struct ImportedObject {
    /// The object's members, with the hash of a user's password.
    var members: JSONObject = [:]
    /// The unreadable parts and how they are treated, as text for a person.
    var oddities: [String] = []
    /// The invalid values of pointers, by field.
    var badPointers: [String: String] = [:]
    /// The reason why the object can't be stored; `nil` if it can.
    var refusal: String?

    /// The object's id; `nil` if it has none.
    var id: String? { members["objectId"]?.string }
}
