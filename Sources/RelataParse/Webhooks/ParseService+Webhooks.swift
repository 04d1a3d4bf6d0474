import Foundation
import RelataCore
import RelataEngine

/// A webhook call whose reply isn't awaited.
struct WebhookNotice: Sendable {
    let hook: Webhook
    /// The JSON that is sent, except the addresses of files. While it waits it takes far less memory than the values.
    let body: [UInt8]
    let id = UUID().uuidString

    /// - Parameter members: The members of the body, besides the trigger's name.
    init(_ hook: Webhook, _ members: JSONObject) {
        self.hook = hook
        var all: JSONObject = [:]
        if case .trigger(let trigger, _) = hook.place { all["triggerName"] = .string(trigger.rawValue) }
        all.merge(members)
        var writer = JSONWriter()
        writer.write(.object(all))
        body = writer.bytes
    }
}

/// The queue of calls whose replies aren't awaited.
typealias NoticeQueue = DeliveryQueue<@Sendable () async throws -> Void>

extension ParseService.Options {
    /// Whether closures of the app or webhooks are called for queries of a class.
    func asksHooks(toFind className: String, in classes: ClassSet) -> Bool {
        code.finds[className] != nil || webhooks != nil && classes.webhooks.concernFinding(className)
    }

    /// Whether closures of the app or webhooks may be called for writes.
    var asksHooksToWrite: Bool { webhooks != nil || !code.saves.isEmpty }

    /// The webhook for a trigger; `nil` if a closure of the app answers the trigger.
    func webhook(_ trigger: Trigger, _ className: String, in classes: ClassSet) -> Webhook? {
        guard webhooks != nil, !code.answers(trigger, className) else { return nil }
        return classes.webhooks[trigger, className]
    }

    /// Whether closures of the app or a webhook answer a trigger.
    func asksHooks(_ trigger: Trigger, _ className: String, in classes: ClassSet) -> Bool {
        code.answers(trigger, className) || webhook(trigger, className, in: classes) != nil
    }
}

extension ParseService {
    /// Whether a webhook is called for queries of any class.
    var concernFinding: Bool { options.webhooks != nil && store.currentClasses.webhooks.concernFinding }

    /// The webhook for a trigger, as known to this process; `nil` if a closure of the app answers the trigger.
    func webhook(_ trigger: Trigger, _ className: String) -> Webhook? {
        options.webhook(trigger, className, in: store.currentClasses)
    }

    // MARK: Calling

    /// The members that tell a webhook about the sender of a request.
    ///
    /// - Throws: ``ParseError`` 209 for a session that doesn't exist.
    func senderMembers(_ call: ParseCall) async throws -> JSONObject {
        senderMembers(call, try await cloudCall("", call, parameters: [:]))
    }

    func senderMembers(_ call: ParseCall, _ cloud: CloudCall) -> JSONObject {
        var members: JSONObject = ["master": .bool(cloud.isMaster)]
        if var user = cloud.user {
            user["className"] = .string(InternalClasses.user)
            members["user"] = .object(user)
        }
        members["installationId"] = cloud.installationID.map { .string($0) }
        let headers = cloud.headers.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        members["headers"] = .object(JSONObject(headers))
        members["ip"] = call.peer.map { .string($0) }
        members["context"] = .object(cloud.context)
        return members
    }

    /// Asks a webhook.
    ///
    /// - Returns: The value of `success` in the reply.
    /// - Throws: ``ParseError`` that the webhook returns for the client; ``FailedWebhook`` if there is no valid reply.
    func ask(_ hook: Webhook, _ members: JSONObject) async throws -> JSONValue {
        do {
            return try await send(WebhookNotice(hook, members))
        } catch let error as FailedWebhook {
            options.webhooks?.report?(error)
            throw error
        }
    }

    /// The error for a reply whose content can't be used, after reporting it.
    func invalidReply(of hook: Webhook, _ reason: String) -> FailedWebhook {
        let failure = FailedWebhook(hook, reason)
        options.webhooks?.report?(failure)
        return failure
    }

