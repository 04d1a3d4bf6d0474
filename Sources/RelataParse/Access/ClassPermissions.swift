import RelataCore

/// Parse's class-level permissions: the callers that may use each operation on the objects of a class.
///
/// The master key may use every operation. Only it may use an operation without a permission.
struct ClassPermissions: Hashable, Sendable, Codable {
    /// The operations of requests on the objects of a class.
    enum Operation: String, Hashable, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
        case find, count, get, create, update, delete, addField

        /// Whether the operation only reads objects.
        var isReading: Bool { [.find, .count, .get].contains(self) }
    }

    /// The callers that may use an operation.
    struct Grant: Hashable, Sendable, Codable {
        /// The ids of users, `role:` with the name of a role, or `*` for everybody.
        var principals: Set<String> = []
        /// Whether all signed-in users are allowed the operation.
        var requiresAuthentication = false
        /// Pointers to users, and arrays of them: a user may use the operation on objects whose pointer refers to this
        /// user.
        var pointerFields: [String] = []
    }

    /// A caller's permission for an operation.
    enum Permission: Hashable, Sendable {
        case everything
        /// Allowed with objects in which one of these fields refers to the caller.
        case objects(fields: [String])
        case nothing(needsSession: Bool)
    }

    private(set) var grants: [Operation: Grant] = [:]
    /// Pointers to users who may read the object.
    private var readUserFields: [String] = []
    /// Pointers to users who may change the object.
    private var writeUserFields: [String] = []
    /// The hidden fields, by the callers they are hidden from: a principal, `authenticated`, or the users to whom a field
    /// of the object leads, such as `userField:owner`.
    private var protectedFields: [String: Set<String>] = [:]
    /// The access list of new objects without one; `nil` for none.
    private var defaultAccess: [String: AccessList.Rights]?

    /// Allows everything only to the master key.
    static let closed = ClassPermissions()
    /// Allows everything to everybody.
    static let open: ClassPermissions = {
        var permissions = ClassPermissions()
        for operation in Operation.allCases { permissions.grants[operation] = Grant(principals: ["*"]) }
        return permissions
    }()

    /// Allows some operations to everybody.
    static func allowing(_ operations: [Operation]) -> ClassPermissions {
        var permissions = ClassPermissions()
        for operation in operations { permissions.grants[operation] = Grant(principals: ["*"]) }
        return permissions
    }

    /// The placeholder for the caller in a default list.
    private static let currentUser = "currentUser"
    static let userField = "userField:"
    private static let authenticated = "authenticated"

    // MARK: Questions

    /// The permission of a caller for an operation on objects of the class.
    ///
    /// - Parameters:
    ///   - principals: `*`, the caller's user id, and its roles.
    ///   - isSignedIn: Whether a user is signed in.
    func permission(_ operation: Operation, of principals: Set<String>, isSignedIn: Bool) -> Permission {
        let grant = grants[operation] ?? Grant()
        if !grant.principals.isDisjoint(with: principals) || grant.requiresAuthentication && isSignedIn {
            return .everything
        }
        // Only the fields of a new object can grant its creation.
        let general = operation.isReading ? readUserFields : operation == .create ? [] : writeUserFields
        let fields = Set(grant.pointerFields + general).sorted()
        if !fields.isEmpty { return .objects(fields: fields) }
        return .nothing(needsSession: grant.requiresAuthentication)
    }

    /// The fields that are hidden from a caller, with the pointers that show them: an object shows the field to the users
    /// to whom one of these leads.
    ///
    /// If several lists apply to the caller and the object, a field must be in each of them, as in Parse Server. There as
    /// here, the list of a pointer hides nothing by itself.
    func hiddenFields(of principals: Set<String>, isSignedIn: Bool) -> [String: Set<String>] {
        let lists = protectedFields.filter { name, _ in
            principals.contains(name) || name == Self.authenticated && isSignedIn
        }
        guard let first = lists.values.first else { return [:] }
        let hidden = lists.values.reduce(first) { $0.intersection($1) }
        let shown = isSignedIn ? hiddenByPointer : [:]
        return Dictionary(
            uniqueKeysWithValues: hidden.map { field in
                (field, Set(shown.filter { !$0.value.contains(field) }.keys))
            })
    }

    /// The fields that stay hidden from users to whom a pointer of the object leads, by the pointer.
    private var hiddenByPointer: [String: Set<String>] {
        var lists: [String: Set<String>] = [:]
        for (name, fields) in protectedFields where name.hasPrefix(Self.userField) {
            lists[String(name.dropFirst(Self.userField.count))] = fields
        }
        return lists
    }

    /// The list of a new object without one; `nil` for none.
    func defaultAccess(for user: String?) -> AccessList? {
        guard var rights = defaultAccess else { return nil }
        let own = rights.removeValue(forKey: Self.currentUser)
        if let own, let user { rights[user] = own }
        return AccessList(rights)
    }

    /// Whether new objects get a list.
    var hasDefaultAccess: Bool { defaultAccess != nil }

    /// Whether fields are hidden from some callers.
    var hidesFields: Bool { protectedFields.contains { !$0.value.isEmpty } }

    /// The fields that must be pointers to users, or arrays of them.
    var userFields: Set<String> {
        Set(grants.values.flatMap(\.pointerFields) + readUserFields + writeUserFields + hiddenByPointer.keys)
    }

    /// The fields that are hidden from at least some callers.
    var hiddenFields: Set<String> { protectedFields.values.reduce([]) { $0.union($1) } }

    /// Removes fields that were deleted from the class. Permissions through these pointers end.
    mutating func remove(fields: Set<String>) {
        for operation in grants.keys { grants[operation]?.pointerFields.removeAll(where: fields.contains) }
        readUserFields.removeAll(where: fields.contains)
        writeUserFields.removeAll(where: fields.contains)
        for field in fields { protectedFields[Self.userField + field] = nil }
        for name in protectedFields.keys { protectedFields[name]?.subtract(fields) }
    }

    private init() {}
}

