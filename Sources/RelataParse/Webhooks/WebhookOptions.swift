import RelataCore

/// A call of a webhook.
public struct WebhookRequest: Hashable, Sendable {
    /// The address, as it was registered.
    public let url: String
    /// The body: JSON.
    public let body: [UInt8]
    /// Names the call. A call that is repeated because it failed has the same id.
    public let id: String

    /// A call.
    public init(url: String, body: [UInt8], id: String) {
        self.url = url
        self.body = body
        self.id = id
    }
}

/// The reply of a webhook.
public struct WebhookReply: Hashable, Sendable {
    /// The status of HTTP.
    public var status: Int
    /// The body.
    public var body: [UInt8]

    /// A reply.
    public init(status: Int = 200, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// Calls webhooks: by HTTP, or for a test.
public protocol WebhookSender: Sendable {
    /// Why no webhook can be at an address; `nil` for one that may be registered.
    func problem(with url: String) -> String?

    /// Calls a webhook by `POST`.
    ///
    /// - Throws: ``WebhookError`` if there is no reply, or any other error.
    func send(_ request: WebhookRequest) async throws -> WebhookReply
}

/// Why a webhook wasn't reached.
public struct WebhookError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error, for the log. Clients don't get it.
    public let description: String
    /// Whether the same call may succeed later.
    public let isTemporary: Bool

    /// An error.
    public init(_ description: String, isTemporary: Bool = false) {
        self.description = description
        self.isTemporary = isTemporary
    }
}

/// How webhooks are called: functions and triggers that other servers answer.
///
/// ```swift
/// var sender = HTTPWebhooks()
/// sender.key = "…"
/// options.webhooks = WebhookOptions(sender)
/// ```
public struct WebhookOptions: Sendable {
    /// Calls them.
    public var sender: any WebhookSender
    /// How many webhooks are called at once for one batch, and how many are told at once of what has happened.
    public var width = 8
    /// The waits before a webhook is told again of what has happened, in seconds.
    public var retries = [1.0, 5, 30, 120]
    /// How many notices wait at most. Those that find no place are reported, and lost.
    public var maximumWaiting = 10_000
    /// For how many seconds a server that stops still delivers what waits.
    public var stopTime = 3.0
    /// Called with the errors of webhooks; without it, the server logs them.
    public var report: (@Sendable (any Error) -> Void)?

    /// Webhooks by a sender.
    public init(_ sender: any WebhookSender) { self.sender = sender }

    /// Checks what can't be.
    ///
    /// - Throws: `RelataError` that names the invalid option.
    public func check() throws(RelataError) {
        guard (1...64).contains(width) else { throw .invalidUse("webhooks.width is \(width): it must be 1 to 64") }
        guard retries.count <= 20, retries.allSatisfy({ $0 >= 0 && $0 <= 86_400 }) else {
            throw .invalidUse("webhooks.retries: there may be twenty at most, of 0 to 86400 seconds each")
        }
        guard (1...1_000_000).contains(maximumWaiting) else {
            throw .invalidUse("webhooks.maximumWaiting is \(maximumWaiting): it must be 1 to 1000000")
        }
        guard stopTime >= 0, stopTime <= 600 else {
            throw .invalidUse("webhooks.stopTime is \(stopTime): it must be 0 to 600")
        }
    }
}

/// A webhook that didn't do its part. The log has the reason: clients don't learn addresses.
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

    var description: String { "the webhook for \(hook.place) at \(hook.url.prefix(256)) failed: \(reason)" }

    /// What clients are told.
    var parseError: ParseError {
        if isTemporary {
            return ParseError(
                .scriptFailed,
                "the webhook for \(hook.place) can't be asked at the moment, so nothing was done: try again",
                status: 503)
        }
        return ParseError(
            .scriptFailed, "the webhook for \(hook.place) failed, so nothing was done: the server's log says why")
    }
}
