import RelataCore
import RelataEngine

extension ParseTransaction {
    /// The ids of the users with these identities.
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

    /// Changes or removes identities of a user.
    ///
    /// - Throws: ``ParseError`` 208 for an identity that belongs to another user.
    func setIdentities(_ identities: Identities, of user: String) throws {
        guard let secrets else { throw ParseError.usersAreOff }
        // Always in the same order, so that two transactions can't wait for each other.
        for (provider, id) in identities.ids.sorted(by: { $0.key < $1.key }) where provider != UserFields.anonymous {
            try removeIdentities(of: user, provider: provider)
            guard let id else { continue }
            let values: [Value] = [.text(provider), .text(secrets.digestText(of: id)), .text(user)]
            try changeAccounts(AccountClasses.identity, values) { table, values in
                // If another transaction inserts the same row at this moment, PostgreSQL requires a retry.
                "INSERT INTO \(table) (provider, digest, \"user\") VALUES (\(values.joined(separator: ", "))) "
                    + "ON CONFLICT DO NOTHING"
            }
            guard connection.driver.changes == 1 else { throw ParseError.providerIsTaken }
        }
    }

    /// Removes identities of a user.
    ///
    /// - Parameter provider: The service; `nil` for all.
    func removeIdentities(of user: String, provider: String? = nil) throws {
        guard AccountClasses.isThere(AccountClasses.identity, in: storedClasses.schema) else { return }
        try changeAccounts(AccountClasses.identity, [.text(user)] + (provider.map { [.text($0)] } ?? [])) {
            table, values in
            "DELETE FROM \(table) WHERE \"user\" = \(values[0])"
                + (provider == nil ? "" : " AND provider = \(values[1])")
        }
    }
}
