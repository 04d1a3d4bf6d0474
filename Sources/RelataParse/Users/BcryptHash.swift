/// A password's hash by bcrypt, as Parse's own server keeps it: `$2b$10$…`.
package struct BcryptHash: Hashable, Sendable {
    /// The hash as text.
    package let text: String
    /// The cost: 2 to that power.
    package let cost: Int

    /// The largest cost that is accepted. Every sign-in takes the work of the greatest cost among the users, so a single
    /// hash of more would slow down all of them. Parse's own server uses 10.
    private static let maximumCost = 12

    /// - Returns: `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, ["2a", "2b", "2y"].contains(parts[1]),
            parts[2].utf8.count == 2,
            let cost = Int(parts[2]), (4...Self.maximumCost).contains(cost), parts[3].utf8.count == 53,
            parts[3].utf8.allSatisfy(Self.isDigit)
        else { return nil }
        self.text = text
        self.cost = cost
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "/")
    }

    /// The hashes to verify for a name, so that every name takes the work of the greatest cost.
    ///
    /// - Parameters:
    ///   - hash: The hash of the name's user; `nil` for a name without one, which gets a decoy.
    ///   - greatest: The greatest cost of all users' hashes.
    /// - Returns: The hash, or the decoy in its place, comes first.
    static func equalWork(_ hash: String?, greatest: Int) -> [String] {
        guard let hash else { return [decoy(cost: greatest)] }
        let cost = BcryptHash(hash)?.cost ?? greatest
        // A step of the cost doubles the work: 2ⁿ + 2ⁿ + 2ⁿ⁺¹ + … + 2ᵐ⁻¹ = 2ᵐ.
        return [hash] + (cost..<max(cost, greatest)).map(decoy)
    }

    /// A hash of that cost that no password has: verifying one takes as long as for another hash.
    static func decoy(cost: Int) -> String {
        let cost = min(max(cost, 4), maximumCost)
        return "$2b$" + (cost < 10 ? "0" : "") + "\(cost)$" + String(repeating: ".", count: 53)
    }
}
