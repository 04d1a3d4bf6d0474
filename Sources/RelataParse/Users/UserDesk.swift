import RelataCore
import RelataEngine

/// Users and their roles for the server's operator: by the same requests as clients with the master key, so the same
/// rules apply.
package struct UserDesk: Sendable {
    /// A user, as it is listed.
    package struct Account: Hashable, Sendable {
        package let id: String
        package let name: String
        package let email: String?
        package let isEmailVerified: Bool
        /// The time when the user signed up, in Parse's format for dates.
        package let createdAt: String
    }

    /// A role that a user has.
    package struct Membership: Hashable, Sendable {
        package let role: String
        /// Whether the role names the user. Otherwise, the user has it by another role.
        package let isDirect: Bool
    }

    private let service: ParseService

    /// - Parameters:
    ///   - store: The server's store.
    ///   - options: The server's options for storing and accepting passwords.
    package init(_ store: ParseStore, options: ParseService.Options) {
        var options = options
        // Nobody would get the token of the session.
        options.beginsSessions = false
        service = ParseService(store, keys: ParseKeys(applicationID: ""), options: options)
    }

    // MARK: Users

    /// Creates a user.
    ///
    /// - Returns: Its id.
    /// - Throws: ``ParseError`` 202 and 203 for a name and an address that another user has; 142 for a password that
    ///   breaks the rules.
    package func create(
        _ name: String, password: String, email: String?, isEmailVerified: Bool
    ) async throws -> String {
        var body: JSONObject = ["username": .string(name), "password": .string(password)]
        if let email { body["email"] = .string(email) }
        if isEmailVerified { body["emailVerified"] = true }
        let reply = try await json(.post, ["users"], body)
        guard let id = reply["objectId"]?.string else { throw ParseError(.otherCause, "the user wasn't created") }
        return id
    }

    /// Gives a user another password, ends its sessions, and opens its account if that is locked.
    ///
    /// - Returns: The user, and the number of ended sessions.
    /// - Throws: ``ParseError`` 101 for a user that doesn't exist; 142 for a password that breaks the rules.
    package func setPassword(
        _ password: String, of name: String
    ) async throws -> (user: Account, endedSessions: Int) {
        let user = try await account(name)
        let sessions = try await json(
            .get, ["sessions"], ["where": ["user": Self.pointer(to: user.id)], "limit": 0, "count": 1])
        _ = try await json(.put, ["users", user.id], ["password": .string(password)])
        try await service.store.write(as: .master) { try $0.forgetFailures(user.id) }
        return (user, Int(sessions["count"]?.integer ?? 0))
    }

    /// The first users by their names.
    ///
    /// - Returns: At most the given number, and the total number.
    package func accounts(limit: Int) async throws -> (accounts: [Account], count: Int) {
        let reply = try await json(
            .get, ["users"], ["order": "username", "limit": .integer(Int64(limit)), "count": 1])
        let accounts = reply["results"]?.array?.compactMap(Account.init) ?? []
        return (accounts, Int(reply["count"]?.integer ?? 0))
    }

    /// The user of a name, or of an id.
    ///
    /// - Throws: ``ParseError`` 101 for a user that doesn't exist, and 102 for a text that is one user's name and
    ///   another's id: people choose their names, and could take an id for one.
    package func account(_ name: String) async throws -> Account {
        let ids = try await service.store.read(as: .master) { transaction in
            [try transaction.user("_usernameKey", UserFields.key(name)), try transaction.user("objectId", name)]
                .compactMap { $0?.id }
        }
        guard let id = ids.first else {
            throw ParseError(.objectNotFound, "there is no user \(name.prefix(64))")
        }
        guard Set(ids).count == 1 else {
            throw ParseError(
                .invalidQuery,
                "\(name.prefix(64)) is the name of the user \(ids[0]) and the id of another: give the id \(ids[0]), or the name of the other"
            )
        }
        guard let account = Account(try await json(.get, ["users", id], [:])) else {
            throw ParseError(.objectNotFound, "there is no user \(name.prefix(64))")
        }
        return account
    }

    // MARK: Roles

    /// The roles of a user, by their names.
    package func roles(of user: Account) async throws -> [Membership] {
        let direct = Set(try await directRoles(of: user))
        let all = try await service.store.read(as: .master) { transaction in
            try CallerLookup(
                connection: transaction.connection, classes: transaction.storedClasses, now: transaction.now,
                secrets: transaction.secrets
            ).principals(of: KnownCaller.SignedIn(id: "", user: user.id, end: nil))
        }
        return all.filter { $0.hasPrefix("role:") }.map { String($0.dropFirst(5)) }.sorted().map {
            Membership(role: $0, isDirect: direct.contains($0))
        }
    }

    private func directRoles(of user: Account) async throws -> [String] {
        let reply = try await json(
            .get, ["roles"], ["where": ["users": Self.pointer(to: user.id)], "limit": 100_000, "keys": "name"])
        return reply["results"]?.array?.compactMap { $0["name"]?.string } ?? []
    }

    /// Gives a user a role.
    ///
    /// - Parameter makesRole: Whether a missing role is made: everyone can read it, and only the master key changes it.
    /// - Returns: Whether the user didn't have it.
    /// - Throws: ``ParseError`` 101 for a role that doesn't exist, and 139 for a name that a role can't have.
    package func add(_ user: Account, to role: String, makesRole: Bool) async throws -> Bool {
        let change: JSONValue = ["__op": "AddRelation", "objects": [Self.pointer(to: user.id)]]
        guard let id = try await roleID(role) else {
            guard makesRole else { throw Self.missing(role) }
            _ = try await json(
                .post, ["roles"], ["name": .string(role), "ACL": ["*": ["read": true]], "users": change])
            return true
        }
        if try await directRoles(of: user).contains(role) { return false }
        _ = try await json(.put, ["roles", id], ["users": change])
        return true
    }

    /// Takes a role from a user.
    ///
    /// - Throws: ``ParseError`` 101 for a role that doesn't exist, or that the user doesn't have itself.
    package func remove(_ user: Account, from role: String) async throws {
        guard let id = try await roleID(role) else { throw Self.missing(role) }
        guard try await directRoles(of: user).contains(role) else {
            throw ParseError(.objectNotFound, "\(user.name) doesn't have the role \(role.prefix(64)) directly")
        }
        _ = try await json(
            .put, ["roles", id], ["users": ["__op": "RemoveRelation", "objects": [Self.pointer(to: user.id)]]])
    }

    private func roleID(_ name: String) async throws -> String? {
        let reply = try await json(.get, ["roles"], ["where": ["name": .string(name)], "keys": "name"])
        return reply["results"]?.array?.first?["objectId"]?.string
    }

    private static func missing(_ role: String) -> ParseError {
        ParseError(.objectNotFound, "there is no role \(role.prefix(64))")
    }

    private static func pointer(to user: String) -> JSONValue {
        ["__type": "Pointer", "className": .string(InternalClasses.user), "objectId": .string(user)]
    }

    private func json(_ method: ParseCall.Method, _ path: [String], _ body: JSONObject) async throws -> JSONValue {
        try JSONParser.parse(
            try await service.answer(ParseCall(method: method, path: path, body: body, caller: .master)).body)
    }
}

extension UserDesk.Account {
    fileprivate init?(_ json: JSONValue) {
        guard let id = json["objectId"]?.string else { return nil }
        self.id = id
        name = json["username"]?.string ?? ""
        email = json["email"]?.string
        isEmailVerified = json["emailVerified"] == true
        createdAt = json["createdAt"]?.string ?? ""
    }
}
