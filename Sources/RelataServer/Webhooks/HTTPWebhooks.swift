#if Server
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import RelataCore
import RelataParse
import Synchronization

/// Calls webhooks by HTTP, with signed requests.
///
/// Each call opens a connection. The address is looked up and checked for each call: names of this machine or of a
/// private network are refused. Redirects aren't followed.
public struct HTTPWebhooks: WebhookSender {
    /// The value of `X-Parse-Webhook-Key`, by which a webhook recognises the server; `nil` for none.
    public var key: String?
    /// The secret that signs requests, and is never sent; `nil` to sign them with ``key``.
    public var secret: String?
    /// The time limit of a call.
    public var timeout = Duration.seconds(5)
    /// The maximum size of a reply, in bytes.
    public var maximumReply = 1024 * 1024
    /// Whether webhooks may be on this machine, or in a private network.
    public var allowsPrivateAddresses = false
    /// A PEM file with the trusted certificates for webhooks; `nil` for those that the system trusts.
    public var certificates: String? { didSet { context = Context() } }

    private var context = Context()
    /// Returns the time; replaced by tests.
    var now: @Sendable () -> Date = { Date() }

    /// The TLS settings of all calls. They are shared, because reading the trusted certificates takes long.
    private final class Context: Sendable {
        let known = Mutex<NIOSSLContext?>(nil)
    }

    /// Creates a sender with the defaults.
    public init() {}

    /// Checks the settings.
    ///
    /// - Throws: `RelataError` that names the invalid setting.
    public func check() throws(RelataError) {
        for (name, text) in [("key", key), ("secret", secret)] {
            guard let text else { continue }
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .invalidUse("the \(name) of webhooks must be letters, digits and signs of ASCII, without spaces")
            }
        }
        guard timeout > .zero, timeout <= .seconds(600) else {
            throw .invalidUse("the time limit of webhooks is \(timeout): it must be above 0, and at most ten minutes")
        }
        guard maximumReply > 0, maximumReply <= RelataServer.Limits.maximumSize else {
            throw .invalidUse("the size limit of webhooks is \(maximumReply): it must be above 0, and at most 2 GB")
        }
        if certificates != nil { _ = try tls() }
    }

    /// The reason why a webhook can't be registered at a URL; `nil` if it can.
    public func problem(with url: String) -> String? {
        do throws(SignInError) {
            let address = try WebAddress(url, needsTLS: false)
            // A name may have another address later, so it is checked at each call.
            guard !allowsPrivateAddresses, let ip = try? SocketAddress(ipAddress: address.host, port: address.port),
                !NetworkReach.isPublic(ip)
            else { return nil }
            return "\(NetworkReach.Closed(host: address.host, address: address.host))"
        } catch {
            return error.description
        }
    }

    /// Calls a webhook.
    ///
    /// - Throws: `WebhookError` that says what went wrong.
    public func send(_ request: WebhookRequest) async throws -> WebhookReply {
        do {
            let address = try WebAddress(request.url, needsTLS: false)
            let exchange = HTTPExchange(
                timeout: timeout, maximumSize: maximumReply, tls: address.isSecure ? try tls() : nil)
            let allowsPrivate = allowsPrivateAddresses
            let reply = try await exchange.send(.POST, to: address, headers(of: request), body: request.body) {
                try NetworkReach.addresses(of: address.host, port: address.port, allowsPrivate: allowsPrivate)
            }
            guard !(300..<400).contains(reply.status.code) else {
                throw WebhookError(
                    "it redirects (\(reply.status.code)): register the address that it redirects to")
            }
            return WebhookReply(status: Int(reply.status.code), body: reply.body)
        } catch let error as WebhookError {
            throw error
        } catch {
            if error is CancellationError { throw error }
            throw WebhookError(HTTPExchange.reason(error), isTemporary: Self.isTemporary(error))
        }
    }

    private static func isTemporary(_ error: any Error) -> Bool {
        switch error {
        // The connection broke in the middle of the reply.
        case HTTPParserError.invalidEOFState: true
        case HTTPExchange.Failure.tooLarge, is NetworkReach.Closed, is SignInError, is RelataError, is HTTPParserError:
            false
        default: true
        }
    }

    private func headers(of request: WebhookRequest) -> HTTPHeaders {
        let time = "\(Int64(now().timeIntervalSince1970))"
        var headers: HTTPHeaders = [
            "Content-Type": "application/json", "Accept": "application/json", "X-Relata-Webhook-Id": request.id,
            "X-Relata-Webhook-Timestamp": time,
        ]
        if let key { headers.add(name: "X-Parse-Webhook-Key", value: key) }
        if let secret = secret ?? key {
            headers.add(
                name: "X-Relata-Webhook-Signature", value: Self.signature(of: request.body, at: time, by: secret))
        }
        return headers
    }

    /// The signature of a body: HMAC-SHA256 of the time, a full stop and the body.
    static func signature(of body: [UInt8], at time: String, by secret: String) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: Array(secret.utf8)))
        code.update(data: Array("\(time).".utf8))
        code.update(data: body)
        return "sha256=" + code.finalize().hexText
    }

    private func tls() throws(RelataError) -> NIOSSLContext {
        if let known = context.known.withLock({ $0 }) { return known }
        do {
            let made = try ClientTLS.context(trusting: certificates)
            context.known.withLock { $0 = made }
            return made
        } catch {
            throw .fileAccess(path: certificates ?? "the system", "contains no certificates in PEM format: \(error)")
        }
    }
}
#endif
