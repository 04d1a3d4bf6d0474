#if Server
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import RelataCore
import RelataParse

/// Sends mails through a mail server, over SMTP.
///
/// ```swift
/// var server = SMTPSender("smtp.example.org", from: "Library <library@example.org>")
/// server.login = .init(user: "library", password: password)
/// options.mail = MailOptions(server, appName: "Library", publicURL: "https://books.example.org/parse")
/// ```
///
/// Each mail uses a separate connection.
public struct SMTPSender: MailSender {
    /// The encryption of the connection.
    public enum Security: String, Hashable, Sendable, CaseIterable {
        /// `STARTTLS`, as on port 587. If the server doesn't offer it, nothing is sent.
        case startTLS = "starttls"
        /// TLS from the first byte, as on port 465.
        case tls
        /// No encryption: for a mail server on the same machine, or in a private network.
        case none

        /// The usual port for this encryption.
        public var port: Int {
            switch self {
            case .startTLS: 587
            case .tls: 465
            case .none: 25
            }
        }
    }

    /// The credentials for a mail server.
    public struct Login: Hashable, Sendable {
        /// The user's name.
        public var user: String
        /// The password.
        public var password: String

        /// A name and a password.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// The mail server's name or address.
    public var host: String
    /// The mail server's port.
    public var port: Int
    /// The encryption of the connection.
    public var security: Security
    /// The sender of mails: `library@example.org`, or `Library <library@example.org>`.
    public var from: String
    /// The credentials; `nil` for a server without authentication.
    public var login: Login?
    /// A PEM file with the trusted certificates; `nil` for those of the system.
    public var certificates: String?
    /// The maximum time for connecting, and for each reply.
    public var timeout = Duration.seconds(30)

    /// A sender for a mail server.
    ///
    /// - Parameter port: By default, the usual port for the encryption.
    public init(_ host: String, port: Int? = nil, security: Security = .startTLS, from: String) {
        self.host = host
        self.port = port ?? security.port
        self.security = security
        self.from = from
    }

    /// Checks the settings, before anything is sent.
    ///
    /// - Throws: `RelataError` that names the invalid setting.
    public func check() throws(RelataError) {
        guard !host.isEmpty else { throw .invalidUse("the mail server has no name") }
        guard (1...65_535).contains(port) else { throw .invalidUse("the mail server's port is \(port)") }
        guard timeout > .zero else { throw .invalidUse("the mail server's time limit must be above 0") }
        do throws(MailError) {
            _ = try MailAddress(from)
        } catch {
            throw .invalidUse("the sender of mails is \(from): \(error.description)")
        }
        if login != nil, security == .none, !WebAddress.isThisMachine(host) {
            throw .invalidUse("a password is sent to \(host) with TLS only: set the security to starttls or tls")
        }
        if security != .none { _ = try tlsContext() }
    }

    /// Sends a mail.
    ///
    /// - Throws: `MailError` with the failed step, and the server's reply.
    public func send(_ mail: Mail) async throws {
        try await talk { dialogue, security in
            try await dialogue.deliver(
                try MailMessage(mail, from: try MailAddress(from)), startingTLS: security)
        }
    }

    /// Signs in to the server, and leaves.
    ///
    /// - Throws: `MailError` with the failed step, and the server's reply.
    public func probe() async throws {
        try await talk { dialogue, security in
            try await dialogue.probe(try MailAddress(from).domain, startingTLS: security)
        }
    }

    private func talk(_ body: (SMTPDialogue, _ startingTLS: SMTPSecurity?) async throws -> Void)
        async throws
    {
        do {
            try check()
            let tls = security == .none ? nil : SMTPSecurity(context: try tlsContext(), host: host)
            let connection = try await connect(tls: security == .tls ? tls : nil)
            let result: Result<Void, any Error>
            do {
                result = .success(
                    try await body(
                        SMTPDialogue(connection: connection, login: login), security == .startTLS ? tls : nil)
                )
            } catch {
                result = .failure(error)
            }
            await connection.close()
            try result.get()
        } catch {
            throw explained(error)
        }
    }

    private func connect(tls: SMTPSecurity?) async throws -> SMTPConnection {
        let limit = TimeAmount(timeout)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(limit)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(tls.handler()) }
                    try channel.pipeline.syncOperations.addHandler(SMTPHandler())
                }
            }
            .connect(host: host, port: port).get()
        return SMTPConnection(channel: channel, limit: limit)
    }

    private func tlsContext() throws(RelataError) -> NIOSSLContext {
        do {
            return try ClientTLS.context(trusting: certificates)
        } catch {
            throw .fileAccess(path: certificates ?? "", "contains no certificates in PEM format: \(error)")
        }
    }

    /// The error with the server's name. If the server can't be reached or trusted, a later attempt may succeed.
    private func explained(_ error: any Error) -> MailError {
        let place = "mail server \(host):\(port)"
        switch error {
        case let error as MailError: return MailError("\(place): \(error.description)", isTemporary: error.isTemporary)
        case let error as RelataError: return MailError("\(place): \(error.description)")
        case let error as NIOConnectionError:
            let reasons = error.connectionErrors.map { "\($0.error)" }
            return MailError(
                "\(place) can't be reached: \(reasons.first ?? "there is no such host")", isTemporary: true)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            return MailError("\(place): TLS with it failed: \(error)", isTemporary: true)
        case let error as ChannelError:
            if case .connectTimeout = error {
                return MailError("\(place) can't be reached within \(timeout)", isTemporary: true)
            }
            return MailError("\(place): the connection was lost: \(error)", isTemporary: true)
        default: return MailError("\(place): \(error)", isTemporary: true)
        }
    }
}

/// The TLS configuration for a mail server.
struct SMTPSecurity: Sendable {
    let context: NIOSSLContext
    let host: String

    func handler() throws -> NIOSSLClientHandler {
        // `serverHostname` must be a name, because certificates list names and addresses separately.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}
#endif
