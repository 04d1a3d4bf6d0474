/// A request about users, their sessions and roles.
enum UserRoute {
    case signUp
    case logIn
    /// The caller's user or session: `/users/me` and `/sessions/me`.
    case me(className: String)
    case read(user: String)
    case update(user: String)
    case delete(user: String)
    case logOut
    case verifyPassword
    case logInAs
    /// A request for a mail.
    case mail(MailTemplate.Purpose)
    /// Requests that read or change users, sessions and roles like objects of any class.
    case objects(path: [String])

    /// The first parts of the paths of these requests.
    static let names: Set = ["users", "login", "logout", "sessions", "roles", "verifyPassword", "loginAs"]
    /// The paths of requests that check a password, with any method.
    static let signIns: Set = ["login", "verifyPassword"]
    /// The paths of requests for mails.
    static let mails: [String: MailTemplate.Purpose] = [
        "requestPasswordReset": .passwordReset, "verificationEmailRequest": .verification,
    ]

    private static let classes = [
        "users": InternalClasses.user, "sessions": InternalClasses.session, "roles": InternalClasses.role,
    ]

    /// Reads a request; `nil` if it isn't one of these.
    ///
    /// - Throws: ``ParseError`` for unknown paths.
    init?(_ call: ParseCall) throws(ParseError) {
        guard let first = call.path.first else { return nil }
        if let purpose = Self.mails[first] {
            guard call.path.count == 1, call.method == .post else { throw ParseError.impossible(call) }
            self = .mail(purpose)
            return
        }
        switch (first, call.method) {
        case ("login", .get), ("login", .post): self = .logIn
        case ("logout", .post): self = .logOut
        case ("verifyPassword", .get), ("verifyPassword", .post): self = .verifyPassword
        case ("loginAs", .post): self = .logInAs
        case ("login", _), ("logout", _), ("verifyPassword", _), ("loginAs", _): throw ParseError.impossible(call)
        default:
            let isClass = first == "classes" && call.path.count > 1 && InternalClasses.ofClients.contains(call.path[1])
            guard let className = isClass ? call.path[1] : Self.classes[first] else { return nil }
            let rest = Array(call.path.dropFirst(isClass ? 2 : 1))
            guard rest.count <= 1 else { throw ParseService.unknown(call) }
            self = try Self.route(call, className, id: rest.first)
        }
    }

    private static func route(_ call: ParseCall, _ className: String, id: String?) throws(ParseError) -> UserRoute {
        let objects = UserRoute.objects(path: ["classes", className] + (id.map { [$0] } ?? []))
        switch (className, call.method, id) {
        case (InternalClasses.user, .get, "me"?), (InternalClasses.session, .get, "me"?):
            return .me(className: className)
        case (InternalClasses.user, .post, nil): return .signUp
        case (InternalClasses.user, .get, let id?): return try call.flag("deletionPlan") ? objects : .read(user: id)
        case (InternalClasses.user, .put, let id?): return .update(user: id)
        case (InternalClasses.user, .delete, let id?): return try call.isDryRun() ? objects : .delete(user: id)
        default: return objects
        }
    }
}
