#if Server
import Foundation
import RelataParse
import Testing

@testable import RelataServer

/// Accepting and refusing a provider's tokens.
struct OpenIDTokenTests {
    private static let key = TestIssuer.Key.es256("one")
    private static let issuer = TestIssuer(key)
    private static let now = Int64(TestIssuer.now.timeIntervalSince1970)

    private static func verifier(
        _ keySet: String = issuer.keySet, algorithms: Set<OpenIDAlgorithm> = [.rs256, .es256]
    ) -> OpenIDVerifier {
        OpenIDVerifier(
            issuers: ["https://id.example.org"], audiences: ["library", "library.web"], algorithms: algorithms,
            keys: OpenIDKeyStore(.given(keySet), issuer: "https://id.example.org", documents: NoDocuments()),
            now: { TestIssuer.now })
    }

    /// The outcome of a token: the id of its user, or the error.
    private static func outcome(
        _ token: String, _ verifier: OpenIDVerifier = verifier(), nonce: JSONValue? = nil
    ) async -> String {
        do {
            var authData: JSONObject = ["id_token": .string(token)]
            if let nonce { authData["nonce"] = nonce }
            return try await verifier.subject(of: authData)
        } catch {
            return "\(error)"
        }
    }

    @Test func tokensOfEachKindOfKeyAreAccepted() async throws {
        let keys = [try TestIssuer.Key.rs256("rsa"), .es256("ec"), .edDSA("ed")]
        let verifier = Self.verifier(
            TestIssuer.keySet(keys.map(\.told)), algorithms: [.rs256, .es256, .edDSA])
        for key in keys {
            let token = try TestIssuer(key).token()
            #expect(await Self.outcome(token, verifier) == "mei", "\(key.algorithm)")
            #expect(try await verifier.subject(of: ["token": .string(token)]) == "mei", "\(key.algorithm)")
        }
    }

    @Test(
        arguments: [
            ([:], "mei"), (["aud": ["library"]], "mei"), (["aud": ["library", "library.web"]], "mei"),
            (["aud": "other"], "(aud)"), (["aud": ["library", "other"]], "(aud)"), (["aud": []], "(aud)"),
            (["aud": nil], "(aud)"), (["aud": .null], "(aud)"), (["aud": 5], "(aud)"), (["aud": "Library"], "(aud)"),
            (["aud": ["library", 5]], "(aud)"), (["aud": ["library": true]], "(aud)"), (["aud": ""], "(aud)"),
            (["iss": "https://id.example.org/"], "(iss)"), (["iss": "https://evil.example"], "(iss)"),
            (["iss": nil], "(iss)"), (["iss": ["https://id.example.org"]], "(iss)"),
            (["exp": .integer(now - 61)], "(exp)"), (["exp": .integer(now - 30)], "mei"), (["exp": nil], "(iat, exp)"),
            (["exp": "2030-01-01"], "(iat, exp)"), (["exp": .string("\(now + 600)")], "(iat, exp)"),
            (["exp": .double(1e300)], "mei"), (["iat": .integer(now + 61)], "(iat)"),
            (["iat": .integer(now + 30)], "mei"), (["iat": nil], "(iat, exp)"), (["nbf": .integer(now + 61)], "(nbf)"),
            (["nbf": .integer(now + 30)], "mei"), (["nbf": "soon"], "(nbf)"), (["sub": nil], "(sub)"),
            (["sub": ""], "(sub)"), (["sub": 5], "(sub)"), (["email": "mei@example.org"], "mei"),
            (["typ": "ID"], "mei"), (["typ": "Bearer"], "(typ)"), (["typ": "at+jwt"], "(typ)"), (["typ": 5], "(typ)"),
            (["azp": "library.web"], "mei"), (["azp": "other"], "(azp)"), (["azp": ["library"]], "(azp)"),
        ] as [([String: JSONValue?], String)])
    func theClaimsOfATokenMustBeValid(claims: [String: JSONValue?], outcome: String) async throws {
        #expect(await Self.outcome(try Self.issuer.token("mei", claims)).hasSuffix(outcome), "\(claims)")
    }

