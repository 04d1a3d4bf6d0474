import RelataCore
import RelataEngine

extension ParseService {
    /// The caller of an import, which may write times, ids and password hashes.
    static let importer = Caller(isMaster: true, isMaintenance: true, isImport: true)

    /// Creates the classes that imported users need.
    func makeImportedUsers() async throws {
        let needed = [AccountClasses.imported, AccountClasses.identity]
        @Sendable func areThere(_ classes: ClassSet) -> Bool {
            classes.hasUsers && needed.allSatisfy { AccountClasses.isThere($0, in: classes.storedSchema) }
        }
        if areThere(store.currentClasses) { return }
        try await store.alter { draft, _ in draft.addUsers(with: needed) }
        guard areThere(store.currentClasses) else { throw ParseError.usersTableIsForeign }
    }

    /// Writes a user of another server, with its id, times and password hash.
    ///
    /// - Returns: Whether the password can be verified.
    /// - Throws: ``ParseError`` 202, 203 or 208 for a name, an address or an identity that another user has.
    func importUser(_ user: JSONObject) async throws -> Bool {
        var body = user
        let hash = body.removeValue(forKey: "_hashed_password")?.string
        let authData = body.removeValue(forKey: "authData")?.object ?? [:]
        for name in ["password", "sessionToken"] { body[name] = nil }
        let kept = hash.flatMap { hash in
            store.secrets?.isForeign(hash) == true ? BcryptHash(hash) : nil
        }
        let fields = try UserFields(body, isMaster: true)
        let identities = Identities(trusting: authData)
        let call = ParseCall(method: .post, path: ["users"], body: [:], caller: Self.importer)
        _ = try await writing([.create(InternalClasses.user, fields.body)], call, .none) { writer in
            let transaction = writer.transaction
            try transaction.checkIsFree(fields, identities, for: nil)
            let (id, _) = try transaction.create(fields, identities, hash: kept?.text, writer)
            if let kept { try transaction.noteImported(id, cost: kept.cost) }
            return WireReply([:])
        }
        return kept != nil
    }
}
