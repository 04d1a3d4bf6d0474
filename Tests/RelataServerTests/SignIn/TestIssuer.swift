#if Server
import Crypto
import CryptoExtras
import Foundation
import RelataParse

@testable import RelataServer

/// A provider of OpenID Connect, which makes valid and invalid tokens.
struct TestIssuer: Sendable {
    /// A provider's key: its signing function, and its public part.
    struct Key: Sendable {
        let id: String
        let algorithm: String
        let sign: @Sendable ([UInt8]) throws -> [UInt8]
        let told: JSONObject
    }

    /// The time at which tokens are issued.
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    var issuer = "https://id.example.org"
    var audience = "library"
    let keys: [Key]

    init(_ keys: Key...) { self.keys = keys }

    /// The provider's public keys.
    var keySet: String { Self.keySet(keys.map(\.told)) }

    static func keySet(_ keys: [JSONObject]) -> String {
        JSONWriter.text(["keys": .array(keys.map { .object($0) })])
    }

    /// A token.
    ///
    /// - Parameters:
    ///   - claims: Claims that differ from those of a valid token; `nil` for a missing one.
    ///   - head: The same for the header.
    ///   - key: The signing key.
    func token(
        _ subject: String = "mei", _ claims: [String: JSONValue?] = [:], head: [String: JSONValue?] = [:],
        key: Key? = nil, at time: Date = now
    ) throws -> String {
        let key = key ?? keys[0]
        let seconds = Int64(time.timeIntervalSince1970)
        var body: JSONObject = [
            "iss": .string(issuer), "aud": .string(audience), "sub": .string(subject), "iat": .integer(seconds),
            "exp": .integer(seconds + 600),
        ]
        var first: JSONObject = ["alg": .string(key.algorithm), "kid": .string(key.id), "typ": "JWT"]
        for (name, value) in claims { body[name] = value }
        for (name, value) in head { first[name] = value }
        return try Self.signed(JSONWriter.text(.object(first)), JSONWriter.text(.object(body)), key.sign)
    }

    static func signed(
        _ head: String, _ body: String, _ sign: ([UInt8]) throws -> [UInt8]
    ) rethrows -> String {
        let signed = text(Array(head.utf8)) + "." + text(Array(body.utf8))
        return signed + "." + text(try sign(Array(signed.utf8)))
    }

    /// Bytes in the encoding of tokens.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

extension TestIssuer.Key {
    /// A key on P-256.
    static func es256(_ id: String) -> TestIssuer.Key {
        let key = P256.Signing.PrivateKey()
        let point = key.publicKey.x963Representation.dropFirst()
        return TestIssuer.Key(
            id: id, algorithm: "ES256", sign: { Array(try key.signature(for: $0).rawRepresentation) },
            told: [
                "kty": "EC", "crv": "P-256", "kid": .string(id), "x": .string(TestIssuer.text(point.prefix(32))),
                "y": .string(TestIssuer.text(point.suffix(32))),
            ])
    }

    /// A key for Ed25519.
    static func edDSA(_ id: String) -> TestIssuer.Key {
        let key = Curve25519.Signing.PrivateKey()
        return TestIssuer.Key(
            id: id, algorithm: "EdDSA", sign: { Array(try key.signature(for: $0)) },
            told: [
                "kty": "OKP", "crv": "Ed25519", "kid": .string(id),
                "x": .string(TestIssuer.text(key.publicKey.rawRepresentation)),
            ])
    }

    /// An RSA key.
    static func rs256(_ id: String, bits: Int = 2048) throws -> TestIssuer.Key {
        let key = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits))
        let parts = try key.publicKey.getKeyPrimitives()
        return TestIssuer.Key(
            id: id, algorithm: "RS256",
            sign: {
                Array(try key.signature(for: SHA256.hash(data: $0), padding: .insecurePKCS1v1_5).rawRepresentation)
            },
            told: [
                "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(id),
                "n": .string(TestIssuer.text(parts.modulus)), "e": .string(TestIssuer.text(parts.publicExponent)),
            ])
    }

    /// A shared key: anyone who can verify tokens can also create them.
    static func hs256(_ id: String, secret: [UInt8]) -> TestIssuer.Key {
        TestIssuer.Key(
            id: id, algorithm: "HS256",
            sign: { Array(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: secret))) },
            told: ["kty": "oct", "kid": .string(id), "k": .string(TestIssuer.text(secret))])
    }
}
#endif
