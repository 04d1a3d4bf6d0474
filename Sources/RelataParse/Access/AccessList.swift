import RelataCore

/// The read and write access to an object: Parse's ACL.
///
/// Lists with equal rights are equal, regardless of how a client wrote them.
struct AccessList: Hashable, Sendable {
    /// The rights of one name in the list.
    struct Rights: Hashable, Sendable, Codable {
        var canRead = false
        var canWrite = false
    }

    /// The maximum number of users and roles in a list.
    static let maximumPrincipals = 1000

    /// The rights by name: the id of a user, `role:Editors`, or `*` for everybody.
    let rights: [String: Rights]

    /// A list of these rights. Names without a right are left out.
    init(_ rights: [String: Rights]) { self.rights = rights.filter { $0.value != Rights() } }

    /// A list for one user alone.
    static func only(_ user: String) -> AccessList { AccessList([user: Rights(canRead: true, canWrite: true)]) }

    /// Whether every caller may read and write, so that the list needn't be stored.
    var isOpen: Bool { rights["*"] == Rights(canRead: true, canWrite: true) }

    /// Reads a client's list: `{"*": {"read": true}, "x7Yz": {"read": true, "write": true}}`.
    ///
    /// - Throws: ``ParseError`` 123 for an invalid list.
    init(_ json: JSONValue) throws(ParseError) {
        guard let members = json.object else { throw Self.invalid("it must be an object") }
        guard members.count <= Self.maximumPrincipals else {
            throw Self.invalid("it names \(members.count), and \(Self.maximumPrincipals) are possible: use a role")
        }
        var rights: [String: Rights] = [:]
        for (name, value) in members {
            guard !name.isEmpty, name.utf8.count <= 256, !name.utf8.contains(0) else {
                throw Self.invalid("'\(name.prefix(64))' isn't a user, a role or *")
            }
            guard let operations = value.object else {
                throw Self.invalid("the rights of \(name.prefix(64)) must be an object")
            }
            var own = Rights()
            for (operation, isAllowed) in operations {
                guard case .bool(let isAllowed) = isAllowed else {
                    throw Self.invalid("\(name.prefix(64)).\(operation.prefix(64)) must be true or false")
                }
                switch operation {
                case "read": own.canRead = isAllowed
                case "write": own.canWrite = isAllowed
                default: throw Self.invalid("there is no '\(operation.prefix(64))': write read and write")
                }
            }
            rights[name] = own
        }
        self.init(rights)
    }

    private static func invalid(_ reason: String) -> ParseError { ParseError(.invalidACL, "Invalid ACL: \(reason)") }

    /// The list in the form for clients.
    var json: JSONValue {
        .object(
            JSONObject(
                rights.map { name, rights in
                    var operations: JSONObject = [:]
                    if rights.canRead { operations["read"] = true }
                    if rights.canWrite { operations["write"] = true }
                    return (name, .object(operations))
                }))
    }
}

/// A change of an object's access list.
enum AccessChange: Hashable, Sendable {
    /// Removes the list, so that every caller may read and write.
    case open
    case list(AccessList)

    /// Reads the `ACL` of a request.
    ///
    /// - Throws: ``ParseError`` 123 for an invalid list.
    init(_ json: JSONValue) throws(ParseError) {
        if json.isNull || json["__op"]?.string == "Delete" {
            self = .open
            return
        }
        let list = try AccessList(json)
        self = list.isOpen ? .open : .list(list)
    }
}
