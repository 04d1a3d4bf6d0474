import RelataCore

/// A request to a webhook.
public struct WebhookRequest: Hashable, Sendable {
    /// The webhook's URL, as it was registered.
    public let url: String
    /// The body, which is JSON.
    public let body: [UInt8]
    /// The id of the call. A repeated call has the same id.
    public let id: String

    /// Creates a request.
    public init(url: String, body: [UInt8], id: String) {
        self.url = url
        self.body = body
        self.id = id
    }
}

/// The reply of a webhook.
public struct WebhookReply: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The body.
    public var body: [UInt8]

    /// Creates a reply.
    public init(status: Int = 200, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// Calls webhooks: by HTTP, or for a test.
public protocol WebhookSender: Sendable {
    /// The reason why a webhook can't be registered at a URL; `nil` if it can.
    func problem(with url: String) -> String?

    /// Calls a webhook with `POST`.
    ///
    /// - Throws: ``WebhookError`` if there is no reply. Any other error counts as temporary.
    func send(_ request: WebhookRequest) async throws -> WebhookReply
}

/// The error of a webhook that can't be reached.
public struct WebhookError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error, for the log. Clients don't get it.
    public let description: String
    /// Whether the same call may succeed later.
    public let isTemporary: Bool

    /// Creates an error.
    public init(_ description: String, isTemporary: Bool = false) {
        self.description = description
        self.isTemporary = isTemporary
    }
}

/// The options for webhooks: functions and triggers that other servers answer.
///
/// ```swift
/// var sender = HTTPWebhooks()
/// sender.key = "…"
/// options.webhooks = WebhookOptions(sender)
/// ```
public struct WebhookOptions: Sendable {
    /// Sends the requests.
    public var sender: any WebhookSender
    /// The number of concurrent calls for one batch, and of concurrent notices.
    public var width = 8
    /// The waits before a failed notice is sent again, in seconds.
    public var retries = [1.0, 5, 30, 120]
    /// The maximum number of waiting notices. Further notices are reported as errors and dropped.
    public var maximumWaiting = 10_000
    /// The maximum memory of waiting notices, in bytes, with those that are being sent. Further notices are reported as
    /// errors and dropped.
    public var maximumWaitingBytes = 64 * 1024 * 1024
    /// The number of seconds that a stopping server still delivers waiting notices.
    public var stopTime = 3.0
    /// Is called with the errors of webhooks; if `nil`, the server logs them.
    public var report: (@Sendable (any Error) -> Void)?

    /// Creates options with the defaults.
    public init(_ sender: any WebhookSender) { self.sender = sender }

    /// Checks the options.
    ///
    /// - Throws: `RelataError` that names the invalid option.
    public func check() throws(RelataError) {
        guard (1...64).contains(width) else { throw .invalidUse("webhooks.width is \(width): it must be 1 to 64") }
        guard retries.count <= 20, retries.allSatisfy({ $0 >= 0 && $0 <= 86_400 }) else {
            throw .invalidUse("webhooks.retries: give at most twenty, of 0 to 86400 seconds each")
        }
        guard (1...1_000_000).contains(maximumWaiting) else {
            throw .invalidUse("webhooks.maximumWaiting is \(maximumWaiting): it must be 1 to 1000000")
        }
        guard maximumWaitingBytes > 0 else {
            throw .invalidUse("webhooks.maximumWaitingBytes is \(maximumWaitingBytes): it must be above 0")
        }
        guard stopTime >= 0, stopTime <= 600 else {
            throw .invalidUse("webhooks.stopTime is \(stopTime): it must be 0 to 600")
        }
    }
}

/// The failure of a webhook. The reason is only for the log, because clients mustn't see URLs.
struct FailedWebhook: Error, CustomStringConvertible {
    let hook: Webhook
    let reason: String
    let isTemporary: Bool

    init(_ hook: Webhook, _ reason: String, isTemporary: Bool = false) {
        self.hook = hook
        self.reason = reason
        self.isTemporary = isTemporary
    }

    init(_ hook: Webhook, _ error: any Error) {
        let known = error as? WebhookError
        self.init(hook, known?.description ?? "\(error)", isTemporary: known?.isTemporary ?? true)
    }

    var description: String {
        // Its parameters may be secrets.
        "the webhook for \(hook.place) at \(hook.url.withoutParameters.prefix(256)) failed: \(reason)"
    }

    /// The error for clients.
    var parseError: ParseError {
        if isTemporary {
            return ParseError(
                .scriptFailed,
                "the webhook for \(hook.place) can't be reached at the moment, so nothing was done: try again",
                status: 503)
        }
        return ParseError(
            .scriptFailed, "the webhook for \(hook.place) failed, so nothing was done: the server's log says why")
    }
}
