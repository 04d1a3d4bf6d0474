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

/// Which addresses lie on the public internet, and which on this machine or in a network of its own.
enum NetworkReach {
    /// Where public addresses are: in IPv4, and in 2000::/3.
    private static let assigned = AddressRanges(known: ["0.0.0.0/0", "2000::/3"])
    /// The blocks in it that aren't public: this machine, private and shared networks, neighbours on the link, such as the
    /// services of a cloud at 169.254.169.254, documentation, tests, tunnels, groups and the rest.
    private static let closed = AddressRanges(known: [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ])
    /// The addresses by which a translator of the network leads to IPv4.
    private static let translated = AddressRanges(known: ["64:ff9b::/96"])

    /// Whether an address is public. One of IPv6 that leads to an address of IPv4 is as public as that.
    static func isPublic(_ address: SocketAddress) -> Bool {
        guard var text = address.ipAddress else { return false }
        if translated.contains(text), case .v6(let address) = address {
            text = withUnsafeBytes(of: address.address.sin6_addr) {
                $0.suffix(4).map(String.init).joined(separator: ".")
            }
        }
        return assigned.contains(text) && !closed.contains(text)
    }

    /// A host that has no public address.
    struct Closed: Error, CustomStringConvertible {
        let host: String
        let address: String

        var description: String {
            "\(host) is at \(address), on this machine or in a private network: allow that (--private-webhooks), or use a public address"
        }
    }

    /// A name that has no address.
    struct Unknown: Error, CustomStringConvertible {
        let host: String
        let reason: String
        var description: String { "it can't be reached: \(host): \(reason)" }
    }

    /// All addresses of a host. Waits for the network.
    ///
    /// - Parameter allowsPrivate: Whether addresses may lie on this machine, or in a private network.
    /// - Throws: ``Closed`` where one of them does, ``Unknown`` where there is none.
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
