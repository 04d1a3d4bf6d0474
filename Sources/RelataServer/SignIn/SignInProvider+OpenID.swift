#if Server
import RelataParse

extension SignInProvider {
    /// Sign in with Apple.
    ///
    /// A client sends `{"apple": {"id": "…", "token": "…"}}`: the authorization's user id and identity token.
    ///
    /// - Parameters:
    ///   - clientIDs: The accepted audiences of tokens: the app's bundle identifier, and those of web services.
    ///   - keys: Apple's keys, or their address.
    ///   - documents: Fetches the keys.
    public static func apple(
        clientIDs: [String], keys: OpenIDKeys = .at("https://appleid.apple.com/auth/keys"),
        documents: any DocumentSource = HTTPSDocuments()
    ) -> SignInProvider {
        openID(
            "apple", issuers: ["https://appleid.apple.com"], audiences: clientIDs, keys: keys, algorithms: [.rs256],
            documents: documents)
    }

    /// Sign in with Google.
    ///
    /// A client sends `{"google": {"id": "…", "id_token": "…"}}`. Access tokens aren't accepted.
    ///
    /// - Parameters:
    ///   - clientIDs: The accepted audiences of tokens: the app's client ids.
    ///   - keys: Google's keys, or their address.
    ///   - documents: Fetches the keys.
    public static func google(
        clientIDs: [String], keys: OpenIDKeys = .at("https://www.googleapis.com/oauth2/v3/certs"),
        documents: any DocumentSource = HTTPSDocuments()
    ) -> SignInProvider {
        openID(
            "google", issuers: ["https://accounts.google.com", "accounts.google.com"], audiences: clientIDs, keys: keys,
            algorithms: [.rs256],
            // On Android, Google makes the server's tokens for the client id of the app.
            refusesOtherClients: false, documents: documents)
    }

    /// Any provider of OpenID Connect, such as Keycloak, Microsoft Entra or your own.
    ///
    /// A client sends `{"NAME": {"id": "…", "id_token": "…"}}`, with `nonce` if the token's nonce must be checked. `id`
    /// is the token's `sub`.
    ///
    /// - Parameters:
    ///   - name: The provider's name in `authData`.
    ///   - issuer: The provider, exactly as in the tokens' `iss`.
    ///   - audiences: The accepted audiences of tokens: the app's client ids.
    ///   - keys: The provider's keys, or their address. By default, the address is read from
    ///     `ISSUER/.well-known/openid-configuration`.
    ///   - algorithms: The accepted signature algorithms.
    ///   - documents: Fetches the keys.
    public static func openID(
        _ name: String, issuer: String, audiences: [String], keys: OpenIDKeys = .discovered,
        algorithms: Set<OpenIDAlgorithm> = [.rs256, .es256], documents: any DocumentSource = HTTPSDocuments()
    ) -> SignInProvider {
        openID(
            name, issuers: [issuer], audiences: audiences, keys: keys, algorithms: algorithms, documents: documents)
    }

    private static func openID(
        _ name: String, issuers: [String], audiences: [String], keys: OpenIDKeys, algorithms: Set<OpenIDAlgorithm>,
        refusesOtherClients: Bool = true, documents: any DocumentSource
    ) -> SignInProvider {
        let verifier = OpenIDVerifier(
            issuers: issuers, audiences: audiences, algorithms: algorithms,
            keys: OpenIDKeyStore(keys, issuer: issuers.first ?? "", documents: documents),
            refusesOtherClients: refusesOtherClients)
        return SignInProvider(name, problem: { verifier.problem ?? (documents as? HTTPSDocuments)?.problem }) {
            authData in
            try await verifier.subject(of: authData)
        }
    }
}

/// The algorithms of a token's signature. All use a private key, which only the provider has.
public enum OpenIDAlgorithm: String, Hashable, Sendable, CaseIterable {
    /// RSA with SHA-256.
    case rs256 = "RS256"
    /// RSA with SHA-384.
    case rs384 = "RS384"
    /// RSA with SHA-512.
    case rs512 = "RS512"
    /// RSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// RSA-PSS with SHA-384.
    case ps384 = "PS384"
    /// RSA-PSS with SHA-512.
    case ps512 = "PS512"
    /// ECDSA on P-256.
    case es256 = "ES256"
    /// ECDSA on P-384.
    case es384 = "ES384"
    /// ECDSA on P-521.
    case es512 = "ES512"
    /// Ed25519.
    case edDSA = "EdDSA"
}

/// The keys with which a provider signs its tokens.
public struct OpenIDKeys: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        case given(String)
        case address(String)
        case discovered
    }

    let place: Place

    /// The keys in the text of a JSON Web Key Set. Nothing is fetched.
    public static func given(_ json: String) -> OpenIDKeys { OpenIDKeys(place: .given(json)) }

    /// The keys at an address, which begins with `https://`.
    public static func at(_ url: String) -> OpenIDKeys { OpenIDKeys(place: .address(url)) }

    /// The keys whose address is in the provider's `ISSUER/.well-known/openid-configuration`.
    public static let discovered = OpenIDKeys(place: .discovered)
}
#endif
