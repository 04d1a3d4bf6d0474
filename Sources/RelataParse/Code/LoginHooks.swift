import RelataCore

/// The hooks of signing in and out.
struct LoginHooks: Sendable {
    var beforeLogin: [@Sendable (JSONObject, CloudCall) async throws -> Void] = []
    var afterLogin: [@Sendable (JSONObject, CloudCall) async -> Void] = []
    var afterLogout: [@Sendable (CloudCall) async -> Void] = []
    var beforePasswordReset: [@Sendable (JSONObject) async throws -> Void] = []
}

extension CloudCode {
    /// Calls `body` with each user who is about to sign in, once the password or another service's data has been
    /// verified. An error of `body` refuses the request, as in a function. Signing up doesn't call it.
    public mutating func beforeLogin(_ body: @escaping @Sendable (_ user: JSONObject, CloudCall) async throws -> Void) {
        logins.beforeLogin.append(body)
    }

    /// Calls `body` with each user who has signed in, before the reply is sent.
    public mutating func afterLogin(_ body: @escaping @Sendable (_ user: JSONObject, CloudCall) async -> Void) {
        logins.afterLogin.append(body)
    }

    /// Calls `body` when a user has signed out. The call contains the user.
    public mutating func afterLogout(_ body: @escaping @Sendable (CloudCall) async -> Void) {
        logins.afterLogout.append(body)
    }

    /// Calls `body` with each user who is about to get a mail for a new password. If `body` throws, no mail is sent.
    /// The client isn't informed, because the reply must not reveal who has an address.
    public mutating func beforePasswordResetRequest(
        _ body: @escaping @Sendable (_ user: JSONObject) async throws -> Void
    ) {
        logins.beforePasswordReset.append(body)
    }
}

extension ParseService {
    /// Calls the app's hooks before a user signs in.
    func willLogIn(_ id: String, _ call: ParseCall) async throws {
        let hooks = options.code.logins.beforeLogin
        if let hook = webhook(.beforeLogin, InternalClasses.user) {
            var members = try await loginMembers(id)
            members.merge(try await senderMembers(call))
            _ = try await ask(hook, members)
        }
        if hooks.isEmpty { return }
        let (user, cloud) = (try await ownUser(id), try await cloudCall("login", call, parameters: [:]))
        try await CodeFailure.catching { for hook in hooks { try await hook(user, cloud) } }
    }

    /// Calls the app's hooks after a user has signed in.
    func didLogIn(_ id: String, _ call: ParseCall) async throws {
        let hooks = options.code.logins.afterLogin
        if let hook = webhook(.afterLogin, InternalClasses.user) {
            var members = try await loginMembers(id)
            members.merge(try await senderMembers(call))
            tell(hook, members)
        }
        if hooks.isEmpty { return }
        let (user, cloud) = (try await ownUser(id), try await cloudCall("login", call, parameters: [:]))
        for hook in hooks { await hook(user, cloud) }
    }

    /// The app's hooks for the sender of this request, to run after it has signed out.
    func logoutAction(_ call: ParseCall) async throws -> @Sendable () async -> Void {
        let hooks = options.code.logins.afterLogout
        if let hook = webhook(.afterLogout, InternalClasses.session) {
            var members = try await senderMembers(call)
            var session: JSONObject = ["className": .string(InternalClasses.session)]
            if let user = members["user"]?["objectId"]?.string {
                session["user"] = Pointer(className: InternalClasses.user, objectID: user).json
            }
            session["installationId"] = members["installationId"]
            members["object"] = .object(session)
            let told = members
            return { self.tell(hook, told) }
        }
        if hooks.isEmpty { return {} }
        let cloud = try await cloudCall("logout", call, parameters: [:])
        return { for hook in hooks { await hook(cloud) } }
    }

    /// Calls the app's hooks before a user gets a mail for a new password. Returns whether the mail may be sent.
    func mayResetPassword(_ id: String) async throws -> Bool {
        let hooks = options.code.logins.beforePasswordReset
        if let hook = webhook(.beforePasswordResetRequest, InternalClasses.user) {
            do {
                _ = try await ask(hook, try await loginMembers(id))
                return true
            } catch is ParseError {
                return false
            } catch is FailedWebhook {
                return false
            }
        }
        if hooks.isEmpty { return true }
        let user = try await ownUser(id)
        do {
            for hook in hooks { try await hook(user) }
        } catch is ParseError {
            return false
        }
        return true
    }

    /// The members of a webhook's request about a user who signs in.
    private func loginMembers(_ id: String) async throws -> JSONObject {
        var user = try await ownUser(id)
        user["className"] = .string(InternalClasses.user)
        return ["object": .object(user)]
    }

    /// A user with all fields.
    private func ownUser(_ id: String) async throws -> JSONObject {
        let limit = options.maximumReply
        return try await store.read(as: .master) { transaction in
            let user = try transaction.ownUser(id, Selection(), token: nil, limit: limit)
            return try JSONParser.parse(user.body).object ?? [:]
        }
    }
}
