#if Server
import Crypto
import Foundation
import RelataCore
import RelataParse

/// The keys that clients must send.
///
/// The application's id and the keys of clients are in every app, so they aren't secret. The other keys are secret, and
/// only their hashes are stored.
public struct ServerKeys: Sendable {
    /// The application's id, which every request must contain.
    public var applicationID: String
    /// The client key; `nil` if clients need none.
    public var clientKey: String?
    /// The key of programs that call the REST API themselves; `nil` if they use the client key.
    public var restAPIKey: String?
    /// The key of web pages; `nil` if theirs is the client key.
    public var javaScriptKey: String?
    /// The key of programs on .NET; `nil` if theirs is the client key.
    public var dotNetKey: String?
    /// The hash of the master key; `nil` for none.
    public var masterKey: HashedKey?
    /// The hash of the read-only master key; `nil` for none.
    public var readOnlyMasterKey: HashedKey?
    /// The hash of a key that can also write the ids and times of objects and password hashes, for moving a server;
    /// `nil` for none.
    public var maintenanceKey: HashedKey?
    /// The addresses that may use the master key.
    public var masterKeyAddresses = AddressRanges.everywhere
    /// The addresses that may use the read-only master key.
    public var readOnlyMasterKeyAddresses = AddressRanges.everywhere
    /// The addresses that may use the maintenance key; by default, this machine.
    public var maintenanceKeyAddresses = AddressRanges.thisMachine

    /// Creates keys that the app chooses.
    public init(applicationID: String, clientKey: String? = nil, masterKey: String? = nil) {
        self.applicationID = applicationID
        self.clientKey = clientKey
        self.masterKey = masterKey.map { HashedKey($0) }
    }

    func key(of privilege: ParseKeys.Privilege) -> HashedKey? {
        switch privilege {
        case .master: masterKey
        case .readOnlyMaster: readOnlyMasterKey
        case .maintenance: maintenanceKey
        }
    }

    func addresses(of privilege: ParseKeys.Privilege) -> AddressRanges {
        switch privilege {
        case .master: masterKeyAddresses
        case .readOnlyMaster: readOnlyMasterKeyAddresses
        case .maintenance: maintenanceKeyAddresses
        }
    }

    /// The keys that aren't secret, and the application's id, by their names.
    private var openTexts: [(name: String, text: String)] {
        let all: [(String, String?)] = [
            ("the application's id", applicationID), ("the client key", clientKey), ("the REST API key", restAPIKey),
            ("the JavaScript key", javaScriptKey), ("the .NET key", dotNetKey),
        ]
        return all.compactMap { name, text in text.map { (name: name, text: $0) } }
    }

    /// Whether a text is a key that isn't secret, or the application's id.
    func isOpen(_ text: String) -> Bool { openTexts.contains { ConstantTime.areEqual($0.text, text) } }

    /// Checks that no two keys with different rights are equal: a secret key would be public, or a key that only reads
    /// would write. Two hashes of one key are only known as such if they have the same salt.
    ///
    /// - Parameter texts: The secret keys that are known as texts.
    /// - Throws: `RelataError` that names two keys that are equal.
    func checkDifferent(knowing texts: [ParseKeys.Privilege: String?] = [:]) throws(RelataError) {
        for privilege in ParseKeys.Privilege.allCases {
            guard let key = key(of: privilege) else { continue }
            for (name, text) in openTexts where key.matches(text) {
                throw .invalidUse("\(name) equals the \(privilege.keyName): choose a different one")
            }
            for other in ParseKeys.Privilege.allCases where other != privilege {
                guard let otherKey = self.key(of: other) else { continue }
                let isSame = (texts[other] ?? nil).map(key.matches) ?? false
                if isSame || otherKey == key {
                    throw .invalidUse(
                        "the \(other.keyName) equals the \(privilege.keyName): choose a different one")
                }
            }
        }
    }

    /// A new key: 32 random characters.
    public static func newKey() -> String {
        let characters = Array("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        var random = SystemRandomNumberGenerator()
        return String((0..<32).map { _ in characters[Int.random(in: 0..<characters.count, using: &random)] })
    }
}

extension ParseKeys.Privilege {
    /// The name of the key in messages.
    fileprivate var keyName: String {
        switch self {
        case .master: "master key"
        case .readOnlyMaster: "read-only master key"
        case .maintenance: "maintenance key"
        }
    }

    /// The privileges that allow less.
    var lesser: [ParseKeys.Privilege] {
        switch self {
        case .readOnlyMaster: []
        case .master: [.readOnlyMaster]
        case .maintenance: [.readOnlyMaster, .master]
        }
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

    /// Stores a hash that is the same for equal keys while this process runs.
    init(inMemory key: String) {
        salt = Self.processSalt
        sha256 = Self.hash(key, salt)
    }

    private static let processSalt = Data.random(16)

    /// Whether a text is the key. The time doesn't depend on the result.
    public func matches(_ text: String) -> Bool { ConstantTime.areEqual(Self.hash(text, salt), sha256) }

    /// Reads a hash, or a key as people write it.
    public init(from decoder: any Decoder) throws {
        if let key = try? decoder.singleValueContainer().decode(String.self) {
            salt = Self.processSalt
            sha256 = Self.hash(key, salt)
            return
        }
        let values = try decoder.container(keyedBy: CodingKeys.self)
        salt = try values.decode(Data.self, forKey: .salt)
        sha256 = try values.decode(Data.self, forKey: .sha256)
    }

    private enum CodingKeys: String, CodingKey { case salt, sha256 }

    private static func hash(_ key: String, _ salt: Data) -> Data { Data(SHA256.hash(data: salt + Data(key.utf8))) }
}

extension Data {
    /// A number of random bytes.
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
