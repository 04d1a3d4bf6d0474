import RelataCore

/// A client of live queries, as the app's hooks see it.
struct LiveSender: Sendable {
    let call: ParseCall
    let cloud: CloudCall
}

extension ParseService {
    /// A client of live queries, as the app's hooks see it.
    ///
    /// - Throws: ``ParseError`` 209 for a session that has ended.
    func sender(_ call: ParseCall) async throws -> LiveSender {
        LiveSender(call: call, cloud: try await cloudCall("live", call, parameters: [:]))
    }

    /// Asks the app's hooks about a client that is about to connect.
    ///
    /// - Throws: the error that refuses the connection.
    func willConnect(_ connection: CloudConnection, _ call: ParseCall) async throws {
        // Another process may have registered or removed a webhook.
        if options.webhooks != nil { _ = try await currentWebhooks() }
        if let hook = webhook(.beforeConnect, Trigger.connections) {
            var members: JSONObject = [
                "event": "connect", "clients": .integer(Int64(connection.clients)),
                "subscriptions": .integer(Int64(connection.queries)),
            ]
            members.merge(try await senderMembers(call))
            _ = try await ask(hook, members)
            return
        }
        let hooks = options.code.live.beforeConnect
        if hooks.isEmpty { return }
        let cloud = try await sender(call).cloud
        try await limited("beforeConnect") { for hook in hooks { try await hook(connection, cloud) } }
    }

    /// Asks the app's hooks about a live query.
    ///
    /// - Parameters:
    ///   - message: The client's message.
    ///   - hook: The webhook for the trigger; `nil` for none.
    /// - Returns: The query as the hooks want it.
    /// - Throws: the error that refuses the query.
    func asked(
        _ query: LiveQuery, _ message: JSONObject, _ hook: Webhook?, _ call: ParseCall
    ) async throws -> LiveQuery {
        let hooks = options.code.live.beforeSubscribe[query.className] ?? []
        if hooks.isEmpty, hook == nil { return query }
        let (sender, given) = (try await sender(call), try CloudSubscription(message, of: query))
        let changed: CloudSubscription
        if let hook {
            changed = try await ask(hook, given, sender)
        } else {
            changed = try await limited("beforeSubscribe of \(query.className)") {
                var subscription = given
                for hook in hooks { try await hook(&subscription, sender.cloud) }
                return subscription
            }
        }
        return try LiveQuery(changed.applied(to: message))
    }

    private func ask(
        _ hook: Webhook, _ given: CloudSubscription, _ sender: LiveSender
    ) async throws -> CloudSubscription {
        var members: JSONObject = [
            "className": .string(given.className), "requestId": .integer(given.requestID), "query": given.json,
        ]
        members.merge(senderMembers(sender.call, sender.cloud))
        guard let query = try await ask(hook, members).object else { return given }
        var changed = given
        do throws(ParseError) {
            try changed.take(query)
        } catch {
            throw invalidReply(of: hook, "the query in its reply is invalid: \(error.message)")
        }
        return changed
    }

    /// Asks the app's hooks about an event.
    ///
    /// - Returns: The object as the client sees it, and the event as the hooks want it.
    /// - Throws: ``SlowHook`` if they take too long; the error that the client gets instead of the event.
    func asked(
        _ told: LiveNews.Told, of query: LiveQuery, _ sender: LiveSender
    ) async throws -> (seen: JSONObject, event: CloudEvent) {
        var seen = try JSONParser.parse(told.object).object ?? [:]
        if hasFiles {
            // The addresses are added again when the event is sent.
            var reader = FileURLReader(nil)
            seen = reader.read(seen)
        }
        let given = CloudEvent(
            kind: told.kind, className: query.className, requestID: query.requestID, object: seen)
        if let hook = webhook(.afterEvent, query.className) { return (seen, try await ask(hook, given, sender)) }
        let hooks = options.code.live.afterEvent[query.className] ?? []
        if hooks.isEmpty { return (seen, given) }
        let event = try await limited("afterEvent of \(query.className)") {
            var event = given
            for hook in hooks where event.isSent { try await hook(&event, sender.cloud) }
            return event
        }
        return (seen, event)
    }

    private func ask(_ hook: Webhook, _ given: CloudEvent, _ sender: LiveSender) async throws -> CloudEvent {
        var members: JSONObject = [
            "event": .string(given.kind.rawValue), "requestId": .integer(given.requestID),
            "object": .object(given.object),
        ]
        members.merge(senderMembers(sender.call, sender.cloud))
        var event = given
        switch try await ask(hook, members) {
        case .object(let object) where !object.isEmpty:
            var reader = FileURLReader(nil)
            event.object = reader.read(object)
        case .bool(let isSent): event.isSent = isSent
        default: break
        }
        return event
    }

    /// Runs hooks of live queries for a limited time.
    ///
    /// - Throws: ``SlowHook``; ``CodeFailure`` for errors that aren't for clients.
    private func limited<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        do {
            return try await within(.seconds(options.maximumLiveTime)) { try await CodeFailure.catching(body) }
        } catch is TimeIsUp {
            throw SlowHook(name: name, seconds: options.maximumLiveTime)
        }
    }
}

extension ParseService.Options {
    /// Checks that a live query may begin as far as hooks are concerned.
    ///
    /// - Parameter hook: The webhook that was asked about the query; `nil` for none.
    /// - Throws: ``HooksChanged`` if another webhook must be asked; ``ParseError`` 119 for a class of which hooks decide
    ///   what is found, and none what is followed.
    func checkHooks(of query: LiveQuery, after hook: Webhook?, in classes: ClassSet) throws {
        let name = query.className
        guard webhook(.beforeSubscribe, name, in: classes) == hook else { throw HooksChanged() }
        let isLimited =
            asksHooks(.beforeFind, name, in: classes) && !asksHooks(.beforeSubscribe, name, in: classes)
        guard isLimited || asksHooks(.afterFind, name, in: classes) else { return }
        throw ParseError(
            .operationForbidden,
            "objects of \(name.prefix(128)) can't be followed: hooks of the server decide what is found")
    }
}

extension CloudSubscription {
    /// The query in the form for webhooks.
    fileprivate var json: JSONValue {
        var json: JSONObject = ["className": .string(className), "where": .object(conditions)]
        for (name, names) in [("include", include), ("keys", keys), ("excludeKeys", excludedKeys), ("watch", watch)] {
            json[name] = names.map { .string($0.joined(separator: ",")) }
        }
        return .object(json)
    }

    /// Applies a webhook's changes to the query.
    fileprivate mutating func take(_ query: JSONObject) throws(ParseError) {
        let given = ParseCall(method: .get, path: [], body: query)
        if let new = query["where"] {
            guard let object = new.object else { throw ParseError(.invalidQuery, "where must be a JSON object") }
            conditions = object
        }
        if let new = try given.names("include") { include = new }
        if let new = try given.names("keys") { keys = new }
        if let new = try given.names("excludeKeys") { excludedKeys = new }
        if let new = try given.names("watch") { watch = new }
    }
}
