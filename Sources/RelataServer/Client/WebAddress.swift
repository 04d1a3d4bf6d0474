#if Server
import Foundation
import NIOCore
import RelataParse

/// The URL of a request that the server sends.
struct WebAddress: Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    /// The path with its parameters.
    let target: String
    /// The name that the certificate must have; `nil` for a numeric address.
    var serverName: String? { (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil }
    /// The value of the `Host` header field.
    let authority: String

    /// - Parameter needsTLS: Whether TLS is required, except for this machine.
    /// - Throws: ``SignInError`` for an invalid URL.
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
        // A port that isn't an `Int` is left out.
        if parts.port == nil, let range = parts.rangeOfPort, let text = parts.string?[range], !text.isEmpty {
            throw SignInError("there is no port \(text.prefix(20))")
        }
        port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { throw SignInError("there is no port \(port)") }
        let path = parts.percentEncodedPath
        target = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        authority = (host.contains(":") ? "[\(host)]" : host) + (parts.port.map { ":\($0)" } ?? "")
    }

    /// Whether a host is this machine, to which secrets may be sent without TLS.
    static func isThisMachine(_ host: String) -> Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }

    /// The reason why a request can't be sent to a URL; `nil` if it can.
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
