#if Server
import NIOCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Which addresses lie on the public internet, and which on this machine or in a network of its own.
enum NetworkReach {
    /// Blocks of IPv4 that aren't public: this machine, private and shared networks, neighbours on the link, such as the
    /// services of a cloud at 169.254.169.254, documentation, tests, groups and the rest.
    private static let closed: [(block: UInt32, bits: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16), (0xC612_0000, 15),
        (0xC633_6400, 24),
        (0xCB00_7100, 24), (0xE000_0000, 3),
    ]

    /// Whether an address of IPv4 is public.
    static func isPublic(_ address: UInt32) -> Bool {
        !closed.contains { address >> (32 - $0.bits) == $0.block >> (32 - $0.bits) }
    }

    /// Whether an address of IPv6 is public. One that leads to an address of IPv4 is as public as that.
    ///
    /// - Parameter bytes: The 16 bytes of the address.
    static func isPublic(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        let last = bytes[12...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        // A translator of the network: 64:ff9b::/96.
        if bytes[..<12].elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { return isPublic(last) }
        // ::ffff:0:0/96, an address of IPv4.
        if bytes[..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) { return isPublic(last) }
        // All others are in 2000::/3, but for blocks of tunnels, tests and documentation.
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1]) {
        case (0x20, 0x01): return bytes[2] >= 0x02 && !(bytes[2] == 0x0D && bytes[3] == 0xB8)
        case (0x20, 0x02): return false
        case (0x3F, 0xFF): return bytes[2] & 0xF0 != 0
        default: return true
        }
    }

    /// Whether an address is public.
    static func isPublic(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4(let address): isPublic(UInt32(bigEndian: address.address.sin_addr.s_addr))
        case .v6(let address): isPublic(withUnsafeBytes(of: address.address.sin6_addr) { Array($0) })
        case .unixDomainSocket: false
        }
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
