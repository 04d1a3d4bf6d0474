import Foundation
import Synchronization

/// Hashes passwords and tokens, which are never stored in plain text.
public protocol SecretHashing: Sendable {
    /// The hash of a password, with all data for comparing other passwords with it. It is slow on purpose.
    ///
    /// - Throws: Any error. The request fails with it.
    func hash(of password: String) async throws -> String
    /// Whether a password has this hash.
    ///
    /// - Throws: Any error, such as for a hash that can't be read. The request fails with it.
    func matches(_ password: String, _ hash: String) async throws -> Bool
    /// The digest of a text that can't be guessed, such as a token. It has at least 16 bytes, is always the same for
    /// the same text, and doesn't reveal the text.
    func digest(of text: String) -> [UInt8]
    /// Whether a hash is one by another server's method, which ``matches(_:_:)`` knows as well: it is replaced when the
    /// password is right for the first time. `false` by default.
    func isForeign(_ hash: String) -> Bool
}

extension SecretHashing {
    /// No hash is.
    public func isForeign(_ hash: String) -> Bool { false }
}

extension SecretHashing {
    /// The digest as text.
    func digestText(of text: String) -> String {
        // Byte by byte: every request with a session comes here, and replacing text takes longer than the digest.
        let encoded = Data(digest(of: text)).base64EncodedData().compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

/// New tokens.
enum Token {
    /// The token of a session, in Parse's format.
    static func session() -> String { "r:" + hex(16) }

    /// A number of random bytes, as hexadecimal digits.
    static func hex(_ count: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }.hexText
    }
}

extension Sequence<UInt8> {
    /// The bytes as text: two hexadecimal digits for each.
    package var hexText: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// The hash of a random password. If no user exists, passwords are compared with it.
final class DecoyHash: Sendable {
    private let known = Mutex<String?>(nil)

    func hash(by secrets: any SecretHashing) async throws -> String {
        if let hash = known.withLock({ $0 }) { return hash }
        let hash = try await secrets.hash(of: Token.hex(16))
        return known.withLock { known in
            known = known ?? hash
            return known ?? hash
        }
    }
}
