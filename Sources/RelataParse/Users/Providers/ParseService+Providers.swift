import RelataCore
import RelataEngine

extension ParseService {
    /// The user with these identities; `nil` if there is none.
    ///
    /// - Throws: ``ParseError`` 208 if they belong to more than one user.
    func user(known identities: Identities) async throws -> StoredUser? {
        try await store.read(as: .master) { transaction in
            let users = try transaction.users(known: identities)
            guard users.count <= 1 else { throw ParseError.providerIsTaken }
            return try users.first.flatMap { try transaction.user("objectId", $0) }
        }
    }

    /// Signs in the user with these identities. Those that are new to the user are added: the services have verified
    /// all of them for the sender of the request.
    func logIn(_ user: StoredUser, by identities: Identities, _ call: ParseCall) async throws -> WireReply {
        // A signed-in client may sign in as another user, even if its session has ended.
        var call = call
        call.caller.sessionToken = nil
        try await willLogIn(user.id, call)
        if identities.authData(after: user.authData) != user.authData {
            try await makeUsers()
            try await store.write(as: .master) { transaction in
                let users = try transaction.users(known: identities)
                guard users == [user.id], let known = try transaction.user("objectId", user.id) else {
                    throw ParseError.providerIsTaken
                }
                try transaction.setIdentities(identities, of: user.id)
                try transaction.set(transaction.values(of: identities, after: known.authData), of: user.id)
            }
        }
        let action = ("login", provider: identities.names)
        let reply = try await beginSession(of: user.id, hash: nil, action, call) { transaction in
            // The identities may have changed since the services were asked.
            try transaction.users(known: identities) == [user.id]
        }
        try await didLogIn(user.id, call)
        return reply
    }
}

extension ParseTransaction {
    /// The values of the columns with a user's identities, by the names of the properties.
    ///
    /// - Parameter stored: The user's current `authData`.
    func values(of identities: Identities, after stored: JSONObject) -> [String: Value] {
        guard !identities.isEmpty else { return [:] }
        let authData = identities.authData(after: stored)
        var values: [String: Value] = [
            "authData": authData.isEmpty ? .null : .text(JSONWriter.text(.object(authData)))
        ]
        if let anonymous = identities.ids[UserFields.anonymous] {
            values["_anonymousKey"] = anonymous.flatMap { id in secrets.map { .text($0.digestText(of: id)) } } ?? .null
        }
        return values
    }
}
