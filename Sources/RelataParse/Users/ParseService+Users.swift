import Foundation
import RelataCore
import RelataEngine

extension ParseService {
    /// Answers a request about users, their sessions and roles.
    func respond(to route: UserRoute, _ call: ParseCall) async throws -> WireReply {
        switch route {
        case .signUp: return try await signUp(call)
        case .logIn: return try await logIn(call)
        case .me(let className): return try await me(className, call)
        case .read(let id): return try await read(user: id, call)
        case .update(let id): return try await update(user: id, call)
        case .delete(let id): return try await delete(user: id, call)
        case .logOut: return try await logOut(call)
        case .verifyPassword:
            let user = try await checkedPassword(call)
            return try await store.read(as: .master) { transaction in
                try transaction.ownUser(user.id, Selection(), token: nil, limit: self.options.maximumReply)
            }
        case .logInAs: return try await logInAs(call)
        case .mail(let purpose): return try requestMail(purpose, call)
        case .objects(let path):
            var call = call
            call.path = path
            if call.method == .post { try await makeUsers() }
            return try await objects(call)
        }
    }

    /// Creates the classes of users, and those that the options need, if they don't exist.
    func makeUsers() async throws {
        let needed = AccountClasses.needed(by: options)
        @Sendable func areThere(_ classes: ClassSet) -> Bool {
            classes.hasUsers && needed.allSatisfy { AccountClasses.isThere($0, in: classes.storedSchema) }
        }
        if areThere(store.currentClasses) { return }
        try await store.alter { draft, _ in draft.addUsers(with: needed) }
        guard areThere(store.currentClasses) else { throw ParseError.usersTableIsForeign }
    }

    // MARK: Signing up

    private func signUp(_ call: ParseCall) async throws -> WireReply {
        guard let secrets = store.secrets else { throw ParseError.usersAreOff }
        try options.prohibitedNames.check(call.body)
        let fields = try UserFields(call.body, isMaster: call.isMaster)
        if !fields.claimsIdentity {
            guard fields.username?.isEmpty == false else { throw Self.usernameMissing }
            guard fields.password?.isEmpty == false else { throw Self.passwordMissing }
        }
        let identities = try await Identities.verified(fields.authData, by: options.signIn).withoutRemovals
        if let user = try await user(known: identities) { return try await logIn(user, by: identities, call) }
        if let password = fields.password {
            try await checkPassword(password, of: nil, username: fields.username)
        }
        try await makeUsers()
        var hash: String?
        if let password = fields.password { hash = try await secrets.hash(of: password) }
        do {
            return try await create(fields, identities, hash: hash, call)
        } catch  where !identities.isEmpty && ParseError(error).code == .accountAlreadyLinked {
            // If the same identity signs up twice at once, the second request finds the user of the first.
            guard let user = try await user(known: identities) else { throw error }
            return try await logIn(user, by: identities, call)
        }
    }

    private func create(
        _ fields: UserFields, _ identities: Identities, hash kept: String?, _ call: ParseCall
    ) async throws -> WireReply {
        // If addresses must be verified first, users sign in afterwards.
        let signsIn =
            options.beginsSessions && (!identities.isEmpty || options.mail?.needsVerifiedAddress != true)
        let lifetime = options.sessionLifetime
        let action = ("signup", provider: identities.isEmpty ? "password" : identities.names)
        // The reply contains a token, so it must not be stored for repeated requests.
        var once = call
        once.requestID = nil
        let write = ObjectWrite.create(InternalClasses.user, fields.body)
        let reply = try await asking([write], once, fixed: fields.told) { asked in
            let (write, fields) = try fields.changed(by: asked)
            return try await writing([write], once, asked) { writer in
                let transaction = writer.transaction
                try transaction.checkMayCreate(fields.body, in: try transaction.users())
                try transaction.checkIsFree(fields, identities, for: nil)
                let (id, reply) = try transaction.create(fields, identities, hash: kept, writer)
                var told = reply
                if let kept { try transaction.rememberPassword(of: id, kept, last: nil, self.options.passwords) }
                if signsIn {
                    let token = try transaction.newSession(
                        of: id, action, installation: call.installationID, lifetime: lifetime)
                    told["sessionToken"] = .string(token)
                }
                if fields.username == nil { told["username"] = .string(id) }
                var json = JSONWriter(capacity: 128)
                writer.tell(id, told, into: &json)
                return WireReply(status: 201, body: json.bytes, location: "\(self.options.mount)/users/\(id)")
            }
        }
        if case .set(let address)? = fields.email { verify(address, call) }
        return reply
    }

    private static let usernameMissing = ParseError(.usernameMissing, "bad or missing username")
    static let passwordMissing = ParseError(.passwordMissing, "password is required")

    // MARK: Sessions

    private func logIn(_ call: ParseCall) async throws -> WireReply {
        // A signed-in client may sign in as another user, even if its session has ended.
        var call = call
        call.caller.sessionToken = nil
        let user = try await checkedPassword(call)
        try await willLogIn(user.id, call)
        let reply = try await beginSession(of: user.id, hash: user.hash, ("login", "password"), call)
        try await didLogIn(user.id, call)
        return reply
    }

