import RelataCore
import RelataEngine

extension ParseService {
    /// Answers a request about webhooks: `/hooks/functions`, `/hooks/triggers/Book/beforeSave`.
    func hooks(_ call: ParseCall) async throws -> WireReply {
        guard call.isMaster else { throw ParseError.masterKeyRequired }
        let isOfFunctions = call.path[1] == "functions"
        let names = Array(call.path.dropFirst(2))
        if call.method == .get {
            let hooks = try await currentWebhooks()
            if names.isEmpty || !isOfFunctions && names.count == 1 {
                let all = isOfFunctions ? hooks.ofFunctions : hooks.ofTriggers(names.first)
                return WireReply(.array(all.map(\.json)))
            }
            let known: Webhook? =
                isOfFunctions
                ? hooks[function: names[0]] : Trigger(rawValue: names[1]).flatMap { hooks[$0, names[0]] }
            guard let known else { throw Self.noWebhook(names) }
            return WireReply(known.json)
        }
        let change = try WebhookChange(call, isOfFunctions: isOfFunctions, names)
        if let url = change.url { try check(url, at: change.place) }
        if let known = try await store.read(
            as: call.caller, { try RequestLog.reply(to: call, on: $0.connection, now: $0.now) })
        {
            return known
        }
        let options = options
        return try await store.alter { draft, _ in
            var hooks = draft.webhooks
            let isKnown = hooks[change.place] != nil
            switch change.kind {
            case .create where isKnown: throw Self.isKnown(change.place)
            case .update where !isKnown: throw Self.noWebhook(names)
            default: break
            }
            hooks.set(change.url, at: change.place)
            guard hooks.count <= Webhooks.maximumCount else {
                throw ParseError(.webhookError, "there are at most \(Webhooks.maximumCount) webhooks")
            }
            draft.webhooks = hooks
        } finish: { _, transaction in
            let reply = WireReply(change.url.map { Webhook(place: change.place, url: $0).json } ?? [:])
            return try RequestLog.remembering(reply, to: call, options, in: transaction)
        }
    }

    /// The current webhooks, including those that other processes registered.
    func currentWebhooks() async throws -> Webhooks {
        guard options.webhooks != nil else { return Webhooks() }
        return try await store.read(as: .master) { $0.storedClasses.webhooks }
    }

    private func check(_ url: String, at place: Webhook.Place) throws(ParseError) {
        if let problem = options.webhooks?.sender.problem(with: url) {
            throw ParseError(.webhookError, "no webhook can be at \(url.prefix(256)): \(problem)")
        }
        // The app's own code comes first, so the webhook would never be called.
        switch place {
        case .function(let name):
            if options.code.functions[name] != nil { throw Self.isKnown(place) }
        case .trigger(let trigger, let className):
            if options.code.answers(trigger, className) { throw Self.isKnown(place) }
        }
    }

    // The texts are those of Parse's own server, with its spelling.

    private static func isKnown(_ place: Webhook.Place) -> ParseError {
        switch place {
        case .function(let name): ParseError(.webhookError, "function name: \(name) already exits")
        case .trigger(let trigger, let className):
            ParseError(.webhookError, "class \(className) already has trigger \(trigger.rawValue)")
        }
    }

    private static func noWebhook(_ names: [String]) -> ParseError {
        if names.count > 1 { return ParseError(.webhookError, "class \(names[0].prefix(128)) does not exist") }
        return ParseError(.webhookError, "no function named: \((names.first ?? "").prefix(128)) is defined")
    }
}

extension CloudCode {
    /// Whether a closure of the app answers a trigger.
    func answers(_ trigger: Trigger, _ className: String) -> Bool {
        if className == Trigger.files { return files.answers(trigger) }
        if className == Trigger.config { return config.answers(trigger) }
        return switch trigger {
        case .beforeSave, .afterSave, .beforeDelete, .afterDelete: saves[className]?.answers(trigger) == true
        case .beforeFind: finds[className]?.before.isEmpty == false
        case .afterFind: finds[className]?.after.isEmpty == false
        case .beforeLogin: !logins.beforeLogin.isEmpty
        case .afterLogin: !logins.afterLogin.isEmpty
        case .afterLogout: !logins.afterLogout.isEmpty
        case .beforePasswordResetRequest: !logins.beforePasswordReset.isEmpty
        case .beforeConnect: !live.beforeConnect.isEmpty
        case .beforeSubscribe: live.beforeSubscribe[className] != nil
        case .afterEvent: live.afterEvent[className] != nil
        }
    }

