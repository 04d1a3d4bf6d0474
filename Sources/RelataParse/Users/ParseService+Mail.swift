import Foundation
import RelataCore
import RelataEngine

extension ParseService {
    /// Answers a request for a mail. The reply and its time are the same whether or not a user has the address: the
    /// user is looked up afterwards.
    func requestMail(_ purpose: MailTemplate.Purpose, _ call: ParseCall) throws(ParseError) -> WireReply {
        guard let mail = options.mail, let queue else { throw DisabledFeature.mailIsOff }
        guard let value = call.body["email"], !value.isNull, value != "" else {
            throw ParseError(.emailMissing, "you must provide an email")
        }
        guard let address = value.string, address.utf8.count <= 256 else {
            throw ParseError(.invalidEmailAddress, "you must provide a valid email string")
        }
        if purpose == .verification, !mail.verifiesAddresses { throw DisabledFeature.verificationIsOff }
        // A waiting mail must not retain the whole request.
        let (key, language) = (UserFields.key(address), call.language)
        try queue.add { try await self.mail(purpose, to: key, language: language) }
        return WireReply([:])
    }

    /// Sends a mail to a user's new address, with a link that verifies the address.
    func verify(_ address: String, _ call: ParseCall) {
        guard let mail = options.mail, mail.verifiesAddresses, let queue else { return }
        let (key, language) = (UserFields.key(address), call.language)
        // A user whose mail isn't sent because the queue is full can request it.
        do throws(ParseError) {
            try queue.add { try await self.mail(.verification, to: key, language: language) }
        } catch {
            mail.report?(error)
        }
    }

    /// The mail for an address; `nil` if no user has the address, or if there is nothing to send.
    private func mail(
        _ purpose: MailTemplate.Purpose, to key: String, language: String?
    ) async throws -> Mail? {
        guard let mail = options.mail else { return nil }
        let user = try await store.read(as: .master) { transaction -> StoredUser? in
            guard let user = try transaction.user("_emailKey", key),
                try !transaction.wasJustSent(purpose, to: user.id, key, mail.interval)
            else { return nil }
            return user
        }
        guard let user else { return nil }
        if purpose == .passwordReset, try await !mayResetPassword(user.id) { return nil }
        try await makeUsers()
        let lifetime = purpose == .passwordReset ? mail.resetLifetime : mail.verificationLifetime
        let sent = try await store.write(as: .master) { transaction -> (user: StoredUser, token: String)? in
            guard let known = try transaction.user("_emailKey", key),
                purpose == .passwordReset || !known.isVerified,
                let token = try transaction.newToken(
                    purpose, of: known.id, address: key, lifetime: lifetime, interval: mail.interval)
            else { return nil }
            return (known, token)
        }
        guard let sent, let address = sent.user.email else { return nil }
        let link = mail.link(AccountPage.path(of: purpose), application: keys.applicationID, token: sent.token)
        let values = MailTemplate.Values(app: mail.appName, link: link, name: sent.user.name, address: address)
        return mail.mail(purpose, values, accepted: language)
    }

    // MARK: Links

    /// Sets the password of a link's user, and uses the link up. All sessions end. The link proves that the user reads
    /// the address's mails, so it becomes verified. If it wasn't, identities linked to the account before are removed.
    ///
    /// - Throws: ``ParseError/tokenIsInvalid``; 142 for a password that isn't allowed.
    func setPassword(_ password: String, by token: String) async throws {
        guard let secrets = store.secrets else { throw ParseError.usersAreOff }
        // Checks the rules for all passwords.
        _ = try UserFields(["password": .string(password)], isMaster: false)
        guard !password.isEmpty else { throw Self.passwordMissing }
        let user = try await linkedUser(token, .passwordReset)
        try await checkPassword(password, of: user, username: nil)
        try await makeUsers()
        let hash = try await secrets.hash(of: password)
        let options = options
        try await store.write(as: .master) { transaction in
            let user = try transaction.useToken(token, .passwordReset)
            try transaction.setPassword(of: user, hash, options)
            if options.lockout?.endsWithReset == true { try transaction.forgetFailures(user.id) }
        }
    }

    /// Verifies the address that a link was sent to, and uses the link up.
    ///
    /// - Throws: ``ParseError/tokenIsInvalid``.
    func verifyAddress(by token: String) async throws {
        try await store.write(as: .master) { transaction in
            let user = try transaction.useToken(token, .verification)
            try transaction.set(["emailVerified": .integer(1)], of: user.id)
        }
    }

    /// The user of a link.
    ///
    /// - Throws: ``ParseError/tokenIsInvalid``.
    func linkedUser(_ token: String, _ purpose: MailTemplate.Purpose) async throws -> StoredUser {
        try await store.read(as: .master) { try $0.linkedUser(token, purpose) }
    }

    // MARK: Passwords

    /// Checks a new password.
    ///
    /// - Parameters:
    ///   - user: The user who gets the password; `nil` for a new user.
    ///   - username: The user name in the request.
    /// - Throws: ``ParseError`` 142 that describes the violated rule.
    func checkPassword(_ password: String, of user: StoredUser?, username: String?) async throws {
        let rules = options.passwords
        try rules.check(password, of: username ?? user?.name)
        guard rules.history > 0, let user, let secrets = store.secrets else { return }
        let hashes = try await store.read(as: .master) { try $0.passwords(of: user, rules.history) }
        for hash in hashes where try await secrets.matches(password, hash) {
            throw PasswordOptions.wasUsed(rules.history)
        }
    }
}

extension ParseTransaction {
    /// Sets the password that a user chose through the link in a mail.
    fileprivate func setPassword(of user: StoredUser, _ hash: String, _ options: ParseService.Options) throws {
        var values: [String: Value] = ["_password": .text(hash), "emailVerified": .integer(1)]
        // Someone who signed up with another person's address may have linked other ways to sign in.
        if !user.isVerified {
            for name in ["authData", "_anonymousKey"] { values[name] = .null }
            try removeIdentities(of: user.id)
        }
        try set(values, of: user.id)
        try rememberPassword(of: user.id, hash, last: user.hash, options.passwords)
        try endTokens(.verification, of: user.id)
        try endSessions(of: user.id, except: nil)
    }

    /// Sets fields of a user that the request doesn't contain.
    func set(_ values: [String: Value], of user: String) throws {
        let users = try users()
        var object = ObjectWriter(self, users)
        try object.update(
            KeyValue(.text(user)), try ObjectBody([:]), of: [], hidden: users.table.columnValues(values))
    }
}