    /// Begins a session. The reply contains the user and the token.
    ///
    /// - Parameters:
    ///   - hash: The hash that the password matched. It must still be the user's.
    ///   - isStillKnown: Whether the user's identities are still valid.
    func beginSession(
        of user: String, hash: String?, _ action: (String, provider: String), _ call: ParseCall,
        where isStillKnown: @escaping @Sendable (ParseTransaction) throws -> Bool = { _ in true }
    ) async throws -> WireReply {
        let lifetime = options.sessionLifetime
        let token = try await store.write(as: .master) { transaction in
            guard let known = try transaction.user("objectId", user), hash == nil || known.hash == hash,
                try isStillKnown(transaction)
            else {
                throw ParseError(.objectNotFound, "Invalid username/password.")
            }
            return try transaction.newSession(
                of: user, action, installation: call.installationID, lifetime: lifetime)
        }
        return try await store.read(as: Caller(sessionToken: token)) { transaction in
            try transaction.ownUser(user, Selection(), token: token, limit: self.options.maximumReply)
        }
    }

    private func logInAs(_ call: ParseCall) async throws -> WireReply {
        guard call.isMaster else { throw ParseError(.operationForbidden, "master key is required", status: 403) }
        guard let id = call.body["userId"]?.string, !id.isEmpty else {
            throw ParseError(.otherCause, "userId must not be empty, null, or undefined", status: 400)
        }
        guard try await store.read(as: .master, { try $0.user("objectId", id) }) != nil else {
            throw ParseError(.objectNotFound, "user not found")
        }
        return try await beginSession(of: id, hash: nil, ("login", "masterkey"), call)
    }

    private func logOut(_ call: ParseCall) async throws -> WireReply {
        guard call.caller.sessionToken != nil else { return WireReply([:]) }
        let action = try await logoutAction(call)
        try await store.write(as: call.caller) { transaction in
            guard let session = transaction.caller.session,
                let sessions = transaction.storedClasses[InternalClasses.session]
            else { throw ParseError.invalidSession }
            _ = try transaction.delete(sessions, .keys([KeyValue(.text(session.id))]))
        }
        await action()
        return WireReply([:])
    }

    /// The caller's own user or session.
    private func me(_ className: String, _ call: ParseCall) async throws -> WireReply {
        let options = options
        return try await store.read(as: call.caller) { transaction in
            guard let session = transaction.caller.session else { throw ParseError.invalidSession }
            guard className == InternalClasses.user else {
                return try GetRequest(className, session.id, call).run(in: transaction, options)
            }
            return try transaction.ownUser(
                session.user, try Selection(call), token: call.caller.sessionToken, limit: options.maximumReply)
        }
    }

    // MARK: Users

    private func read(user id: String, _ call: ParseCall) async throws -> WireReply {
        try await finding(InternalClasses.user, id, call) { call, condition in
            let request = try GetRequest(InternalClasses.user, id, call).limited(to: condition)
            let selection = try Selection(call)
            let options = options
            return try await store.read(as: call.caller) { transaction in
                let isOwn = !transaction.caller.isMaster && transaction.caller.session?.user == id
                if !isOwn || !condition.isEmpty {
                    let reply = try request.run(in: transaction, options)
                    if !isOwn { return reply }
                }
                return try transaction.ownUser(id, selection, token: nil, limit: options.maximumReply)
            }
        }
    }

    private func update(user id: String, _ call: ParseCall) async throws -> WireReply {
        guard let secrets = store.secrets else { throw ParseError.usersAreOff }
        try options.prohibitedNames.check(call.body)
        let fields = try UserFields(call.body, isMaster: call.isMaster)
        if fields.username?.isEmpty == true { throw Self.usernameMissing }
        if fields.password?.isEmpty == true { throw Self.passwordMissing }
        // A refused request computes no hash and adds no field.
        let known = try await store.read(as: call.caller) { transaction -> StoredUser? in
            try transaction.checkIsOwn(user: id, .update)
            let isNeeded = fields.password != nil || fields.email != nil || !fields.authData.isEmpty
            return isNeeded ? try transaction.user("objectId", id) : nil
        }
        let identities = try await Identities.verified(
            fields.authData, by: options.signIn, stored: known?.authData ?? [:])
        if identities.ids.keys.contains(where: { $0 != UserFields.anonymous }) { try await makeUsers() }
        var hash: String?
        if let password = fields.password {
            try await checkPassword(password, of: known, username: fields.username)
            if options.passwords.areRemembered { try await makeUsers() }
            hash = try await secrets.hash(of: password)
        }
        let kept = hash
        let write = ObjectWrite.update(InternalClasses.user, id, fields.body)
        let reply = try await asking([write], call, fixed: fields.told) { asked in
            let (write, fields) = try fields.changed(by: asked)
            return try await writing([write], call, asked) { writer in
                let transaction = writer.transaction
                try transaction.checkIsOwn(user: id, .update)
                try transaction.checkIsFree(fields, identities, for: id)
                let reply = try transaction.update(fields, identities, hash: kept, of: id, writer)
                guard let kept else { return reply }
                try transaction.rememberPassword(of: id, kept, last: known?.hash, self.options.passwords)
                // Somebody else may have known the old password.
                try transaction.endSessions(of: id, except: transaction.caller.session?.id)
                try transaction.endTokens(.passwordReset, of: id)
                return reply
            }
        }
        if case .set(let address)? = fields.email, UserFields.key(address) != known?.emailKey { verify(address, call) }
        return reply
    }

