import Foundation
import RelataCore
import RelataEngine

extension ParseTransaction {
    /// The hashes of a user's last passwords, the latest first.
    func passwords(of user: StoredUser, _ count: Int) throws -> [String] {
        guard count > 0 else { return [] }
        let rows = try rememberedPasswords(of: user.id)
        let hashes = rows.compactMap { $0[1].plainText }
        // The current password may have been set before passwords were remembered.
        let current = user.hash.map { hashes.first == $0 ? [] : [$0] } ?? []
        return Array((current + hashes).prefix(count))
    }

    private func rememberedPasswords(of user: String) throws -> [[Value]] {
        guard AccountClasses.isThere(AccountClasses.password, in: storedClasses.schema) else { return [] }
        return try accountRows(AccountClasses.password, [.text(user)]) { table, values in
            "SELECT \"setAt\", hash FROM \(table) WHERE \"user\" = \(values[0]) ORDER BY \"setAt\" DESC"
        }
    }

    /// Remembers a user's new password.
    ///
    /// - Parameter last: The hash of the previous password.
    func rememberPassword(of user: String, _ hash: String, last: String?, _ options: PasswordOptions) throws {
        try forgetImported(user)
        guard options.areRemembered else { return }
        let known = try rememberedPasswords(of: user)
        if known.isEmpty, options.history > 1, let last { try remember(user, last, at: milliseconds - 1) }
        // Two passwords set in the same millisecond need different times.
        let time = max(milliseconds, (known.first?[0].wholeNumber ?? 0) + 1)
        try remember(user, hash, at: time)
        let kept = Int64(max(1, options.history))
        try changeAccounts(AccountClasses.password, [.text(user), .integer(kept)]) { table, values in
            """
            DELETE FROM \(table) WHERE "user" = \(values[0]) AND "setAt" NOT IN
                (SELECT "setAt" FROM \(table) WHERE "user" = \(values[0]) ORDER BY "setAt" DESC LIMIT \(values[1]))
            """
        }
    }

    private func remember(_ user: String, _ hash: String, at time: Int64) throws {
        try changeAccounts(AccountClasses.password, [.text(user), .integer(time), .text(hash)]) { table, values in
            """
            INSERT INTO \(table) ("user", "setAt", hash) VALUES (\(values.joined(separator: ", ")))
            ON CONFLICT ("user", "setAt") DO UPDATE SET hash = excluded.hash
            """
        }
    }

    /// Checks that a user's password isn't too old. If its age is unknown, it counts from now.
    ///
    /// - Throws: ``ParseError`` 101 for a password that is too old.
    func checkPasswordAge(of user: StoredUser, _ options: PasswordOptions) throws {
        guard let age = options.maximumAge, let hash = user.hash else { return }
        guard let set = try rememberedPasswords(of: user.id).first?[0].wholeNumber else {
            return try remember(user.id, hash, at: milliseconds)
        }
        guard Double(milliseconds - set) < age * 1000 else {
            throw ParseError(.objectNotFound, "Your password has expired. Please reset your password.")
        }
    }
}
