#if Server
import Crypto
import CryptoExtras
import Foundation
import RelataCore
import RelataParse
import Synchronization

#if canImport(CRelataCrypt)
import CRelataCrypt
#endif

/// Hashes passwords with scrypt, and tokens with SHA-256.
///
/// ```swift
/// var options = ParseService.Options()
/// options.secrets = ScryptSecrets(cost: 16)
/// ```
///
/// A hash contains its cost, so existing hashes stay valid when the cost changes. At most one hash per processor core
/// is computed at a time, because each takes memory. Other callers wait, and are refused if too many do.
public struct ScryptSecrets: SecretHashing {
    /// The cost of a hash, as a power of 2: the number of rounds, each with 1 kB of memory.
    public let cost: Int
    private let gate: Gate

    /// - Parameter cost: The cost of a hash, from 10 to 20. 15 takes 32 MB, and each step doubles the memory.
    public init(cost: Int = 15) {
        self.cost = min(max(cost, 10), 20)
        gate = Gate(width: ProcessInfo.processInfo.activeProcessorCount)
    }

    private static let salt = 16
    private static let size = 32
    private static let blockSize = 8

    /// The hash of a password: `scrypt$15$8$1$…$…`.
    ///
    /// - Throws: `ParseError` 155 if too many callers wait.
    public func hash(of password: String) async throws -> String {
        let salt = Data.random(Self.salt)
        let key = try await derive(password, salt, cost: cost)
        return "scrypt$\(cost)$\(Self.blockSize)$1$\(salt.base64EncodedString())$\(key.base64EncodedString())"
    }

    /// Whether a password matches a hash. The time doesn't depend on the result.
    ///
    /// - Throws: The errors of ``hash(of:)``.
    public func matches(_ password: String, _ hash: String) async throws -> Bool {
        if let hash = BcryptHash(hash) { return try await matches(password, hash) }
        let parts = hash.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[0] == "scrypt", let cost = Int(parts[1]), (10...20).contains(cost),
            parts[2] == "\(Self.blockSize)", parts[3] == "1", let salt = Data(base64Encoded: parts[4]),
            let key = Data(base64Encoded: parts[5])
        else { return false }
        return ConstantTime.areEqual(try await derive(password, salt, cost: cost), key)
    }

    /// Whether a hash was made by bcrypt, as parse-server does.
    public func isForeign(_ hash: String) -> Bool { BcryptHash(hash) != nil }

    /// Whether a password matches a bcrypt hash, by the system's library on Linux. Elsewhere, no password matches.
    private func matches(_ password: String, _ hash: BcryptHash) async throws -> Bool {
        #if canImport(CRelataCrypt)
        // C ends a text at a zero byte, so the rest wouldn't be compared.
        guard !password.utf8.contains(0) else { return false }
        try await gate.enter()
        defer { gate.leave() }
        var result = [CChar](repeating: 0, count: 128)
        guard relata_crypt(password, hash.text, &result, result.count) == 1 else { return false }
        let bytes = result.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return ConstantTime.areEqual(bytes, Array(hash.text.utf8))
        #else
        return false
        #endif
    }

    /// The SHA-256 of a text.
    public func digest(of text: String) -> [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }

    private func derive(_ password: String, _ salt: Data, cost: Int) async throws -> Data {
        try await gate.enter()
        defer { gate.leave() }
        // Systems compose Unicode characters differently.
        let text = password.precomposedStringWithCompatibilityMapping
        let key = try KDF.Scrypt.deriveKey(
            from: Data(text.utf8), salt: salt, outputByteCount: Self.size, rounds: 1 << cost, blockSize: Self.blockSize,
            parallelism: 1)
        return key.withUnsafeBytes { Data($0) }
    }
}

/// Limits the number of concurrent callers. Others wait in order.
private final class Gate: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, any Error>] = []
    }

    /// The maximum number of waiting callers.
    private static let maximumWaiting = 1000

    private let state: Mutex<State>

    init(width: Int) { state = Mutex(State(free: max(1, width))) }

    /// - Throws: `ParseError` 155 if too many callers wait.
    func enter() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<Void, any Error>? in
                guard state.free == 0 else {
                    state.free -= 1
                    return .success(())
                }
                guard state.waiting.count < Self.maximumWaiting else { return .failure(Self.isFull) }
                state.waiting.append(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }

    private static let isFull = ParseError(
        .requestLimitExceeded, "too many sign in at the moment: try again", status: 503)

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
#endif
