import Foundation
import RelataCore
import RelataEngine

extension ParseService {
    /// The user with this name or address, and this password.
    ///
    /// - Throws: ``ParseError`` 101 for a wrong name or password, and for a locked account: neither the reply nor its
    ///   time reveals which names exist. 205 for an address that must be verified first.
    func checkedPassword(_ call: ParseCall) async throws -> StoredUser {
        guard let secrets = store.secrets else { throw ParseError.usersAreOff }
        let name = call.body["username"]?.string ?? ""
        let address = call.body["email"]?.string ?? ""
        guard !name.isEmpty || !address.isEmpty else {
            throw ParseError(.usernameMissing, "username/email is required.")
        }
        guard let password = call.body["password"]?.string, !password.isEmpty else {
            throw ParseError(.passwordMissing, "password is required.")
        }
        let (user, counted) = try await store.read(as: .master) { transaction -> (StoredUser?, String?) in
            let named = name.isEmpty ? nil : try transaction.user("_usernameKey", UserFields.key(name))
            guard !address.isEmpty else { return (named, named?.id) }
            let other = try transaction.user("_emailKey", UserFields.key(address))
            return (name.isEmpty || named?.id == other?.id ? other : nil, name.isEmpty ? other?.id : named?.id)
        }
        // An unknown name is locked like an existing one, and a name with the wrong address like the name alone.
        let unknown =
            (name.isEmpty ? "?e" : "?n") + secrets.digestText(of: UserFields.key(name.isEmpty ? address : name))
        let account = counted ?? unknown
        try await checkIsOpen(account)
        // The check of an unknown name takes as long as that of a wrong password.
        let decoy = try await decoy.hash(by: secrets)
        let isRight = try await secrets.matches(password, user?.hash ?? decoy)
        try await decide(isRight && user?.hash != nil, account)
        guard isRight, let user, user.hash != nil else {
            throw ParseError(.objectNotFound, "Invalid username/password.")
        }
        if options.mail?.needsVerifiedAddress == true, !user.isVerified {
            throw ParseError(.emailNotFound, "User email is not verified.")
        }
        if options.passwords.maximumAge != nil {
            try await makeUsers()
            let rules = options.passwords
            try await store.write(as: .master) { try $0.checkPasswordAge(of: user, rules) }
        }
        return user
    }

    /// Refuses a locked account before any work is done.
    private func checkIsOpen(_ account: String) async throws {
        guard let lockout = options.lockout else { return }
        try await makeUsers()
        if let time = try await store.read(as: .master, { try $0.lockout(of: account, lockout) }) {
            throw LockoutOptions.error(time)
        }
    }

    /// Counts an attempt to sign in.
    ///
    /// - Throws: ``ParseError`` 101 if other attempts have locked the account in the meantime.
    private func decide(_ isRight: Bool, _ account: String) async throws {
        guard let lockout = options.lockout else { return }
        let outcome = try await store.write(as: .master) { try $0.decide(isRight, account, lockout) }
        if case .closed(let time) = outcome { throw LockoutOptions.error(time) }
    }
}