// MARK: JSON

extension ClassPermissions {
    /// Reads a client's permissions: `{"find": {"*": true}, "update": {"role:Editors": true}, "protectedFields": {…}}`.
    ///
    /// - Throws: ``ParseError`` 107 for invalid permissions, with the text of Parse Server; 123 for an invalid default
    ///   list.
    init(_ json: JSONValue) throws(ParseError) {
        guard let members = json.object else { throw Self.invalid("classLevelPermissions must be an object") }
        for (name, value) in members {
            switch name {
            case "readUserFields": readUserFields = try Self.names(value, name)
            case "writeUserFields": writeUserFields = try Self.names(value, name)
            case "protectedFields": try readProtectedFields(value)
            case "ACL": defaultAccess = value.isNull ? nil : try AccessList(value).rights
            default:
                guard let operation = Operation(rawValue: name) else {
                    throw Self.invalid("\(name.prefix(64)) is not a valid operation for class level permissions")
                }
                grants[operation] = try Self.grant(value, name)
            }
        }
        grants = grants.filter { $0.value != Grant() }
    }

    private static func invalid(_ message: String) -> ParseError { ParseError(.invalidJSON, message) }

    private static func grant(_ json: JSONValue, _ operation: String) throws(ParseError) -> Grant {
        guard let members = json.object else {
            throw invalid(
                "'\(JSONWriter.text(json).prefix(64))' is not a valid value for class level permissions \(operation)")
        }
        var grant = Grant()
        for (name, value) in members {
            if name == "pointerFields" {
                grant.pointerFields = try names(value, "\(operation).pointerFields")
                continue
            }
            guard name == "requiresAuthentication" || isPrincipal(name) else {
                throw invalid("'\(name.prefix(64))' is not a valid key for class level permissions")
            }
            guard case .bool(let isAllowed) = value else {
                throw invalid(
                    "'\(JSONWriter.text(value).prefix(64))' is not a valid value for class level permissions "
                        + "\(operation):\(name.prefix(64))")
            }
            if !isAllowed { continue }
            if name == "requiresAuthentication" {
                grant.requiresAuthentication = true
            } else {
                grant.principals.insert(name)
            }
        }
        guard grant.principals.count <= AccessList.maximumPrincipals else {
            throw invalid("\(operation) names more than \(AccessList.maximumPrincipals): use a role")
        }
        return grant
    }

    /// Whether a name can be a user's id, a role, or `*`.
    private static func isPrincipal(_ name: String) -> Bool {
        if name == "*" { return true }
        if name.hasPrefix("role:") { return name.utf8.count > 5 && name.utf8.count <= 256 }
        return ParseNames.isPlain("u" + name) && name.utf8.count <= 256
    }

    private static func names(_ json: JSONValue, _ place: String) throws(ParseError) -> [String] {
        if json.isNull { return [] }
        guard let members = json.array, members.count <= ParseNames.maximumFields else {
            throw invalid(
                "'\(JSONWriter.text(json).prefix(64))' is not a valid value for \(place) - it must be an array")
        }
        var names: [String] = []
        for member in members {
            guard let name = member.string else { throw invalid("\(place) must be an array of names of fields") }
            names.append(name)
        }
        return names
    }

    private mutating func readProtectedFields(_ json: JSONValue) throws(ParseError) {
        if json.isNull { return }
        guard let members = json.object else { throw Self.invalid("protectedFields must be an object") }
        for (name, value) in members {
            let isOfField = name.hasPrefix(Self.userField) && name.utf8.count > Self.userField.utf8.count
            guard isOfField || name == Self.authenticated || Self.isPrincipal(name) else {
                throw Self.invalid("'\(name.prefix(64))' is not a valid key for class level permissions")
            }
            let fields = Set(try Self.names(value, "protectedFields:\(name.prefix(64))"))
            if let given = fields.sorted().first(where: { ClassDescription.givenFields[$0] != nil }) {
                throw Self.invalid("Default field '\(given)' can not be protected")
            }
            protectedFields[name] = fields
        }
        // An empty list for everybody has no effect.
        if protectedFields == ["*": []] { protectedFields = [:] }
    }

    /// The permissions in the form for clients.
    var json: JSONValue {
        var json: JSONObject = [:]
        for operation in Operation.allCases {
            let grant = grants[operation] ?? Grant()
            var members = JSONObject(grant.principals.sorted().map { ($0, true) })
            if grant.requiresAuthentication { members["requiresAuthentication"] = true }
            if !grant.pointerFields.isEmpty { members["pointerFields"] = Self.json(grant.pointerFields) }
            json[operation.rawValue] = .object(members)
        }
        if !readUserFields.isEmpty { json["readUserFields"] = Self.json(readUserFields) }
        if !writeUserFields.isEmpty { json["writeUserFields"] = Self.json(writeUserFields) }
        let hidden = protectedFields.isEmpty ? ["*": []] : protectedFields
        json["protectedFields"] = .object(
            JSONObject(hidden.sorted { $0.key < $1.key }.map { ($0.key, Self.json($0.value.sorted())) }))
        if let defaultAccess { json["ACL"] = AccessList(defaultAccess).json }
        return .object(json)
    }

    private static func json(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
}
