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
        var changes: [String: [FieldChange]] = [:]
        for (name, value) in body.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "objectId":
                guard let text = value.string, !text.isEmpty, text.utf8.count <= 256, !text.contains("\0") else {
                    throw ParseError(.invalidKeyName, "objectId must be text of 1 to 256 bytes")
                }
                objectID = text
            // What clients send back of what they were told.
            case "createdAt", "updatedAt", "className", "__type": continue
            case "ACL": try Self.check(value)
            default:
                let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
                try ParseNames.checkField(path[0])
                var read = try FieldChange.changes(value, of: name)
                if path.count > 1 {
                    guard path.count <= JSONParser.maximumDepth, !path.contains("") else {
                        throw ParseError(.invalidKeyName, "Invalid field name: \(name.prefix(128)).")
                    }
                    read = read.map { .member(Array(path.dropFirst()), $0) }
                }
                changes[path[0], default: []] += read
            }
        }
        self.objectID = objectID
        fields = changes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Nothing that isn't enforced is stored.
    private static func check(_ acl: JSONValue) throws(ParseError) {
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
