#if Server
import Crypto
import Foundation
import RelataParse

/// Verifies the ID tokens of a provider.
struct OpenIDVerifier: Sendable {
    let issuers: [String]
    let audiences: [String]
    let algorithms: Set<OpenIDAlgorithm>
    let keys: OpenIDKeyStore
    /// Whether tokens that were made for another client are refused (azp), although they are meant for the app as well.
    var refusesOtherClients = true
    var now: @Sendable () -> Date = { Date() }

    /// The tolerated difference between clocks, in seconds.
    static let leeway = 60.0

    /// The error in the settings, or `nil`.
    var problem: String? {
        if issuers.contains(where: \.isEmpty) { return "it needs an issuer (iss), as in its tokens" }
        if audiences.isEmpty || audiences.contains(where: \.isEmpty) {
            return "it needs client ids: without one, tokens that were made for other apps would sign in"
        }
        if algorithms.isEmpty { return "it needs an algorithm that tokens may be signed by" }
        return keys.problem(algorithms)
    }

    /// The id of the user whom a token identifies.
    ///
    /// - Parameter authData: The client's data, which contains the token.
    /// - Throws: ``SignInError`` if the token is invalid, or can't be checked.
    func subject(of authData: JSONObject) async throws -> String {
        guard let text = (authData["id_token"] ?? authData["token"])?.string else {
            throw SignInError("an ID token is needed: send it as id_token")
        }
        let token = try OpenIDToken(text)
        guard let algorithm = OpenIDAlgorithm(rawValue: token.algorithm), algorithms.contains(algorithm) else {
            throw SignInError("the token isn't signed by an accepted algorithm (alg)")
        }
        let key = try await keys.key(token.keyID, for: algorithm)
        guard await key.hasSigned(token, by: algorithm) else {
            throw SignInError("the token's signature is wrong")
        }
        return try checkedSubject(of: token.claims, nonce: authData["nonce"])
    }

    private func checkedSubject(of claims: JSONObject, nonce: JSONValue?) throws(SignInError) -> String {
        guard let issuer = claims["iss"]?.string, issuers.contains(where: { Self.areSame($0, issuer) }) else {
            throw SignInError("the token is another provider's (iss)")
        }
        let intended = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
        let isForUs = intended.allSatisfy { audience in
            audience.string.map { text in audiences.contains { Self.areSame($0, text) } } ?? false
        }
        guard !intended.isEmpty, isForUs else { throw SignInError("the token is meant for another app (aud)") }
        // Some providers' access tokens, which any of their apps can get for this app, differ from ID tokens only in
        // their claims.
        if let type = claims["typ"], !["ID", "JWT"].contains(type.string?.uppercased()) {
            throw SignInError("the token isn't an ID token (typ)")
        }
        if refusesOtherClients, let party = claims["azp"] {
            guard let party = party.string, audiences.contains(where: { Self.areSame($0, party) }) else {
                throw SignInError("the token was made for another app (azp)")
            }
        }
        let time = now().timeIntervalSince1970
        guard let end = claims["exp"]?.number, let start = claims["iat"]?.number, end.isFinite, start.isFinite else {
            throw SignInError("the token doesn't say when it was issued and when it expires (iat, exp)")
        }
        guard end > time - Self.leeway else { throw SignInError("the token has expired (exp)") }
        guard start <= time + Self.leeway else { throw SignInError("the token was issued in the future (iat)") }
        if let first = claims["nbf"] {
            guard let first = first.number, first <= time + Self.leeway else {
                throw SignInError("the token isn't valid yet (nbf)")
            }
        }
        if let nonce, !nonce.isNull {
            guard let given = nonce.string, let held = claims["nonce"]?.string,
                Self.areSame(given, held) || Self.areSame(Self.digest(given), held)
            else { throw SignInError("the token was made for another request (nonce)") }
        }
        guard let subject = claims["sub"]?.string, !subject.isEmpty else {
            throw SignInError("the token names no user (sub)")
        }
        return subject
    }

    /// Names are compared byte for byte.
    private static func areSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    /// The hash of a nonce. Apps may send this to Apple and others instead of the nonce itself.
    private static func digest(_ nonce: String) -> String {
        SHA256.hash(data: Array(nonce.utf8)).hexText
    }
}

/// A parsed token. Its signature isn't checked yet.
struct OpenIDToken: Sendable {
    let algorithm: String
    /// The provider's name for the key of the signature.
    let keyID: String?
    let claims: JSONObject
    /// The signed bytes.
    let signed: [UInt8]
    let signature: [UInt8]

    private static let maximumSize = 64 * 1024

    /// - Throws: ``SignInError`` for a text that isn't a signed token.
    init(_ text: String) throws(SignInError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumSize, parts.count == 3, let head = Self.members(parts[0]),
            let claims = Self.members(parts[1]), let signature = Base64URL.bytes(parts[2]), !signature.isEmpty,
            let algorithm = head["alg"]?.string
        else { throw SignInError("this isn't a signed ID token") }
        // Access tokens are signed with the same keys, but aren't ID tokens.
        if let type = head["typ"], type.string?.uppercased() != "JWT" {
            throw SignInError("the token isn't an ID token (typ)")
        }
        guard head["crit"] == nil else {
            throw SignInError("the token needs an extension that the server doesn't know (crit)")
        }
        if let keyID = head["kid"], keyID.string == nil { throw SignInError("this isn't a signed ID token") }
        self.algorithm = algorithm
        keyID = head["kid"]?.string
        self.claims = claims
        signed = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
        self.signature = signature
    }

    private static func members(_ part: Substring.UTF8View) -> JSONObject? {
        Base64URL.bytes(part).flatMap { try? JSONParser.parse($0) }?.object
    }
}

/// Decodes Base64 for URLs, without padding.
enum Base64URL {
    /// The bytes; `nil` for invalid text.
    static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): plain.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): plain.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: plain.append(byte)
            }
        }
        plain += repeatElement(UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        return Data(base64Encoded: Data(plain)).map(Array.init)
    }
}
#endif
