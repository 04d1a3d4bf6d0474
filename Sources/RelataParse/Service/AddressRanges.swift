import Foundation
import RelataCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Addresses of clients, in the notation of CIDR: `10.0.0.0/8`, `2001:db8::/32`, `127.0.0.1`.
///
/// `0.0.0.0/0` stands for every address of IPv4, and `::/0` for every address.
public struct AddressRanges: Hashable, Sendable {
    private let ranges: [Range]?

    /// Every address, and none that isn't known.
    public static let everywhere = AddressRanges(ranges: nil)
    /// The programs on the same machine.
    public static let thisMachine = AddressRanges(known: ["127.0.0.0/8", "::1"])

    /// No address.
    public static let nowhere = AddressRanges(ranges: [])

    private init(ranges: [Range]?) { self.ranges = ranges }

    /// Ranges that the code itself names, which are all valid.
    package init(known texts: [String]) { ranges = texts.compactMap { Range($0) } }

    /// Ranges of addresses.
    ///
    /// - Throws: `RelataError` that names the text that isn't a range.
    public init(_ texts: [String]) throws(RelataError) {
        var ranges: [Range] = []
        for text in texts {
            guard let range = Range(text) else {
                throw .invalidUse(
                    "\(text) isn't an address such as 10.1.2.3, or a range such as 10.0.0.0/8")
            }
            ranges.append(range)
        }
        self.ranges = ranges
    }

    /// Whether ranges are named, which means neither all addresses nor none.
    var areNamed: Bool { ranges?.isEmpty == false }

    /// Whether an address is in one of the ranges. One that isn't known is in none.
    public func contains(_ address: String?) -> Bool {
        guard let ranges else { return true }
        guard let address = address.flatMap(NetworkAddress.init) else { return false }
        return ranges.contains { $0.contains(address) }
    }

    private struct Range: Hashable, Sendable {
        let start: NetworkAddress
        /// The number of leading bits that all of its addresses share.
        let length: Int

        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let start = NetworkAddress(String(parts[0])) else { return nil }
            let maximum = start.isVersion4 ? 32 : 128
            var length = maximum
            if parts.count == 2 {
                guard parts[1].allSatisfy(\.isNumber), let given = Int(parts[1]), given <= maximum else {
                    return nil
                }
                length = given
            }
            self.length = length + (start.isVersion4 ? 96 : 0)
            self.start = start.prefix(self.length)
        }

        func contains(_ address: NetworkAddress) -> Bool { address.prefix(length) == start }
    }
}

/// An address of IP. One of version 4 is the same whether or not it is written as one of version 6.
struct NetworkAddress: Hashable, Sendable {
    private let high, low: UInt64

    private init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    init?(_ text: String) {
        // The part after it names an interface of this machine.
        let text = text.prefix { $0 != "%" }
        guard text.utf8.count <= 64 else { return nil }
        var version4 = in_addr()
        if inet_pton(AF_INET, String(text), &version4) == 1 {
            let value = withUnsafeBytes(of: &version4) {
                UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self))
            }
            self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(value))
            return
        }
        var version6 = in6_addr()
        guard inet_pton(AF_INET6, String(text), &version6) == 1 else { return nil }
        self = withUnsafeBytes(of: &version6) { bytes in
            NetworkAddress(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    var isVersion4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// The address as one of version 4 is written; `nil` for one of version 6.
    var version4Text: String? {
        guard isVersion4 else { return nil }
        return [24, 16, 8, 0].map { String(low >> $0 & 0xFF) }.joined(separator: ".")
    }

    /// The address with only its first bits.
    func prefix(_ length: Int) -> NetworkAddress {
        func mask(_ bits: Int) -> UInt64 {
            bits <= 0 ? 0 : bits >= 64 ? .max : ~(UInt64.max >> UInt64(bits))
        }
        return NetworkAddress(high: high & mask(length), low: low & mask(length - 64))
    }
}
