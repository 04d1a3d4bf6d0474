/// What a request says of an object: what is done to which fields, in the order of their names.
struct ObjectBody: Hashable, Sendable {
    /// The id that the client chose for a new object.
    let objectID: String?
    /// What is done, by field.
    let fields: [(name: String, changes: [FieldChange])]

    /// Reads the body of a request.
    ///
    /// - Throws: ``ParseError`` for names that no field can have, operations that aren't any, and an ACL that isn't
    ///   enforced.
    init(_ body: JSONObject) throws(ParseError) {
        var objectID: String?
        // In the order of their names, and what is done to members of an object right after what is done to it.
        var fields: [(name: String, changes: [FieldChange])] = []
        fields.reserveCapacity(body.count)
        for (name, value) in body.sorted {
            switch name {
            case "objectId":
                guard let text = value.string, !text.isEmpty, text.utf8.count <= 256, !text.contains("\0") else {
                    throw ParseError(.invalidKeyName, "objectId must be text of 1 to 256 bytes")
                }
                objectID = text
            // What clients send back of what they were told.
            case "createdAt", "updatedAt", "className", "__type": continue
            case "ACL": try Self.requirePublicAccess(value)
            default:
                guard name.utf8.contains(UInt8(ascii: ".")) else {
                    try ParseNames.checkField(name)
                    fields.append((name, try FieldChange.changes(value, of: name)))
                    continue
                }
                let (field, changes) = try Self.memberChanges(value, of: name)
                if fields.last?.name == field {
                    fields[fields.count - 1].changes += changes
                } else {
                    fields.append((field, changes))
                }
            }
        }
        self.objectID = objectID
        self.fields = fields
    }

    /// What is done to a member of an object: `"address.city"`.
    private static func memberChanges(
        _ value: JSONValue, of name: String
    ) throws(ParseError) -> (field: String, changes: [FieldChange]) {
        let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try ParseNames.checkField(path[0])
        let read = try FieldChange.changes(value, of: name)
        guard path.count <= JSONParser.maximumDepth, !path.contains("") else {
            throw ParseError(.invalidKeyName, "Invalid field name: \(name.prefix(128)).")
        }
        for part in path.dropFirst() { try JSONValue.checkName(part) }
        return (path[0], read.map { .member(Array(path.dropFirst()), $0) })
    }

    /// Nothing that isn't enforced is stored.
    private static func requirePublicAccess(_ acl: JSONValue) throws(ParseError) {
        if acl.isNull || acl["__op"]?.string == "Delete" { return }
        if let everybody = acl["*"], everybody["read"] == true, everybody["write"] == true { return }
        throw ParseError(
            .operationForbidden,
            "access control is off: an object can't be saved with an ACL other than public read and write, which would not be enforced"
        )
    }

    static func == (left: Self, right: Self) -> Bool {
        left.objectID == right.objectID && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(objectID)
        for field in fields { hasher.combine(field.name) }
    }
}
