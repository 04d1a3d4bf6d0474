/// The body of a request for an object: its changes, by field.
struct ObjectBody: Sendable {
    /// The most operations on one field: each is work while no other request can write.
    static let maximumChanges = 1000

    /// The id that the client chose for a new object.
    let objectID: String?
    /// The name of the field that each of ``changes`` is about, all of a field together.
    let fields: FieldNames
    /// The changes to the object's fields.
    let changes: [FieldChange]
    /// The change of the object's access list; `nil` for none.
    private(set) var access: AccessChange?
    /// The fields to which a webhook gave other values.
    private(set) var changedByHook: Set<String> = []
    /// The times when the object was made and changed, if the request sets them; `nil` otherwise.
    let times: ObjectTimes?
    /// Whether they include integers that no floating-point number represents.
    let holdsLargeIntegers: Bool

    /// Names of fields. A class, because most objects of a batch share one, which shows at once that they have the same
    /// fields.
    final class FieldNames: Sendable {
        let names: [String]
        init(_ names: [String]) { self.names = names }
    }

    /// Reads the body of a request.
    ///
    /// - Parameter previous: Another body, which probably has the same fields: their names are known to be valid.
    /// - Throws: ``ParseError`` for invalid names of fields, invalid operations and an invalid ACL.
    init(_ body: JSONObject, after previous: ObjectBody? = nil) throws(ParseError) {
        if let previous, let alike = try ObjectBody(body, like: previous) {
            self = alike
            return
        }
        var objectID: String?
        var access: AccessChange?
        var times: ObjectTimes?
        var (names, changes): ([String], [FieldChange]) = ([], [])
        // Changes of an object's members come right after the change of the object, in the order of their names.
        let hasMembers = body.contains { $0.key.utf8.contains(UInt8(ascii: ".")) }
        for (name, value) in hasMembers ? body.sorted : body.members {
            switch name {
            case _ where previous?.hasField(name, at: changes.count) == true: break
            case "objectId":
                guard let text = value.string, Self.canBeID(text) else {
                    throw ParseError(.invalidKeyName, "objectId must be text of 1 to 256 bytes, without U+0000")
                }
                objectID = text
                continue
            // Fields that clients send back unchanged.
            case "createdAt", "updatedAt":
                if !value.isNull { times = times ?? ObjectTimes() }
                if !value.isNull { times?.set(name, value) }
                continue
            case "ACL":
                access = try AccessChange(value)
                continue
            case _ where hasMembers && name.utf8.contains(UInt8(ascii: ".")):
                let (field, read) = try Self.memberChanges(value, of: name)
                changes += read
                names += read.map { _ in field }
                continue
            default: try ParseNames.checkField(name)
            }
            if let change = try FieldChange(plain: value, of: name) {
                changes.append(change)
                names.append(name)
                continue
            }
            for change in try FieldChange.operations(value, of: name) {
                if names.last == name && changes[changes.count - 1].join(change) { continue }
                changes.append(change)
                names.append(name)
            }
        }
        assert(names.count == changes.count)
        self.access = access
        self.objectID = objectID
        self.times = times
        self.changes = changes
        holdsLargeIntegers = changes.contains(where: \.isLargeInteger)
        fields = FieldNames(names)
        if changes.count > Self.maximumChanges { try checkNumber() }
    }

    /// Reads an object that gives a value to each of the fields of another, in the same order, as most of a batch do;
    /// `nil` for any other.
    private init?(_ body: JSONObject, like other: ObjectBody) throws(ParseError) {
        guard body.count == other.fields.names.count else { return nil }
        var changes: [FieldChange] = []
        var isLarge = false
        changes.reserveCapacity(body.count)
        for (name, value) in body.members {
            guard other.hasField(name, at: changes.count), let change = try FieldChange(plain: value, of: name) else {
                return nil
            }
            isLarge = isLarge || change.isLargeInteger
            changes.append(change)
        }
        objectID = nil
        times = nil
        holdsLargeIntegers = isLarge
        fields = other.fields
        self.changes = changes
    }

    private init(
        objectID: String?, fields: FieldNames, changes: [FieldChange], access: AccessChange?,
        times: ObjectTimes?,
        holdsLargeIntegers: Bool
    ) {
        self.times = times
        self.access = access
        self.objectID = objectID
        self.fields = fields
        self.changes = changes
        self.holdsLargeIntegers = holdsLargeIntegers
    }

    /// A copy with each change as `transform` returns it.
    func mapChanges(
        _ transform: (FieldChange) throws(ParseError) -> FieldChange
    ) throws(ParseError) -> ObjectBody {
        var changed: [FieldChange] = []
        changed.reserveCapacity(changes.count)
        for change in changes { changed.append(try transform(change)) }
        var body = ObjectBody(
            objectID: objectID, fields: fields, changes: changed, access: access, times: times,
            holdsLargeIntegers: holdsLargeIntegers)
        body.changedByHook = changedByHook
        return body
    }

    /// Whether a webhook has changed it.
    var isChangedByHook: Bool { !changedByHook.isEmpty }

    /// A copy as a webhook would have it: with its changes, and without others of the same fields.
    ///
    /// - Parameter dropped: The fields whose changes are left out.
    func changed(byHook other: ObjectBody, dropping dropped: Set<String>) -> ObjectBody {
        let gone = dropped.union(other.fields.names)
        let kept = zip(fields.names, changes).filter { !gone.contains($0.0) }
        let all = kept.map(\.1) + other.changes
        var body = ObjectBody(
            objectID: objectID, fields: FieldNames(kept.map(\.0) + other.fields.names), changes: all,
            access: other.access ?? access, times: times,
            holdsLargeIntegers: all.contains(where: \.isLargeInteger))
        body.changedByHook = gone
        return body
    }

    /// A copy with an access list.
    func with(_ access: AccessChange) -> ObjectBody {
        var body = self
        body.access = access
        return body
    }

    /// Whether both have the same fields, in the same order, like most objects of a batch.
    func hasFields(of other: ObjectBody) -> Bool {
        fields === other.fields
            || fields.names.count == other.fields.names.count
                && fields.names.indices.allSatisfy { hasField(other.fields.names[$0], at: $0) }
    }

    private func hasField(_ name: String, at place: Int) -> Bool {
        place < fields.names.count && fields.names[place].hasSameBytes(as: name)
    }

    /// Whether the object gets an access list.
    var hasAccessList: Bool { if case .list? = access { true } else { false } }

    /// Whether a client may choose a text as the id of an object.
    static func canBeID(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 256 && !text.utf8.contains(0)
    }

    private func checkNumber() throws(ParseError) {
        var counts: [String: Int] = [:]
        for field in fields.names { counts[field, default: 0] += 1 }
        for (field, count) in counts where count > Self.maximumChanges {
            throw ParseError(
                .invalidJSON,
                "\(field): \(count) operations on one field, and \(Self.maximumChanges) are possible in one request: set it as a whole"
            )
        }
    }

    /// The change of a member of an object: `"address.city"`.
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
}
