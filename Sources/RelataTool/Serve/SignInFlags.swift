#if CommandLineTool && Server
import ArgumentParser

/// The flags of `relata serve` for signing in through other services.
struct SignInFlags: ParsableArguments {
    @Option(
        name: .customLong("apple-client-ids"),
        help: "Accepted audiences of Apple's tokens, such as the app's bundle id, separated by commas.")
    var appleClientIDs: String?
    @Option(
        name: .customLong("google-client-ids"),
        help: "Accepted audiences of Google's tokens: the app's client ids, separated by commas.")
    var googleClientIDs: String?
    @Option(help: "The issuer (iss) of another OpenID Connect provider, exactly as in its tokens.") var openidIssuer:
        String?
    @Option(
        name: .customLong("openid-client-ids"),
        help: "Accepted audiences of that provider's tokens: the app's client ids, separated by commas.")
    var openidClientIDs: String?
    @Option(help: "That provider's name in authData. (default: openid)") var openidName: String?
    @Option(
        help: "The URL or file of that provider's keys. (default: as the provider publishes)", completion: .file())
    var openidKeys: String?
    @Option(help: "Accepted algorithms of that provider's tokens, separated by commas. (default: RS256,ES256)")
    var openidAlgorithms: String?
    @Option(help: "A PEM file with the trusted certificates for that provider.", completion: .file())
    var openidCertificates: String?

    var given: [ServeSetting: String] {
        let options: [ServeSetting: String?] = [
            .appleClientIDs: appleClientIDs, .googleClientIDs: googleClientIDs, .openIDIssuer: openidIssuer,
            .openIDClientIDs: openidClientIDs, .openIDName: openidName, .openIDKeys: openidKeys,
            .openIDAlgorithms: openidAlgorithms, .openIDCertificates: openidCertificates,
        ]
        return options.compactMapValues { $0 }
    }
}
#endif
