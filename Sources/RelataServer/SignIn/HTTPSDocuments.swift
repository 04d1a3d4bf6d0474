#if Server
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RelataParse

/// The source of providers' documents, such as their keys: the network, or a test.
public protocol DocumentSource: Sendable {
    /// Fetches a document.
    ///
    /// - Throws: ``SignInError`` if the document can't be fetched.
    func document(at url: String) async throws -> FetchedDocument
}

/// A fetched document.
public struct FetchedDocument: Hashable, Sendable {
    /// The bytes of the document.
    public var body: [UInt8]
    /// For how many seconds the document may be cached; `nil` if the reply doesn't contain a time.
    public var lifetime: Double?

    /// A document.
    public init(_ body: [UInt8], lifetime: Double? = nil) {
        self.body = body
        self.lifetime = lifetime
    }
}

/// Fetches documents over HTTPS. It follows no redirects and uses no proxy.
public struct HTTPSDocuments: DocumentSource {
    /// The maximum time for fetching a document.
    public var timeout = Duration.seconds(10)
    /// The maximum size of a document, in bytes.
    public var maximumSize = 256 * 1024
    /// A PEM file with the trusted certificates; `nil` for those of the system.
    public var certificates: String?

    /// The defaults.
    public init() {}

    /// The error in the settings, or `nil`.
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
    /// - Throws: ``SignInError`` that describes the error. It is always temporary.
    public func document(at url: String) async throws -> FetchedDocument {
        do {
            let address = try WebAddress(url)
            let context = address.isSecure ? try tlsContext() : nil
            let (limit, size) = (TimeAmount(timeout), maximumSize)
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
                        try pipeline.addHandler(DocumentHandler(address, limit: size, promise))
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

/// The address of a document on the web.
struct WebAddress: Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    /// The path with its parameters.
    let target: String
    /// The name that the certificate must contain; `nil` for a numeric address.
    var serverName: String? { (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil }
    /// The server's name in a request, with the port if the address contains one.
    let authority: String

    /// - Throws: ``SignInError`` for an invalid address, and for `http://` on another machine.
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

    /// The reason why an address is invalid, or `nil`.
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
