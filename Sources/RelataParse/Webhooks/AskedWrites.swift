import RelataCore
import RelataEngine

/// The writes of a request, after the answers of the app's closures and of webhooks.
struct AskedWrites: Sendable {
    /// The writes in order, or the errors of those that a webhook refused.
    var writes: [Result<ObjectWrite, ParseError>] = []
    /// The stored reply, if the request is a repetition.
    var reply: WireReply?
    /// The registered webhooks at the time of the questions; `nil` if webhooks are off.
    fileprivate var hooks: Webhooks?
    /// The stored objects at the time of the questions.
    fileprivate var seen: [SeenObject] = []
    /// The members that tell webhooks about the sender.
    fileprivate(set) var caller: JSONObject = [:]
    /// The call for the app's closures; `nil` if no hook concerns the writes.
    fileprivate(set) var cloud: CloudCall?

    /// Whether no webhook concerns the writes, even if one is registered in the meantime.
    private var isNone = false

    /// No questions: webhooks don't concern the writes.
    static let none = AskedWrites(isNone: true)

    private init(isNone: Bool) { self.isNone = isNone }

    fileprivate init(_ writes: [ObjectWrite] = [], _ hooks: Webhooks? = nil) {
        self.writes = writes.map { .success($0) }
        self.hooks = hooks
    }

    /// Checks that the answers still apply to the written objects.
    ///
    /// - Throws: ``HooksChanged`` if an object or a webhook was changed after the questions.
    func check(in transaction: ParseTransaction) throws {
        if isNone { return }
        guard hooks == nil || transaction.storedClasses.webhooks == hooks else { throw HooksChanged() }
        for object in seen where try transaction.seen(object.className, object.key) != object { throw HooksChanged() }
    }
}

/// Reports that the webhooks must be asked again.
struct HooksChanged: Error {}

/// A stored object at the time of the question to a webhook.
struct SeenObject: Hashable, Sendable {
    let className: String
    let key: KeyValue
    /// The values by column. Columns that are added later aren't compared.
    let values: [String: Value]
}

/// A notice of a saved or deleted object.
struct ObjectNotice: Sendable {
    let trigger: Trigger
    let className: String
    let object: JSONObject
    let original: JSONObject?
}

extension ParseService {
    /// Asks the webhooks about an object that a request writes, and then writes the object.
    ///
    /// No transaction is open while a webhook is asked. If an object was changed in the meantime, the webhooks are
    /// asked again, and `body` is called again.
    ///
    /// - Parameters:
    ///   - fixed: Members of the object besides those that are written. Webhooks can't change them.
    ///   - judge: Refuses writes that no webhook could allow, before one is called.
    ///   - body: Writes the objects.
    func asking(
        _ writes: [ObjectWrite], _ call: ParseCall, isAtomic: Bool = true, fixed: JSONObject = [:],
        judge: @Sendable (ParseTransaction) throws -> Void = { _ in },
        _ body: (AskedWrites) async throws -> WireReply
    ) async throws -> WireReply {
        guard options.asksHooksToWrite else { return try await body(AskedWrites(writes)) }
        return try await Self.retrying(HooksChanged.self, "other requests are changing the objects of this one") {
            let asked = try await ask(about: writes, call, isAtomic: isAtomic, fixed: fixed, judge)
            if let reply = asked.reply { return reply }
            return try await body(asked)
        }
    }

    /// Asks the webhooks about the objects of a batch.
    func asking(
        _ routes: [Result<ObjectRoute, ParseError>], _ call: ParseCall, isAtomic: Bool,
        judge: @Sendable (ParseTransaction) throws -> Void,
        body: ([Result<ObjectRoute, ParseError>], AskedWrites) async throws -> WireReply
    ) async throws -> WireReply {
        guard options.asksHooksToWrite else { return try await body(routes, .none) }
        let hooks = knownWebhooks
        if options.code.saves.isEmpty, hooks?.hasTriggers != true {
            do {
                return try await body(routes, AskedWrites([], hooks))
            } catch is HooksChanged {
                // The batch must be prepared with the webhooks of this moment.
            }
        }
        let places = routes.indices.filter { if case .success(.write) = routes[$0] { true } else { false } }
        let writes = routes.compactMap { if case .success(.write(let write)) = $0 { write } else { nil } }
        guard !writes.isEmpty else { return try await body(routes, .none) }
        return try await asking(writes, call, isAtomic: isAtomic, judge: judge) { asked in
            var routes = routes
            for (place, write) in zip(places, asked.writes) { routes[place] = write.map { .write($0) } }
            return try await body(routes, asked)
        }
    }

