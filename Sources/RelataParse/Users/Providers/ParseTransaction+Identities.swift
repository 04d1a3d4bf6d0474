import RelataCore
import RelataEngine

extension ParseTransaction {
    /// The users whom services know by these ids.
    func users(known identities: Identities) throws -> Set<String> {
        guard let secrets else { throw ParseError.usersAreOff }
        var users: Set<String> = []
        for (provider, id) in identities.known {
            if provider == UserFields.anonymous {
                if let user = try user("_anonymousKey", secrets.digestText(of: id)) { users.insert(user.id) }
                continue
            }
            guard AccountClasses.isThere(AccountClasses.identity, in: storedClasses.schema) else { continue }
            let values: [Value] = [.text(provider), .text(secrets.digestText(of: id))]
            let row = try accountRows(AccountClasses.identity, values) { table, values in
                "SELECT \"user\" FROM \(table) WHERE provider = \(values[0]) AND digest = \(values[1])"
            }.first
            if let user = row?[0].plainText { users.insert(user) }
        }
        return users
    }

    /// Lets services know a user by other ids, or no more.
    ///
    /// - Throws: ``ParseError`` 208 for an id by which somebody else is known.
    func setIdentities(_ identities: Identities, of user: String) throws {
        guard let secrets else { throw ParseError.usersAreOff }
        // In one order, so that nobody waits for somebody who waits in turn.
        for (provider, id) in identities.ids.sorted(by: { $0.key < $1.key }) where provider != UserFields.anonymous {
            try removeIdentities(of: user, provider: provider)
            guard let id else { continue }
            let values: [Value] = [.text(provider), .text(secrets.digestText(of: id)), .text(user)]
            try changeAccounts(AccountClasses.identity, values) { table, values in
                // Where somebody else writes the same at this moment, PostgreSQL has the transaction run again.
                "INSERT INTO \(table) (provider, digest, \"user\") VALUES (\(values.joined(separator: ", "))) "
                    + "ON CONFLICT DO NOTHING"
            }
            guard connection.driver.changes == 1 else { throw ParseError.providerIsTaken }
        }
    }

    /// Lets services know a user no more.
    ///
    /// - Parameter provider: One of them; `nil` for all.
    func removeIdentities(of user: String, provider: String? = nil) throws {
        guard AccountClasses.isThere(AccountClasses.identity, in: storedClasses.schema) else { return }
        try changeAccounts(AccountClasses.identity, [.text(user)] + (provider.map { [.text($0)] } ?? [])) {
            table, values in
            "DELETE FROM \(table) WHERE \"user\" = \(values[0])"
                + (provider == nil ? "" : " AND provider = \(values[1])")
        }
    }
}