    private func delete(user id: String, _ call: ParseCall) async throws -> WireReply {
        let write = ObjectWrite.delete(InternalClasses.user, id)
        let judge = { @Sendable (transaction: ParseTransaction) throws in
            try transaction.checkIsOwn(user: id, .delete)
        }
        return try await asking([write], call, judge: judge) { asked in
            _ = try asked.writes[0].get()
            return try await writing([write], call, asked) { writer in
                try writer.transaction.checkIsOwn(user: id, .delete)
                return try writer.run(write)
            }
        }
    }
}

extension ParseTransaction {
    /// - Throws: ``ParseError`` 206 for another user; 119 if the class of users doesn't allow the operation.
    fileprivate func checkIsOwn(user id: String, _ operation: ClassPermissions.Operation) throws(ParseError) {
        if let users = storedClasses[InternalClasses.user] { try check(operation, on: users) }
        guard caller.isMaster || caller.session?.user == id else {
            throw ParseError(.sessionMissing, "Cannot modify user \(id.prefix(64)).")
        }
    }

    /// Writes a new user.
    ///
    /// - Returns: The id, and the values that the client doesn't know yet.
    func create(
        _ fields: UserFields, _ identities: Identities, hash: String?, _ writer: BatchWriter
    ) throws -> (id: String, told: JSONObject) {
        let users = try users()
        let key = try writer.newKey(users, fields.body)
        guard case .text(let id)? = key?.values.first, ParseNames.isPlain("u" + id) else {
            throw ParseError(.invalidKeyName, "the objectId of a user has letters and digits only")
        }
        var values = fields.values(hash: hash).merging(self.values(of: identities, after: [:])) { $1 }
        if fields.username == nil {
            values["username"] = .text(id)
            values["_usernameKey"] = .text(UserFields.key(id))
        }
        var object = ObjectWriter(self, users)
        let body = fields.body.with(fields.body.access?.keeping(id) ?? .list(.only(id)))
        _ = try object.create(
            body, of: body.fields.names.map { users[$0] }, key: key, hidden: users.table.columnValues(values))
        try setIdentities(identities, of: id)
        writer.noteSaved(KeyValue(.text(id)), of: users)
        return (id, object.told)
    }

    fileprivate func update(
        _ fields: UserFields, _ identities: Identities, hash: String?, of id: String, _ writer: BatchWriter
    ) throws -> WireReply {
        let users = try users()
        guard let known = try user("objectId", id) else { throw ParseError(.objectNotFound, "Object not found.") }
        var object = ObjectWriter(self, users)
        let body = fields.body.access.map { fields.body.with($0.keeping(id)) } ?? fields.body
        let values = fields.values(hash: hash, known: known)
            .merging(self.values(of: identities, after: known.authData)) { $1 }
        let original = try writer.original(KeyValue(.text(id)), of: users)
        try object.update(
            KeyValue(.text(id)), body, of: body.fields.names.map { users[$0] },
            hidden: users.table.columnValues(values))
        try setIdentities(identities, of: id)
        writer.noteSaved(KeyValue(.text(id)), of: users, original: original)
        var told = object.told
        told["updatedAt"] = .string(DateText.parseText(now))
        return WireReply(.object(told))
    }
}

extension UserFields {
    /// Further members that webhooks get: never a password.
    fileprivate var told: JSONObject {
        var told: JSONObject = [:]
        told["username"] = username.map { .string($0) }
        if case .set(let address)? = email { told["email"] = .string(address) }
        return told
    }

    /// The write and the fields as webhooks would have them.
    fileprivate func changed(by asked: AskedWrites) throws(ParseError) -> (ObjectWrite, UserFields) {
        var fields = self
        let write = try asked.writes[0].get()
        if let body = write.body?.body { fields.body = body }
        return (write, fields)
    }
}

extension Table {
    /// Values by column.
    func columnValues(_ named: [String: Value]) -> [Int: Value] {
        var values: [Int: Value] = [:]
        for (name, value) in named { for column in columnIndexes(of: name) { values[column] = value } }
        return values
    }
}

extension AccessChange {
    /// The change, with the right of the user to read and change itself.
    fileprivate func keeping(_ user: String) -> AccessChange {
        guard case .list(let list) = self else { return self }
        var rights = list.rights
        rights[user] = AccessList.Rights(canRead: true, canWrite: true)
        return .list(AccessList(rights))
    }
}
