import Foundation
import Synchronization

/// How passwords and tokens are kept: never as they are.
public protocol SecretHashing: Sendable {
    /// A password's hash, with all that is needed to compare another password with it. It takes its time, on purpose.
    func hash(of password: String) async throws -> String
    /// Whether a password is the one of a hash.
    func matches(_ password: String, _ hash: String) async throws -> Bool
    /// The digest of a text that nobody guesses, such as a token: at least 16 bytes, always the same, that tell nothing
    /// of the text.
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
        Data(digest(of: text)).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

/// New tokens.
enum Token {
    /// The token of a session, as Parse's clients know it.
    static func session() -> String { "r:" + hex(16) }

    /// As many bytes that nobody guesses, as text of twice their number.
    static func hex(_ count: Int) -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }.hexText
    }
}

extension Sequence<UInt8> {
    /// The bytes as text: two hexadecimal digits for each.
    package var hexText: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// The hash of a password that nobody knows, to which passwords are compared where there is no user.
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
