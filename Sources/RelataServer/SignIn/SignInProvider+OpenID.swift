#if Server
import RelataParse

extension SignInProvider {
    /// Sign in with Apple.
    ///
    /// A client sends `{"apple": {"id": "…", "token": "…"}}`: the user and the identity token of the authorization.
    ///
    /// - Parameters:
    ///   - clientIDs: Whom tokens may be meant for: the app's bundle identifier, and the identifiers of services on the web.
    ///   - keys: Where Apple's keys are, or what they are.
    ///   - documents: How the keys are fetched.
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
    /// A client sends `{"google": {"id": "…", "id_token": "…"}}`. Access tokens sign nobody in.
    ///
    /// - Parameters:
    ///   - clientIDs: Whom tokens may be meant for: the app's client ids.
    ///   - keys: Where Google's keys are, or what they are.
    ///   - documents: How the keys are fetched.
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

    /// Any provider of OpenID Connect, such as Keycloak, Microsoft's Entra or an own one.
    ///
    /// A client sends `{"NAME": {"id": "…", "id_token": "…"}}`, with `nonce` where the token holds one that is to be checked.
    /// `id` is what the token has as `sub`.
    ///
    /// - Parameters:
    ///   - name: The name that `authData` has it by.
    ///   - issuer: The provider, exactly as tokens name it in `iss`.
    ///   - audiences: Whom tokens may be meant for: the client ids of the app.
    ///   - keys: Where the provider's keys are, or what they are. By default the provider says so at
    ///     `ISSUER/.well-known/openid-configuration`.
    ///   - algorithms: How tokens may be signed.
    ///   - documents: How the keys are fetched.
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

/// How a token may be signed: only what takes a private key, which the provider alone has.
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

/// The keys that a provider signs its tokens with.
public struct OpenIDKeys: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        case given(String)
        case address(String)
        case discovered
    }

    let place: Place

    /// Those of a JSON Web Key Set, as text. Nothing is fetched.
    public static func given(_ json: String) -> OpenIDKeys { OpenIDKeys(place: .given(json)) }

    /// Those that are to be found at an address, which begins with `https://`.
    public static func at(_ url: String) -> OpenIDKeys { OpenIDKeys(place: .address(url)) }

    /// Those that are found where the provider says: at `ISSUER/.well-known/openid-configuration`.
    public static let discovered = OpenIDKeys(place: .discovered)
}
#endif
