import Foundation
import RelataCore
import RelataEngine

extension ParseTransaction {
    /// Makes the token of a link, and replaces the last one for the same purpose. Only its digest is stored.
    ///
    /// - Parameters:
    ///   - address: The key of the address to which the token is sent.
    ///   - lifetime: The number of seconds that the token works.
    ///   - interval: The least number of seconds between two tokens for the same address.
    /// - Returns: The token; `nil` if the last one is too recent.
    func newToken(
        _ purpose: MailTemplate.Purpose, of user: String, address: String, lifetime: Double, interval: Double
    ) throws -> String? {
        guard let secrets else { throw ParseError.usersAreOff }
        if try wasJustSent(purpose, to: user, address, interval) { return nil }
        let purpose = Value.text(purpose.rawValue)
        let token = Token.hex(32)
        let end = milliseconds + Int64(lifetime * 1000)
        let values: [Value] = [
            .text(user), purpose, .text(secrets.digestText(of: token)), .text(address), .integer(milliseconds),
            .integer(end),
        ]
        try changeAccounts(AccountClasses.token, values) { table, values in
            """
            INSERT INTO \(table) ("user", purpose, digest, address, "sentAt", "endsAt")
            VALUES (\(values.joined(separator: ", ")))
            ON CONFLICT ("user", purpose) DO UPDATE SET digest = excluded.digest, address = excluded.address,
                "sentAt" = excluded."sentAt", "endsAt" = excluded."endsAt"
            """
        }
        return token
    }

    /// Whether a user got a mail at an address so short a time ago that no other is sent.
    func wasJustSent(
        _ purpose: MailTemplate.Purpose, to user: String, _ address: String, _ interval: Double
    ) throws -> Bool {
        guard AccountClasses.isThere(AccountClasses.token, in: storedClasses.schema) else { return false }
        let last = try accountRows(AccountClasses.token, [.text(user), .text(purpose.rawValue)]) { table, values in
            """
            SELECT address, "sentAt" FROM \(table) WHERE "user" = \(values[0]) AND purpose = \(values[1])
            """
        }.first
        guard let last, last[0].plainText?.hasSameBytes(as: address) == true, let sent = last[1].wholeNumber else {
            return false
        }
        return Double(milliseconds - sent) < interval * 1000
    }

    /// The user to whom a link leads, and whose address is still the one that it was sent to.
    ///
    /// - Throws: ``ParseError/tokenIsInvalid``.
    func linkedUser(_ token: String, _ purpose: MailTemplate.Purpose) throws -> StoredUser {
        guard let secrets, AccountClasses.isThere(AccountClasses.token, in: storedClasses.schema) else {
            throw ParseError.tokenIsInvalid
        }
        let values: [Value] = [
            .text(secrets.digestText(of: token)), .text(purpose.rawValue), .integer(milliseconds),
        ]
        let row = try accountRows(AccountClasses.token, values) { table, values in
            """
            SELECT "user", address FROM \(table)
            WHERE digest = \(values[0]) AND purpose = \(values[1]) AND "endsAt" > \(values[2])
            """
        }.first
        guard let id = row?[0].plainText, let address = row?[1].plainText, let user = try user("objectId", id),
            user.emailKey?.hasSameBytes(as: address) == true
        else { throw ParseError.tokenIsInvalid }
        return user
    }

    /// Uses a token up. Of several uses at the same time, only one succeeds.
    ///
    /// - Throws: ``ParseError/tokenIsInvalid``.
    func useToken(_ token: String, _ purpose: MailTemplate.Purpose) throws -> StoredUser {
        let user = try linkedUser(token, purpose)
        try endTokens(purpose, of: user.id)
        return user
    }

    /// Ends a user's token for a purpose.
    func endTokens(_ purpose: MailTemplate.Purpose, of user: String) throws {
        guard AccountClasses.isThere(AccountClasses.token, in: storedClasses.schema) else { return }
        try changeAccounts(AccountClasses.token, [.text(user), .text(purpose.rawValue)]) { table, values in
            "DELETE FROM \(table) WHERE \"user\" = \(values[0]) AND purpose = \(values[1])"
        }
    }
}

extension ParseError {
    /// The error for a link that was used, has expired or never existed.
    static let tokenIsInvalid = ParseError(.objectNotFound, "the link is invalid, or was used")
}