    private func send(_ notice: WebhookNotice) async throws -> JSONValue {
        let hook = notice.hook
        guard let sender = options.webhooks?.sender else { throw FailedWebhook(hook, "webhooks are off") }
        let body = hasFiles ? fileURLs.adding(to: notice.body) : notice.body
        let reply: WebhookReply
        do {
            reply = try await sender.send(WebhookRequest(url: hook.url, body: body, id: notice.id))
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw FailedWebhook(hook, error)
        }
        let isDone = (200..<300).contains(reply.status)
        let members = try? JSONParser.parse(reply.body).object
        if isDone || (400..<500).contains(reply.status), let error = members?["error"], !error.isNull, error != false {
            throw Self.error(error)
        }
        guard isDone else {
            throw FailedWebhook(
                hook, "it replies with \(reply.status)",
                isTemporary: reply.status >= 500 || [408, 425, 429].contains(reply.status))
        }
        guard let success = members?["success"] else {
            // The event has happened already, so the reply has no effect.
            if case .trigger(let trigger, _) = hook.place, trigger.isNotice { return true }
            throw FailedWebhook(hook, "its reply isn't a JSON object with success or error")
        }
        return success
    }

    /// The error in a webhook's reply: a text, or a code and a text.
    private static func error(_ given: JSONValue) -> ParseError {
        let message = given.string ?? given["error"]?.string ?? given["message"]?.string ?? JSONWriter.text(given)
        let code = given["code"]?.integer.flatMap { Int(exactly: $0) }.flatMap { ParseError.Code(rawValue: $0) }
        let isOurs = code == .internalServerError || code == .otherCause
        return ParseError(isOurs ? .scriptFailed : code ?? .scriptFailed, String(message.prefix(2000)), status: 400)
    }

    // MARK: Functions

    /// Calls a function that a webhook answers.
    ///
    /// - Throws: ``ParseError`` 141 if the function doesn't exist.
    func webhookFunction(_ name: String, _ call: ParseCall) async throws -> WireReply {
        guard let hook = try await currentWebhooks()[function: name] else { throw DisabledFeature.noFunction(name) }
        let cloud = try await cloudCall(name, call)
        var members: JSONObject = ["functionName": .string(name), "params": .object(cloud.parameters)]
        members.merge(senderMembers(call, cloud))
        return WireReply(["result": try await ask(hook, members)])
    }

    // MARK: Notices

    static func notices(_ options: WebhookOptions) -> NoticeQueue {
        NoticeQueue(
            .init(
                maximumWaiting: options.maximumWaiting, maximumBytes: options.maximumWaitingBytes,
                width: options.width, retries: options.retries, report: options.report ?? { _ in }),
            isTemporary: { ($0 as? FailedWebhook)?.isTemporary ?? false },
            deliver: { try await $0() })
    }

    /// Queues a notice to a webhook, which is sent after the reply to the client.
    func tell(_ hook: Webhook?, _ members: JSONObject) {
        guard let hook, let notices else { return }
        let notice = WebhookNotice(hook, members)
        // An array that grew has more room than it uses.
        guard notices.add({ { _ = try await self.send(notice) } }, holding: notice.body.capacity) else {
            options.webhooks?.report?(
                FailedWebhook(
                    hook,
                    "this notice of \(notice.body.count) bytes is lost, because too many are waiting: see why the webhook is slow, or raise webhooks.maximumWaiting or webhooks.maximumWaitingBytes"
                ))
            return
        }
    }

    /// Delivers the waiting notices for a limited time, and reports the others.
    package func stopWebhooks() async {
        guard let notices, let time = options.webhooks?.stopTime else { return }
        // The task that stops the server is cancelled. A task of its own isn't.
        await Task { await notices.stop(within: time) }.value
    }

    /// Queues a notice of a saved or deleted object.
    func tell(_ notice: ObjectNotice, _ sender: JSONObject) {
        guard let hook = webhook(notice.trigger, notice.className) else { return }
        var members: JSONObject = ["object": .object(notice.object)]
        members["original"] = notice.original.map { .object($0) }
        members.merge(sender)
        tell(hook, members)
    }
}
