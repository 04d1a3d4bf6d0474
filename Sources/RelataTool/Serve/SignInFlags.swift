#if CommandLineTool && Server
import ArgumentParser

/// The flags of `relata serve` for signing in through other services.
struct SignInFlags: ParsableArguments {
    @Option(
        name: .customLong("apple-client-ids"),
        help: "Whom Apple's tokens may be meant for: the app's bundle id and others, between commas.")
    var appleClientIDs: String?
    @Option(
        name: .customLong("google-client-ids"),
        help: "Whom Google's tokens may be meant for: the app's client ids, between commas.")
    var googleClientIDs: String?
    @Option(help: "Another provider of OpenID Connect, exactly as its tokens name it (iss).") var openidIssuer: String?
    @Option(
        name: .customLong("openid-client-ids"),
        help: "Whom that provider's tokens may be meant for: the app's client ids, between commas.")
    var openidClientIDs: String?
    @Option(help: "The name that authData has that provider by. (default: openid)") var openidName: String?
    @Option(
        help: "That provider's keys: their address, or a file. (default: where the provider says)", completion: .file())
    var openidKeys: String?
    @Option(help: "How that provider's tokens may be signed, between commas. (default: RS256,ES256)")
    var openidAlgorithms: String?
    @Option(help: "A PEM file with the certificates that vouch for that provider.", completion: .file())
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
