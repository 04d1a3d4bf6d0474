#if Server
import Crypto
import Foundation
import RelataCore

/// What clients must know to be answered.
///
/// The application's id and the client key are in every app and no secrets. The master key is one: only its hash is kept.
public struct ServerKeys: Sendable {
    /// The id that every request carries.
    public var applicationID: String
    /// The key of clients; `nil` where they need none.
    public var clientKey: String?
    /// What is known of the key that allows everything; `nil` where there is none.
    public var masterKey: HashedKey?

    /// Keys that the app keeps itself.
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

    /// A new key: 32 characters that nobody guesses.
    public static func newKey() -> String {
        let characters = Array("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        var random = SystemRandomNumberGenerator()
        return String((0..<32).map { _ in characters[Int.random(in: 0..<characters.count, using: &random)] })
    }
}

/// A key that isn't known any more, but recognised.
public struct HashedKey: Hashable, Sendable, Codable {
    private let salt: Data
    private let sha256: Data

    /// Forgets a key.
    public init(_ key: String) {
        salt = .random(16)
        sha256 = Self.hash(key, salt)
    }

    /// Whether a text is the key. Takes the same time whatever it is.
    public func matches(_ text: String) -> Bool { ConstantTime.areEqual(Self.hash(text, salt), sha256) }

    private static func hash(_ key: String, _ salt: Data) -> Data { Data(SHA256.hash(data: salt + Data(key.utf8))) }
}

extension Data {
    /// As many bytes that nobody guesses.
    static func random(_ count: Int) -> Data {
        var random = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
}

/// Comparisons whose time says nothing about where two values differ.
enum ConstantTime {
    static func areEqual(_ first: String, _ second: String) -> Bool { areEqual(first.utf8, second.utf8) }

    static func areEqual(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
#endif
