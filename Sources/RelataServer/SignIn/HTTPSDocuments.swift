#if Server
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RelataParse

/// Where the documents of providers come from, such as their keys: the network, or a test.
public protocol DocumentSource: Sendable {
    /// Fetches a document.
    ///
    /// - Throws: ``SignInError`` where it can't be had.
    func document(at url: String) async throws -> FetchedDocument
}

/// A document as it was fetched.
public struct FetchedDocument: Hashable, Sendable {
    /// What it holds.
    public var body: [UInt8]
    /// For how many seconds it may be kept; `nil` where nobody says.
    public var lifetime: Double?

    /// A document.
    public init(_ body: [UInt8], lifetime: Double? = nil) {
        self.body = body
        self.lifetime = lifetime
    }
}

/// Fetches documents by HTTPS: without following redirects, and without a proxy.
public struct HTTPSDocuments: DocumentSource {
    /// How long a document may take.
    public var timeout = Duration.seconds(10)
    /// How many bytes it may have.
    public var maximumSize = 256 * 1024
    /// A PEM file with the certificates that vouch for the server; `nil` for those that the system trusts.
    public var certificates: String?
    /// More header fields of the requests.
    package var headers: [(name: String, value: String)] = []

    /// The defaults.
    public init() {}

    /// What can't be; `nil` where nothing is wrong.
    var problem: String? {
        guard timeout > .zero else { return "the time limit for its documents must be above 0" }
        guard maximumSize > 0 else { return "the size limit for its documents must be above 0" }
        do {
            _ = try tlsContext()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Fetches a document.
    ///
    /// - Throws: ``SignInError``, a temporary one, that says what went wrong.
    public func document(at url: String) async throws -> FetchedDocument {
        do {
            let address = try WebAddress(url)
            let context = address.isSecure ? try tlsContext() : nil
            let (limit, size, headers) = (TimeAmount(timeout), maximumSize, headers)
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let promise = loop.makePromise(of: FetchedDocument.self)
            let end = loop.scheduleTask(in: limit) { promise.fail(SignInError("it took longer than \(timeout)")) }
            let connected = ClientBootstrap(group: loop).connectTimeout(limit)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let context {
                            try pipeline.addHandler(
                                NIOSSLClientHandler(context: context, serverHostname: address.serverName))
                        }
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(DocumentHandler(address, headers, limit: size, promise))
                    }
                }
                .connect(host: address.host, port: address.port)
            connected.whenFailure { promise.fail($0) }
            promise.futureResult.whenComplete { _ in
                end.cancel()
                connected.whenSuccess { $0.close(promise: nil) }
            }
            return try await promise.futureResult.get()
        } catch {
            throw SignInError("\(url.prefix(256)): \(Self.reason(error))", isTemporary: true)
        }
    }

    private func tlsContext() throws(SignInError) -> NIOSSLContext {
        do {
            return try ClientTLS.context(trusting: certificates)
        } catch {
            throw SignInError("\(certificates ?? "the system") holds no certificates in PEM format: \(error)")
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as SignInError: error.description
        case let error as NIOConnectionError:
            "it can't be reached: "
                + (error.connectionErrors.first.map { "\($0.error)" } ?? "there is no server of that name")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: "there is no trusted TLS with it: \(error)"
        case is HTTPParserError: "it doesn't speak HTTP, or broke off: \(error)"
        default: "\(error)"
        }
    }
}

/// An address on the web, of which a document is fetched.
struct WebAddress: Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    /// The path with its parameters.
    let target: String
    /// The name that the certificate must have; `nil` for a numeric address.
    var serverName: String? { (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil }
    /// As a request names the server.
    let authority: String

    /// - Throws: ``SignInError`` for what is none, or one without TLS on another machine.
    init(_ url: String) throws(SignInError) {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = URLComponents(string: url),
            let scheme = parts.scheme?.lowercased(), let named = parts.host, !named.isEmpty, parts.user == nil,
            parts.password == nil, parts.fragment == nil, ["https", "http"].contains(scheme)
        else { throw SignInError("it must be an address such as https://example.org/keys") }
        host = named.hasPrefix("[") && named.hasSuffix("]") ? String(named.dropFirst().dropLast()) : named
        isSecure = scheme == "https"
        guard isSecure || ["127.0.0.1", "::1", "localhost"].contains(host) else {
            throw SignInError("it must begin with https://")
        }
        port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { throw SignInError("there is no port \(port)") }
        let path = parts.percentEncodedPath
        target = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        authority = (host.contains(":") ? "[\(host)]" : host) + (parts.port.map { ":\($0)" } ?? "")
    }

    /// Why something is no address that a document could be fetched of; `nil` for one that is.
    static func problem(_ url: String) -> String? {
        do throws(SignInError) {
            _ = try WebAddress(url)
            return nil
        } catch {
            return error.description
        }
    }
}
#endif
