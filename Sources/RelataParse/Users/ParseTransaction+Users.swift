import Foundation
import RelataCore
import RelataEngine

/// A user as the server stores it.
struct StoredUser: Sendable {
    let id: String
    /// The hash of the password; `nil` for a user without one.
    let hash: String?
    let authData: JSONObject
    let name: String
    let email: String?
    /// Whether the user's address is verified.
    let isVerified: Bool
    /// The normalized address, which is equal for addresses that people consider equal; `nil` without an address.
    let emailKey: String?

    /// The same user with another hash.
    func with(hash: String) -> StoredUser {
        StoredUser(
            id: id, hash: hash, authData: authData, name: name, email: email, isVerified: isVerified,
            emailKey: emailKey)
    }
}

extension ParseTransaction {
    /// The class of users, with all fields.
    ///
    /// - Throws: ``ParseError`` 119 if the table with this name belongs to another program.
    func users() throws(ParseError) -> ParseClass {
        guard storedClasses.hasUsers, let users = storedClasses[InternalClasses.user] else {
            throw ParseError.usersTableIsForeign
        }
        return users
    }

    /// The user with a unique value: a normalized name or address, a digest, or the object id.
    func user(_ property: String, _ value: String) throws -> StoredUser? {
        guard storedClasses.hasUsers else { return nil }
        let plan = QueryPlan(
            entity: InternalClasses.user,
            condition: .comparison(.equal, .property(scope: 0, path: [property]), .value(.text(value)), []))
        let nodes = ["objectId", "_password", "authData", "_emailKey", "username", "email", "emailVerified"].map {
            ExpressionNode.property(scope: 0, path: [$0])
        }
        let query = try unlimitedCompiler.select(plan, columns: .expressions(nodes))
        guard let row = try connection.values(query.statement, types: query.columnTypes).first,
            case .text(let id) = row[0]
        else { return nil }
        let providers = row[2].isNull ? nil : try? JSONParser.parse(row[2].description)
        return StoredUser(
            id: id, hash: row[1].plainText, authData: providers?.object ?? [:], name: row[4].plainText ?? "",
            email: row[5].plainText, isVerified: row[6].wholeNumber == 1, emailKey: row[3].plainText)
    }

    /// Checks that no other user has the name, the address, or one of the identities.
    ///
    /// - Parameter id: The user who gets them; `nil` for a new one.
    /// - Throws: ``ParseError`` 202, 203 and 208.
    func checkIsFree(_ fields: UserFields, _ identities: Identities, for id: String?) throws {
        if let name = fields.username, let other = try user("_usernameKey", UserFields.key(name)), other.id != id {
            throw ParseError.usernameIsTaken
        }
        if case .set(let address)? = fields.email, let other = try user("_emailKey", UserFields.key(address)),
            other.id != id
        {
            throw ParseError.emailIsTaken
        }
        guard try users(known: identities).allSatisfy({ $0 == id }) else { throw ParseError.providerIsTaken }
    }

    /// Begins a session.
    ///
    /// - Parameter action: The action that began the session, and the service that verified the user.
    /// - Returns: The session's token. Only its digest is stored.
    func newSession(
        of user: String, _ action: (String, provider: String), installation: String?, lifetime: Double
    ) throws -> String {
        guard let secrets, let table = schema[InternalClasses.session], table.entity.isSession else {
            throw ParseError.usersAreOff
        }
        let token = Token.session()
        let times = ["createdAt": now, "updatedAt": now, "expiresAt": now.addingTimeInterval(lifetime)]
        try addSession(
            objectIDs.next(), of: user, action, digest: secrets.digestText(of: token), installation: installation,
            times: times, to: table)
        return token
    }

    /// Writes a new session.
    ///
    /// - Parameters:
    ///   - action: The action that began the session, and the service that verified the user.
    ///   - digest: The digest of the session's token.
    ///   - times: `createdAt`, `updatedAt` and `expiresAt`. Without the last one, the session doesn't end.
    ///   - table: The table of sessions.
    func addSession(
        _ id: String, of user: String, _ action: (String, provider: String), digest: String,
        isRestricted: Bool = false, installation: String?, times: [String: Date], to table: Table
    ) throws {
        let created: JSONValue = ["action": .string(action.0), "authProvider": .string(action.provider)]
        var values: [String: Value] = [
            "objectId": .text(id), "user": .text(user), "restricted": .integer(isRestricted ? 1 : 0),
            "createdWith": .text(JSONWriter.text(created)), "_token": .text(digest),
        ]
        for (name, date) in times {
            values[name] = table.columnIndexes(of: name).first.map { table.columns[$0].type.stamp(date) }
        }
        if let installation { values["installationId"] = .text(String(installation.prefix(256))) }
        try write([ValueBatch.Row(key: KeyValue(.text(id)), values: table.values(values))], of: table)
    }

    /// Ends the sessions of a user.
    ///
    /// - Parameter kept: The session that doesn't end.
    func endSessions(of user: String, except kept: String?) throws {
        guard let sessions = storedClasses[InternalClasses.session], sessions.table.entity.isSession else { return }
        var condition = ExpressionNode.keyIn(.property(scope: 0, path: ["user"]), [KeyValue(.text(user))])
        if let kept {
            condition = .and([condition, .not(.keyIn(.property(scope: 0, path: []), [KeyValue(.text(kept))]))])
        }
        let keys = try unlimitedCompiler.keys(QueryPlan(entity: InternalClasses.session, condition: condition))
            .statement
        _ = try connection.delete(
            entity: sessions.table.index, roots: .query(keys), schema: schema, access: .everything, now: now,
            isUndoneByCaller: true)
    }

    /// A user with the fields that only this user can read.
    ///
    /// - Parameters:
    ///   - selection: The fields in the reply.
    ///   - token: The session's token, if the reply contains it.
    func ownUser(_ id: String, _ selection: Selection, token: String?, limit: Int) throws -> WireReply {
        guard let users = storedClasses[InternalClasses.user],
            let row = try connection.row(KeyValue(.text(id)), of: users.table, unlimitedCompiler),
            let seen = classes[InternalClasses.user]
        else { throw ParseError(.objectNotFound, "Object not found.") }
        let plan = QueryPlan(
            entity: seen.name, condition: .keyIn(.property(scope: 0, path: []), [KeyValue(.text(id))]))
        var objects = try ObjectFetcher(self, limit: limit).fetch(plan, selection, of: seen)
        guard !objects.ranges.isEmpty, objects.bytes.popLast() == UInt8(ascii: "}") else {
            throw ParseError(.objectNotFound, "Object not found.")
        }
        var json = JSONWriter(capacity: 256)
        for field in users.fields where seen[field.name] == nil {
            guard selection.shows(field),
                let value = users.json(field, of: row, in: storedClasses)
            else { continue }
            json.append(json: Array(",\(JSONWriter.text(.string(field.name))):".utf8))
            json.write(value)
        }
        if let token {
            json.append(",\"sessionToken\":")
            json.write(token)
        }
        json.append("}")
        return WireReply(body: objects.bytes + json.bytes)
    }
}

extension ParseError {
    /// The error for a table of users that belongs to another program.
    static let usersTableIsForeign = ParseError(
        .operationForbidden,
        "the table \(InternalClasses.user) belongs to another program: rename it there, or use another database")
    static let usernameIsTaken = ParseError(.usernameTaken, "Account already exists for this username.")
    static let emailIsTaken = ParseError(.emailTaken, "Account already exists for this email address.")
}
