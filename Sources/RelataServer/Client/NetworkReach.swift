#if Server
import NIOCore
import RelataParse

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Distinguishes public addresses from those of this machine and of private networks.
enum NetworkReach {
    /// The blocks that contain public addresses: IPv4, and 2000::/3.
    private static let assigned = AddressRanges(known: ["0.0.0.0/0", "2000::/3"])
    /// The blocks among them that aren't public: this machine, private and shared networks, link-local addresses (such
    /// as 169.254.169.254, where clouds have services), documentation, tests, tunnels, multicast and reserved blocks.
    private static let closed = AddressRanges(known: [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ])
    /// The IPv6 addresses that NAT64 translates to IPv4.
    private static let translated = AddressRanges(known: ["64:ff9b::/96"])

    /// Whether an address is public. An IPv6 address that maps an IPv4 address is as public as that.
    static func isPublic(_ address: SocketAddress) -> Bool {
        guard var text = address.ipAddress else { return false }
        if translated.contains(text), case .v6(let address) = address {
            text = withUnsafeBytes(of: address.address.sin6_addr) {
                $0.suffix(4).map(String.init).joined(separator: ".")
            }
        }
        return assigned.contains(text) && !closed.contains(text)
    }

    /// The error for a host with an address that isn't public.
    struct Closed: Error, CustomStringConvertible {
        let host: String
        let address: String

        var description: String {
            "\(host) is at \(address), on this machine or in a private network: allow that (--private-webhooks), or use a public address"
        }
    }

    /// The error for a name without an address.
    struct Unknown: Error, CustomStringConvertible {
        let host: String
        let reason: String
        var description: String { "it can't be reached: \(host): \(reason)" }
    }

    /// Looks up all addresses of a host. This blocks the thread.
    ///
    /// - Parameter allowsPrivate: Whether addresses may be of this machine, or of a private network.
    /// - Throws: ``Closed`` if an address isn't allowed, ``Unknown`` if there is none.
    static func addresses(of host: String, port: Int, allowsPrivate: Bool) throws -> [SocketAddress] {
        let all = try lookUp(host, port)
        if !allowsPrivate, let closed = all.first(where: { !isPublic($0) }) {
            throw Closed(host: host, address: closed.ipAddress ?? "an unknown address")
        }
        return all
    }

    private static func lookUp(_ host: String, _ port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, "\(port)", &hints, &first)
        guard status == 0 else {
            throw Unknown(
                host: host, reason: gai_strerror(status).map { String(cString: $0) } ?? "there is no such name")
        }
        defer { if let first { freeaddrinfo(first) } }
        var addresses: [SocketAddress] = []
        var next = first
        while let info = next?.pointee {
            if let address = info.ai_addr {
                let raw = UnsafeRawPointer(address)
                switch info.ai_family {
                case AF_INET: addresses.append(SocketAddress(raw.loadUnaligned(as: sockaddr_in.self), host: host))
                case AF_INET6: addresses.append(SocketAddress(raw.loadUnaligned(as: sockaddr_in6.self), host: host))
                default: break
                }
            }
            next = info.ai_next
        }
        guard !addresses.isEmpty else { throw Unknown(host: host, reason: "it has no address") }
        return addresses
    }
}
#endif
