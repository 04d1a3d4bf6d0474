/// The address of a client behind proxies.
package enum ForwardedAddress: Hashable, Sendable {
    /// An address; `nil` if the connection has none.
    case known(String?)
    /// A trusted proxy sends no valid address.
    case unknown(proxy: String)

    /// The address; if it is unknown, a text that isn't an address, and so isn't in any range. The text is the same for
    /// all clients of a proxy whose addresses are unknown.
    package var text: String? {
        switch self {
        case .known(let address): address
        case .unknown(let proxy): "unknown, by \(proxy)"
        }
    }
}

extension AddressRanges {
    /// The address of a client behind proxies: the last one that a trusted proxy names and that isn't a trusted proxy
    /// itself. The client may have made up the entries before it.
    ///
    /// - Parameters:
    ///   - peer: The address that the connection is from.
    ///   - forwarded: The header field `X-Forwarded-For`.
    /// - Returns: A text that isn't an address, and so isn't in any range, if a trusted proxy sends no valid address.
    public func client(of peer: String?, forwarded: String?) -> String? {
        forwardedAddress(of: peer, forwarded: forwarded).text
    }

    /// The address of a client as ``client(of:forwarded:)`` finds it.
    package func forwardedAddress(of peer: String?, forwarded: String?) -> ForwardedAddress {
        guard areNamed, let peer, contains(peer), let forwarded else { return .known(peer) }
        var last = peer
        for part in forwarded.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            // An unknown client must not get the rights of the proxy's address.
            guard let address = Self.address(in: part) else { return .unknown(proxy: last) }
            last = address
            if !contains(address) { break }
        }
        return .known(last)
    }

    /// An address as proxies write it: `10.1.2.3`, `10.1.2.3:55`, `2001:db8::1`, `[2001:db8::1]:55`, in quotes or
    /// without.
    private static func address(in part: Substring) -> String? {
        var text = part.trimmingSpaces[...]
        if text.count > 2, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
        var port: Substring?
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[end...].dropFirst()
            text = text[..<end].dropFirst()
            guard text.contains(":") else { return nil }
            if !rest.isEmpty {
                guard rest.first == ":" else { return nil }
                port = rest.dropFirst()
            }
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            // An address of version 6 has two at least.
            port = text[colon...].dropFirst()
            text = text[..<colon]
        }
        if let port, UInt16(port) == nil || !port.allSatisfy(\.isNumber) { return nil }
        // The name of an interface is of the proxy's machine.
        if text.contains(":") { text = text.prefix { $0 != "%" } } else if text.contains("%") { return nil }
        return NetworkAddress(String(text)).map { $0.version4Text ?? String(text) }
    }
}
