#if Server
import JWTKit
import RelataParse

/// A public key that verifies a provider's tokens.
struct OpenIDKey: Sendable {
    /// The provider's name for the key.
    let id: String?
    /// The algorithms that the key may be used with.
    let algorithms: Set<OpenIDAlgorithm>
    private let key: JWK

    /// Reads a key; `nil` for a key that isn't for signatures, or of an unknown kind.
    init?(_ members: JSONObject) {
        if let use = members["use"], use != "sig" { return nil }
        if let operations = members["key_ops"]?.array, !operations.contains("verify") { return nil }
        func text(_ name: String) -> String? { members[name]?.string }
        // Private parts of a key are ignored.
        let own = JWKIdentifier(string: "key")
        switch text("kty") {
        case "RSA":
            guard text("n") != nil, text("e") != nil else { return nil }
            key = .rsa(nil, identifier: own, modulus: text("n"), exponent: text("e"))
            algorithms = Self.named(text("alg"), of: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
        case "EC":
            guard let curve = text("crv").flatMap(ECDSACurve.init(rawValue:)) else { return nil }
            let algorithm: [String: OpenIDAlgorithm] = ["P-256": .es256, "P-384": .es384, "P-521": .es512]
            key = .ecdsa(nil, identifier: own, x: text("x"), y: text("y"), curve: curve)
            algorithms = Self.named(text("alg"), of: algorithm[curve.rawValue].map { [$0] } ?? [])
        case "OKP":
            guard let curve = text("crv").flatMap(EdDSACurve.init(rawValue:)) else { return nil }
            key = .octetKeyPair(nil, identifier: own, x: text("x"), y: nil, curve: curve)
            algorithms = Self.named(text("alg"), of: [.edDSA])
        default: return nil
        }
        if algorithms.isEmpty { return nil }
        id = text("kid")
    }

    private static func named(_ name: String?, of all: Set<OpenIDAlgorithm>) -> Set<OpenIDAlgorithm> {
        guard let name else { return all }
        return OpenIDAlgorithm(rawValue: name).map { all.intersection([$0]) } ?? []
    }

    /// Whether a token's signature belongs to this key.
    func hasSigned(_ token: OpenIDToken, by algorithm: OpenIDAlgorithm) async -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        var key = key
        key.algorithm = JWK.Algorithm(rawValue: algorithm.rawValue)
        do {
            // For an unknown key id, a collection uses any of its keys. This collection contains only one.
            let verifier = try await JWTKeyCollection().add(jwk: key).getKey(for: "key", alg: algorithm.rawValue)
            return try verifier.name == algorithm.rawValue && verifier.verify(token.signature, signs: token.signed)
        } catch {
            return false
        }
    }
}

/// The keys of a provider.
struct OpenIDKeySet: Sendable {
    let keys: [OpenIDKey]

    private static let maximumCount = 100

    /// Reads a JSON Web Key Set. Keys that aren't for signatures, or of an unknown kind, are left out.
    ///
    /// - Throws: ``SignInError`` if no key is left.
    init(_ json: some Sequence<UInt8>) throws(SignInError) {
        let members = (try? JSONParser.parse(json))?["keys"]?.array
        keys = (members ?? []).prefix(Self.maximumCount).compactMap { $0.object.flatMap(OpenIDKey.init) }
        if keys.isEmpty {
            throw SignInError(members == nil ? "this isn't a JSON Web Key Set" : "it contains no key that signs tokens")
        }
    }

    /// The key with this id; `nil` if it isn't in the set. Without an id, it is the only possible key, if there is one.
    func key(_ id: String?, for algorithm: OpenIDAlgorithm) -> OpenIDKey? {
        let possible = keys.filter { $0.algorithms.contains(algorithm) }
        guard let id else { return possible.count == 1 ? possible[0] : nil }
        return possible.first { $0.id?.utf8.elementsEqual(id.utf8) == true }
    }
}
#endif