    @Test(
        arguments: [
            (["alg": "none"], "(alg)"), (["alg": "HS256"], "(alg)"), (["alg": "ES384"], "(alg)"),
            (["alg": "es256"], "(alg)"), (["alg": "RS256"], "(kid)"), (["alg": nil], "isn't a signed ID token"),
            (["alg": ["ES256"]], "isn't a signed ID token"), (["kid": "two"], "(kid)"),
            (["kid": 5], "isn't a signed ID token"),
            (["kid": nil], "mei"), (["typ": nil], "mei"), (["typ": "at+jwt"], "(typ)"), (["typ": 5], "(typ)"),
            (["crit": ["exp"]], "(crit)"), (["x": .double(1e300)], "mei"),
            (["jwk": .object(TestIssuer.Key.es256("one").told)], "mei"), (["jku": "https://evil.example/keys"], "mei"),
        ] as [([String: JSONValue?], String)])
    func theHeaderOfATokenCannotWeakenTheCheck(head: [String: JSONValue?], outcome: String) async throws {
        #expect(await Self.outcome(try Self.issuer.token(head: head)).hasSuffix(outcome), "\(head)")
    }

    @Test func aTokenOfAnotherKeyIsRefused() async throws {
        let forged = try Self.issuer.token(key: .es256("one"))
        #expect(await Self.outcome(forged) == "the token's signature is wrong")
        // A public key must not be accepted as a shared secret.
        let secrets: [[UInt8]] = [
            Array(JSONWriter.text(.object(Self.key.told)).utf8), Array(Self.issuer.keySet.utf8), [],
        ]
        for secret in secrets {
            let key = TestIssuer.Key.hs256("one", secret: secret)
            #expect(await Self.outcome(try Self.issuer.token(key: key)).hasSuffix("(alg)"))
            let named = try Self.issuer.token(head: ["alg": "ES256"], key: key)
            #expect(await Self.outcome(named) == "the token's signature is wrong")
        }
        let shared = TestIssuer.Key.hs256("shared", secret: Array(repeating: 7, count: 32))
        let verifier = Self.verifier(TestIssuer.keySet([Self.key.told, shared.told]))
        #expect(await Self.outcome(try Self.issuer.token(key: shared), verifier).hasSuffix("(alg)"))
    }

