#if Server
import Foundation
import NIOHTTP1
import NIOSSL
import RelataParse

/// The source of providers' documents, such as their keys: the network, or a test.
public protocol DocumentSource: Sendable {
    /// Fetches a document.
    ///
    /// - Throws: `SignInError` if the document can't be fetched.
    func document(at url: String) async throws -> FetchedDocument
}

/// A fetched document.
public struct FetchedDocument: Hashable, Sendable {
    /// The bytes of the document.
    public var body: [UInt8]
    /// The number of seconds that the document may be cached; `nil` if the reply doesn't contain a time.
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
    /// More header fields of the requests.
    package var headers: [(name: String, value: String)] = []

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
    /// - Throws: `SignInError` that describes the error. It is always temporary.
    public func document(at url: String) async throws -> FetchedDocument {
        do {
            let address = try WebAddress(url)
            let exchange = HTTPExchange(
                timeout: timeout, maximumSize: maximumSize, tls: address.isSecure ? try tlsContext() : nil)
            var fields: HTTPHeaders = ["Accept": "application/json"]
            for (name, value) in headers { fields.add(name: name, value: value) }
            let reply = try await exchange.send(.GET, to: address, fields)
            if (300..<400).contains(reply.status.code) {
                throw SignInError("it redirects (\(reply.status.code)): give the address that it redirects to")
            }
            guard reply.status == .ok else { throw SignInError("it replies with \(reply.status.code)") }
            return FetchedDocument(reply.body, lifetime: Self.lifetime(reply.headers))
        } catch {
            throw SignInError("\(url.prefix(256)): \(HTTPExchange.reason(error))", isTemporary: true)
        }
    }

    /// The number of seconds that a reply may be cached; `nil` if it doesn't say.
    private static func lifetime(_ headers: HTTPHeaders) -> Double? {
        let words = headers[canonicalForm: "cache-control"].map { $0.lowercased() }
        if words.contains("no-store") || words.contains("no-cache") { return 0 }
        guard let age = words.first(where: { $0.hasPrefix("max-age=") }),
            let seconds = Double(age.dropFirst("max-age=".count))
        else { return nil }
        return max(0, seconds - (headers.first(name: "age").flatMap { Double($0) } ?? 0))
    }

    private func tlsContext() throws(SignInError) -> NIOSSLContext {
        do {
            return try ClientTLS.context(trusting: certificates)
        } catch {
            throw SignInError("\(certificates ?? "the system") contains no certificates in PEM format: \(error)")
        }
    }
}
#endif
