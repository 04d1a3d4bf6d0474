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
        let (found, counted, cost) = try await store.read(as: .master) {
            transaction -> (StoredUser?, String?, Int?) in
            let cost = try transaction.importedCost()
            let named = name.isEmpty ? nil : try transaction.user("_usernameKey", UserFields.key(name))
            guard !address.isEmpty else { return (named, named?.id, cost) }
            let other = try transaction.user("_emailKey", UserFields.key(address))
            return (
                name.isEmpty || named?.id == other?.id ? other : nil, name.isEmpty ? other?.id : named?.id,
                cost
            )
        }
        // An unknown name is locked like an existing one, and a name with the wrong address like the name alone.
        let unknown =
            (name.isEmpty ? "?e" : "?n") + secrets.digestText(of: UserFields.key(name.isEmpty ? address : name))
        let account = counted ?? unknown
        try await checkIsOpen(account)
        // An unknown name takes as long as a wrong password.
        let isRight = try await isRight(password, found?.hash, importedCost: cost, secrets)
        try await decide(isRight && found?.hash != nil, account)
        guard isRight, let found, let hash = found.hash else {
            throw ParseError(.objectNotFound, "Invalid username/password.")
        }
        let user = secrets.isForeign(hash) ? try await replaceHash(of: found, password, secrets) : found
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

    /// Whether a password is right. While there are hashes of another server, both kinds are computed for every name,
    /// at the highest cost: the time reveals neither which names exist, nor how a password is stored.
    private func isRight(
        _ password: String, _ hash: String?, importedCost: Int?, _ secrets: any SecretHashing
    ) async throws -> Bool {
        let decoy = try await decoy.hash(by: secrets)
        let foreign = hash.flatMap { secrets.isForeign($0) ? $0 : nil }
        let own = try await secrets.matches(password, foreign == nil ? hash ?? decoy : decoy)
        guard importedCost != nil || foreign != nil else { return own }
        var others: [Bool] = []
        for hash in BcryptHash.equalWork(foreign, greatest: importedCost ?? 0) {
            others.append(try await secrets.matches(password, hash))
        }
        return foreign == nil ? own : others.first == true
    }

    /// Keeps a password that was right by the server's own method from now on.
    ///
    /// - Throws: ``ParseError`` 101 if it isn't right any more.
    private func replaceHash(
        of user: StoredUser, _ password: String, _ secrets: any SecretHashing
    ) async throws -> StoredUser {
        let hash = try await secrets.hash(of: password)
        let known = try await store.write(as: .master) { transaction -> StoredUser? in
            guard let known = try transaction.user("objectId", user.id), known.hash == user.hash else {
                return try transaction.user("objectId", user.id)
            }
            let users = try transaction.users()
            var object = ObjectWriter(transaction, users)
            // The user is the same: clients needn't fetch it again.
            object.times.keepsUpdatedAt = true
            try object.update(
                KeyValue(.text(user.id)), try ObjectBody([:]), of: [],
                hidden: users.table.columnValues(["_password": .text(hash)]))
            try transaction.forgetImported(user.id)
            return known.with(hash: hash)
        }
        if let known, known.hash == hash { return known }
        // Somebody signed in at the same time, or set another password.
        guard let known, let other = known.hash, try await secrets.matches(password, other) else {
            throw ParseError(.objectNotFound, "Invalid username/password.")
        }
        return known
    }

    /// Refuses an account that is closed before any work is done.
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