    private func ask(
        about writes: [ObjectWrite], _ call: ParseCall, isAtomic: Bool, fixed: JSONObject,
        _ judge: @Sendable (ParseTransaction) throws -> Void
    ) async throws -> AskedWrites {
        let (hooks, code) = (knownWebhooks, options.code)
        var asked = AskedWrites(writes, hooks)
        guard
            writes.contains(where: {
                hooks?.concernWriting($0.className) == true || code.saves[$0.className] != nil
            })
        else { return asked }
        if call.requestID != nil {
            asked.reply = try await store.read(as: call.caller) {
                try RequestLog.reply(to: call, on: $0.connection, now: $0.now)
            }
            if asked.reply != nil { return asked }
        }
        let cloud = try await cloudCall("save", call, parameters: [:])
        (asked.caller, asked.cloud) = (senderMembers(call, cloud), cloud)
        let places = writes.indices.filter {
            let (trigger, className) = (writes[$0].trigger, writes[$0].className)
            return hooks?[trigger, className] != nil || code.answers(trigger, className)
        }
        if places.isEmpty { return asked }
        let limit = options.maximumReply
        let questions = try await store.read(as: call.caller) { transaction in
            try judge(transaction)
            return try places.map { place -> Result<WebhookQuestion, ParseError> in
                do {
                    return .success(try transaction.question(about: writes[place], fixed, limit: limit))
                } catch {
                    if isAtomic { throw error }
                    return .failure(ParseError(error))
                }
            }
        }
        // Another process may have removed a webhook, which mustn't be asked any more.
        guard knownWebhooks == hooks else { throw HooksChanged() }
        let answers = try await answers(to: questions, asked, isAtomic: isAtomic)
        for (number, place) in places.enumerated() {
            asked.writes[place] = answers[number]
            if case .success(let question) = questions[number], let seen = question.seen { asked.seen.append(seen) }
        }
        return asked
    }

    /// The webhooks that this process knows; `nil` if webhooks are off.
    private var knownWebhooks: Webhooks? { options.webhooks == nil ? nil : store.currentClasses.webhooks }

    /// The writes after the answers of the hooks, several of which are called at once.
    private func answers(
        to questions: [Result<WebhookQuestion, ParseError>], _ asked: AskedWrites, isAtomic: Bool
    ) async throws -> [Result<ObjectWrite, ParseError>] {
        try await withThrowingTaskGroup(of: (Int, Result<ObjectWrite, ParseError>).self) { group in
            var answers: [Int: Result<ObjectWrite, ParseError>] = [:]
            for (number, question) in questions.enumerated() {
                if number >= options.webhooks?.width ?? 8, let (done, answer) = try await group.next() {
                    answers[done] = answer
                }
                group.addTask { [self] in
                    do {
                        return (number, .success(try await answer(to: try question.get(), asked)))
                    } catch {
                        if isAtomic || error is CancellationError { throw error }
                        if error is CodeFailure { options.code.report?(error) }
                        return (number, .failure(ParseError(error)))
                    }
                }
            }
            for try await (done, answer) in group { answers[done] = answer }
            return questions.indices.map { answers[$0] ?? .failure(ParseError(CancellationError())) }
        }
    }

    private func answer(
        to question: WebhookQuestion, _ asked: AskedWrites
    ) async throws -> ObjectWrite {
        let (trigger, className) = (question.write.trigger, question.write.className)
        if let hooks = options.code.hooks(trigger, className), let cloud = asked.cloud {
            return try await answer(to: question, hooks, cloud)
        }
        guard let hook = asked.hooks?[trigger, className] else { return question.write }
        var members: JSONObject = ["object": .object(question.object)]
        members["original"] = question.original.map { .object($0) }
        members.merge(asked.caller)
        let success = try await ask(hook, members)
        do throws(ParseError) {
            return try question.write(after: success, options.prohibitedNames)
        } catch {
            if error.code == .scriptFailed { throw error }
            throw invalidReply(of: hook, "the object in its reply is invalid: \(error.message)")
        }
    }
}
