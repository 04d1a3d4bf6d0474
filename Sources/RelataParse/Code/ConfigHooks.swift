import RelataCore

/// The parameters of `/config` that a request is about to change, or has changed.
public struct CloudConfig: Sendable {
    /// The parameters as they will be stored, by their names. Changes are stored too; a parameter that is removed is
    /// deleted.
    public var parameters: JSONObject
    /// The names of the parameters that only the master key may read.
    public var masterKeyOnly: Set<String>
    /// The parameters as they are stored before the change.
    public let original: JSONObject

    init(_ parameters: [ConfigParameter], original: [ConfigParameter]) {
        func members(_ all: [ConfigParameter]) -> JSONObject { JSONObject(all.map { ($0.name, $0.value) }) }
        self.parameters = members(parameters)
        self.original = members(original)
        masterKeyOnly = Set(parameters.lazy.filter(\.isPrivate).map(\.name))
    }

    /// The request that turns other parameters into these.
    fileprivate func changes(from old: CloudConfig) -> JSONObject {
        var parameters = self.parameters.filter { name, value in old.parameters[name] != value }
        for (name, _) in old.parameters where self.parameters[name] == nil { parameters[name] = ["__op": "Delete"] }
        let isPrivate = masterKeyOnly.symmetricDifference(old.masterKeyOnly).sorted().map {
            ($0, JSONValue.bool(masterKeyOnly.contains($0)))
        }
        return ["params": .object(parameters), "masterKeyOnly": .object(JSONObject(isPrivate))]
    }

    /// The parameters in the form for webhooks.
    fileprivate var json: JSONValue {
        let isPrivate = parameters.map { ($0.key, JSONValue.bool(masterKeyOnly.contains($0.key))) }
        return ["params": .object(parameters), "masterKeyOnly": .object(JSONObject(isPrivate))]
    }
}

/// The hooks of parameters.
struct ConfigHooks: Sendable {
    var beforeSave: [@Sendable (inout CloudConfig, CloudCall) async throws -> Void] = []
    var afterSave: [@Sendable (CloudConfig, CloudCall) async -> Void] = []

    /// Whether a closure answers a trigger.
    func answers(_ trigger: Trigger) -> Bool {
        switch trigger {
        case .beforeSave: !beforeSave.isEmpty
        case .afterSave: !afterSave.isEmpty
        default: false
        }
    }
}

extension CloudCode {
    /// Calls `body` with the parameters of `/config` that a request is about to change. `body` may change them. Its
    /// error refuses the request, as in a function. If somebody else changes a parameter in the meantime, `body` is
    /// called again.
    public mutating func beforeSaveConfig(
        _ body: @escaping @Sendable (inout CloudConfig, CloudCall) async throws -> Void
    ) {
        config.beforeSave.append(body)
    }

    /// Calls `body` with the parameters of `/config` that a request has changed. The reply is sent afterwards.
    public mutating func afterSaveConfig(_ body: @escaping @Sendable (CloudConfig, CloudCall) async -> Void) {
        config.afterSave.append(body)
    }
}

extension ParseService {
    /// Changes the parameters, after asking the app's hooks.
    ///
    /// No transaction is open while hooks are asked. If a parameter was changed in the meantime, they are asked again.
    func apply(_ change: ConfigChange, _ call: ParseCall) async throws -> WireReply {
        try await Self.retrying(HooksChanged.self, "other requests are changing the parameters") {
            try await attempt(change, call)
        }
    }

    private func attempt(_ change: ConfigChange, _ call: ParseCall) async throws -> WireReply {
        let (earlier, known) = try await store.read(as: call.caller) { transaction in
            (
                try RequestLog.reply(to: call, on: transaction.connection, now: transaction.now),
                try transaction.configParameters()
            )
        }
        if let earlier { return earlier }
        let (options, classes) = (options, store.currentClasses)
        let hook = options.webhook(.beforeSave, Trigger.config, in: classes)
        let asks =
            options.asksHooks(.beforeSave, Trigger.config, in: classes)
            || options.asksHooks(.afterSave, Trigger.config, in: classes)
        let cloud = asks ? try await cloudCall("config", call, parameters: [:]) : nil
        let wanted = try await wanted(change, of: known, hook, call, cloud)
        let (reply, isDone) = try await store.write(as: call.caller) { transaction in
            var isDone = false
            let reply = try Self.once(call, in: transaction, options) {
                guard options.webhook(.beforeSave, Trigger.config, in: transaction.storedClasses) == hook else {
                    throw HooksChanged()
                }
                let stored = try transaction.configParameters()
                if wanted != nil, stored != known { throw HooksChanged() }
                try transaction.replace(stored, with: try wanted ?? change.applied(to: stored))
                isDone = true
                return WireReply(["result": true])
            }
            return (reply, isDone)
        }
        if isDone, let cloud, let wanted { await tell(CloudConfig(wanted, original: known), call, cloud) }
        return reply
    }

    /// The parameters as the app's hooks want them; `nil` if there are no hooks.
    private func wanted(
        _ change: ConfigChange, of known: [ConfigParameter], _ hook: Webhook?, _ call: ParseCall, _ cloud: CloudCall?
    ) async throws -> [ConfigParameter]? {
        guard let cloud else { return nil }
        let wanted = try change.applied(to: known)
        let given = CloudConfig(wanted, original: known)
        var reader = FileURLReader(nil)
        guard let hook else {
            var asked = given
            try await CodeFailure.catching {
                for body in options.code.config.beforeSave { try await body(&asked, cloud) }
            }
            return try applied(reader.read(asked.changes(from: given)), to: wanted)
        }
        let success = try await ask(hook, configMembers(given, call, cloud))
        guard let members = success.object else { return wanted }
        do throws(ParseError) {
            return try applied(reader.read(members), to: wanted)
        } catch {
            throw invalidReply(of: hook, "the parameters in its reply are invalid: \(error.message)")
        }
    }

    /// The parameters after a change by a hook.
    private func applied(
        _ changes: JSONObject, to parameters: [ConfigParameter]
    ) throws(ParseError) -> [ConfigParameter] {
        try options.prohibitedNames.check(changes)
        return try ConfigChange(changes).applied(to: parameters)
    }

    /// Tells the app's hooks that parameters were changed.
    private func tell(_ config: CloudConfig, _ call: ParseCall, _ cloud: CloudCall) async {
        if let hook = webhook(.afterSave, Trigger.config) {
            return tell(hook, configMembers(config, call, cloud))
        }
        for body in options.code.config.afterSave { await body(config, cloud) }
    }

    /// The members of a webhook's request about parameters.
    private func configMembers(_ config: CloudConfig, _ call: ParseCall, _ cloud: CloudCall) -> JSONObject {
        var members: JSONObject = [
            "className": .string(Trigger.config), "object": config.json,
            "original": ["params": .object(config.original)],
        ]
        members.merge(senderMembers(call, cloud))
        return members
    }
}
