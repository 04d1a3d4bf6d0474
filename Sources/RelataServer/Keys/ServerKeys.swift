#if Server
import Crypto
import Foundation
import RelataCore

/// The keys that clients must send.
///
/// The application's id and the client key are in every app, so they aren't secret. The master key is secret: only its
/// hash is stored.
public struct ServerKeys: Sendable {
    /// The application's id, which every request must contain.
    public var applicationID: String
    /// The client key; `nil` if clients need none.
    public var clientKey: String?
    /// The hash of the master key; `nil` for none.
    public var masterKey: HashedKey?

    /// Keys that the app chooses.
    public init(applicationID: String, clientKey: String? = nil, masterKey: String? = nil) {
        self.applicationID = applicationID
        self.clientKey = clientKey
        self.masterKey = masterKey.map { HashedKey($0) }
    }

    init(applicationID: String, clientKey: String?, hashedMasterKey: HashedKey?) {
        self.applicationID = applicationID
        self.clientKey = clientKey
        masterKey = hashedMasterKey
    }

    /// A new key: 32 random characters.
    public static func newKey() -> String {
        let characters = Array("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        var random = SystemRandomNumberGenerator()
        return String((0..<32).map { _ in characters[Int.random(in: 0..<characters.count, using: &random)] })
    }
}

/// A key that is stored only as a digest.
public struct HashedKey: Hashable, Sendable, Codable {
    private let salt: Data
    private let sha256: Data

    /// Keeps only a salted hash of a key.
    public init(_ key: String) {
        salt = .random(16)
        sha256 = Self.hash(key, salt)
    }

    /// Whether a text is the key. The time doesn't depend on the result.
    public func matches(_ text: String) -> Bool { ConstantTime.areEqual(Self.hash(text, salt), sha256) }

    private static func hash(_ key: String, _ salt: Data) -> Data { Data(SHA256.hash(data: salt + Data(key.utf8))) }
}

extension Data {
    /// So many random bytes.
    static func random(_ count: Int) -> Data {
        var random = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
}

/// Comparisons whose time doesn't depend on the position of a difference.
enum ConstantTime {
    static func areEqual(_ first: String, _ second: String) -> Bool { areEqual(first.utf8, second.utf8) }

    static func areEqual(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
#endif