    /// The closures of a class, if they answer a trigger of saves or deletions.
    func hooks(_ trigger: Trigger, _ className: String) -> SaveHooks? {
        saves[className].flatMap { $0.answers(trigger) ? $0 : nil }
    }
}

/// A change of a webhook by a request.
private struct WebhookChange: Sendable {
    enum Kind { case create, update, delete }

    private static let invalid = ParseError(.webhookError, "invalid hook declaration")
    private static let maximumURL = 2048

    let kind: Kind
    let place: Webhook.Place
    /// The new URL; `nil` to remove the webhook.
    let url: String?

    /// - Throws: ``ParseError`` 143 for an invalid webhook, 119 for a trigger that this server doesn't have.
    init(_ call: ParseCall, isOfFunctions: Bool, _ names: [String]) throws(ParseError) {
        let isPost = call.method == .post
        guard isPost ? names.isEmpty : names.count == (isOfFunctions ? 1 : 2) else { throw ParseError.impossible(call) }
        kind =
            isPost
            ? .create : call.method == .delete || call.body["__op"]?.string == "Delete" ? .delete : .update
        func name(_ place: Int, _ member: String) throws(ParseError) -> String {
            guard let name = isPost ? call.body[member]?.string : names[place], !name.isEmpty, name.utf8.count <= 128,
                !name.utf8.contains(0)
            else { throw Self.invalid }
            return name
        }
        if isOfFunctions {
            place = .function(try name(0, "functionName"))
        } else {
            let (className, triggerName) = (try name(0, "className"), try name(1, "triggerName"))
            guard let trigger = Trigger(rawValue: triggerName) else { throw Self.invalid }
            if kind != .delete { try Self.check(trigger, of: className) }
            place = .trigger(trigger, className: className)
        }
        guard kind != .delete else {
            url = nil
            return
        }
        guard let given = call.body["url"]?.string, !given.isEmpty, given.utf8.count <= Self.maximumURL else {
            throw Self.invalid
        }
        url = given
    }

    /// The triggers of names that aren't classes.
    private static let known: [String: Set<Trigger>] = [
        Trigger.files: [.beforeSave, .afterSave, .beforeDelete, .afterDelete, .beforeFind, .afterFind],
        Trigger.config: [.beforeSave, .afterSave],
    ]

    /// Refuses triggers that would never be called.
    private static func check(_ trigger: Trigger, of className: String) throws(ParseError) {
        let needed: String? =
            switch trigger {
            case .beforeLogin, .afterLogin, .beforePasswordResetRequest: InternalClasses.user
            case .afterLogout: InternalClasses.session
            case .beforeConnect: Trigger.connections
            default: nil
            }
        if let needed {
            guard className == needed else {
                throw ParseError(
                    .webhookError, "Only the \(needed) class is allowed for the \(trigger.rawValue) trigger")
            }
            return
        }
        if let known = Self.known[className] {
            guard known.contains(trigger) else {
                throw ParseError(.webhookError, "\(className) has no trigger \(trigger.rawValue)")
            }
            return
        }
        guard className != InternalClasses.session else {
            throw ParseError(.webhookError, "Only the afterLogout trigger is allowed for the _Session class.")
        }
        if [InternalClasses.user, InternalClasses.role, InstallationClass.name].contains(className) { return }
        guard !InternalClasses.contains(className) else {
            throw ParseError(.operationForbidden, "there are no webhooks for objects of \(className)")
        }
        if let error = DisabledFeature.error(forClass: className) { throw error }
        try ParseNames.checkClass(className)
    }
}
