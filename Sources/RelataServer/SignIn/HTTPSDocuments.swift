#if Server
import Foundation
import NIOHTTP1
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
            let exchange = HTTPExchange(
                timeout: timeout, maximumSize: maximumSize, tls: address.isSecure ? try tlsContext() : nil)
            let reply = try await exchange.send(.GET, to: address, ["Accept": "application/json"])
            if (300..<400).contains(reply.status.code) {
                throw SignInError("it leads elsewhere (\(reply.status.code)): give the address that it leads to")
            }
            guard reply.status == .ok else { throw SignInError("it is answered with \(reply.status.code)") }
            return FetchedDocument(reply.body, lifetime: Self.lifetime(reply.headers))
        } catch {
            throw SignInError("\(url.prefix(256)): \(HTTPExchange.reason(error))", isTemporary: true)
        }
    }

    /// For how many seconds a reply may be kept; `nil` where it doesn't say.
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
            throw SignInError("\(certificates ?? "the system") holds no certificates in PEM format: \(error)")
        }
    }
}
#endif
