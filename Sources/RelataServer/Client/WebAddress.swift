#if Server
import Foundation
import NIOCore
import RelataParse

/// An address on the web that the server sends a request to.
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

    /// - Parameter needsTLS: Whether only this machine is spoken to without TLS.
    /// - Throws: ``SignInError`` for what is none.
    init(_ url: String, needsTLS: Bool = true) throws(SignInError) {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = URLComponents(string: url),
            let scheme = parts.scheme?.lowercased(), let named = parts.host, !named.isEmpty, parts.user == nil,
            parts.password == nil, parts.fragment == nil, ["https", "http"].contains(scheme)
        else { throw SignInError("it must be an address such as https://example.org/keys") }
        host = named.hasPrefix("[") && named.hasSuffix("]") ? String(named.dropFirst().dropLast()) : named
        isSecure = scheme == "https"
        guard isSecure || !needsTLS || Self.isThisMachine(host) else {
            throw SignInError("it must begin with https://")
        }
        port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { throw SignInError("there is no port \(port)") }
        let path = parts.percentEncodedPath
        target = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        authority = (host.contains(":") ? "[\(host)]" : host) + (parts.port.map { ":\($0)" } ?? "")
    }

    /// Whether a host is this machine, to which secrets may go without TLS.
    static func isThisMachine(_ host: String) -> Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }

    /// Why something is no address that a document could be fetched of; `nil` for one that is.
    static func problem(_ url: String, needsTLS: Bool = true) -> String? {
        do throws(SignInError) {
            _ = try WebAddress(url, needsTLS: needsTLS)
            return nil
        } catch {
            return error.description
        }
    }
}
#endif