    @Test func aChangedTokenIsRefused() async throws {
        let token = try Self.issuer.token()
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let other = try Self.issuer.token("sam").split(separator: ".").map(String.init)
        let wrong = "the token's signature is wrong"
        for (changed, outcome) in [
            ([parts[0], other[1], parts[2]].joined(separator: "."), wrong),
            ([parts[0], parts[1], other[2]].joined(separator: "."), wrong),
            ([parts[0], parts[1], TestIssuer.text(Array(repeating: 0, count: 64))].joined(separator: "."), wrong),
            ([parts[0], parts[1], TestIssuer.text([0x30, 0x06])].joined(separator: "."), wrong),
            ([parts[0], parts[1], ""].joined(separator: "."), "isn't a signed ID token"),
            (parts[0] + "." + parts[1], "isn't a signed ID token"), (token + ".", "isn't a signed ID token"),
            (token + "=", "isn't a signed ID token"), (token + "+", "isn't a signed ID token"),
            ("", "isn't a signed ID token"),
            ("..", "isn't a signed ID token"), (token + "\n", "isn't a signed ID token"),
            ("{}", "isn't a signed ID token"),
            (String(repeating: "a", count: 70_000), "isn't a signed ID token"),
            (TestIssuer.signed("[]", "{}") { $0 }, "isn't a signed ID token"),
            (TestIssuer.signed(#"{"alg": "ES256", "alg": "none"}"#, "{}") { $0 }, "isn't a signed ID token"),
        ] {
            #expect(await Self.outcome(changed).hasSuffix(outcome), "\(changed.prefix(200))")
        }
        // Two programs could read this token differently.
        let twice = try TestIssuer.signed(
            #"{"alg": "ES256", "kid": "one"}"#, #"{"sub": "mei", "sub": "sam"}"#, Self.key.sign)
        #expect(await Self.outcome(twice).hasSuffix("isn't a signed ID token"))
    }

    @Test func aGivenNonceMustMatchTheToken() async throws {
        let plain = try Self.issuer.token("mei", ["nonce": "abc"])
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let hashed = try Self.issuer.token("mei", ["nonce": .string(digest)])
        let none = try Self.issuer.token()
        for (token, nonce, outcome) in [
            (plain, nil, "mei"), (plain, "abc", "mei"), (hashed, "abc", "mei"), (plain, .null, "mei"),
            (plain, "abd", "(nonce)"), (hashed, "abd", "(nonce)"), (none, "abc", "(nonce)"), (plain, "", "(nonce)"),
            (plain, ["$ne": ""], "(nonce)"),
        ] as [(String, JSONValue?, String)] {
            #expect(await Self.outcome(token, nonce: nonce).hasSuffix(outcome), "\(String(describing: nonce))")
        }
    }

    @Test func malformedTokensAreReported() async {
        for authData: JSONObject in [[:], ["id": "mei"], ["id_token": 5], ["id_token": .null], ["access_token": "x"]] {
            await #expect(throws: SignInError("an ID token is needed: send it as id_token")) {
                try await Self.verifier().subject(of: authData)
            }
        }
    }

    @Test func keysThatAreNotForSignaturesAreLeftOut() async throws {
        let others: [JSONObject] = [
            ["kty": "EC", "crv": "secp256k1", "kid": "one", "x": "AA", "y": "AA"], ["kty": "RSA", "kid": "one"],
            Self.key.told.merging(["use": "enc"]), Self.key.told.merging(["key_ops": ["sign"]]),
            Self.key.told.merging(["alg": "ES384"]), ["kty": "oct", "k": "AA"], [:],
        ]
        let verifier = Self.verifier(
            TestIssuer.keySet(others + [Self.key.told.merging(["use": "sig", "alg": "ES256"])]))
        #expect(await Self.outcome(try Self.issuer.token(), verifier) == "mei")
        // If there are two keys, the token must contain a key id.
        let two = Self.verifier(TestIssuer.keySet([Self.key.told, TestIssuer.Key.es256("two").told]))
        #expect(await Self.outcome(try Self.issuer.token(head: ["kid": nil]), two).hasSuffix("(kid)"))
        #expect(await Self.outcome(try Self.issuer.token(), two) == "mei")
        // A short key can be broken.
        let short = try TestIssuer.Key.rs256("one", bits: 1024)
        let weak = Self.verifier(TestIssuer.keySet([short.told]))
        #expect(await Self.outcome(try Self.issuer.token(key: short), weak) == "the token's signature is wrong")
    }

    @Test func invalidSettingsAreReportedBeforeTheFirstSignIn() {
        for (provider, message) in [
            (.apple(clientIDs: []), "apple: it needs client ids"),
            (.google(clientIDs: [""]), "google: it needs client"),
            (.openID("id", issuer: "", audiences: ["a"]), "id: it needs an issuer"),
            (.openID("id", issuer: "http://id.example.org", audiences: ["a"]), "must begin with https://"),
            (.openID("id", issuer: "id.example.org", audiences: ["a"]), "must be an address such as"),
            (.openID("id", issuer: "https://a", audiences: ["a"], keys: .at("http://b/keys")), "must begin with https"),
            (.openID("id", issuer: "https://a", audiences: ["a"], keys: .at("ftp://b/")), "must be an address"),
            (.openID("id", issuer: "https://a", audiences: ["a"], keys: .given("{}")), "isn't a JSON Web Key Set"),
            (
                .openID("id", issuer: "https://a", audiences: ["a"], keys: .given(#"{"keys": []}"#)),
                "it contains no key"
            ),
            (
                .openID(
                    "id", issuer: "https://a", audiences: ["a"], keys: .given(Self.issuer.keySet), algorithms: [.rs256]),
                "none of its keys is for an accepted algorithm"
            ),
            (.openID("id", issuer: "https://a", audiences: ["a"], algorithms: []), "it needs an algorithm"),
            (.openID("a.b", issuer: "https://a", audiences: ["a"]), "no provider can be called a.b"),
        ] as [(SignInProvider, String)] {
            var options = ParseService.Options()
            options.signIn = [provider]
            #expect {
                try options.check()
            } throws: {
                "\($0)".contains(message)
            }
        }
        var options = ParseService.Options()
        options.signIn = [
            .apple(clientIDs: ["a"]), .google(clientIDs: ["a"]), .openID("id", issuer: "https://a", audiences: ["a"]),
            .openID("other", issuer: "https://a", audiences: ["a"], keys: .given(Self.issuer.keySet)),
        ]
        #expect(throws: Never.self) { try options.check() }
    }
}

/// A source without a network.
struct NoDocuments: DocumentSource {
    func document(at url: String) async throws -> FetchedDocument {
        throw SignInError("\(url) can't be reached", isTemporary: true)
    }
}
#endif
