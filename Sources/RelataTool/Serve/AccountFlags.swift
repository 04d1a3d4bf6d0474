#if CommandLineTool && Server
import ArgumentParser

/// The flags of `relata serve` for users and the mails to them.
struct AccountFlags: ParsableArguments {
    @Option(help: "The mail server, such as mail.example.org or mail.example.org:587. Without one, no mails are sent.")
    var smtpServer: String?
    @Option(help: "The security of the connection to the mail server: starttls, tls, none. (default: starttls)")
    var smtpSecurity: String?
    @Option(help: "The user name for the mail server.") var smtpUser: String?
    @Option(help: "The password for the mail server; better as RELATA_SMTP_PASSWORD.") var smtpPassword: String?
    @Option(help: "A PEM file with the trusted certificates for the mail server.", completion: .file())
    var smtpCertificates: String?
    @Option(help: "The sender of mails: library@example.org, or \"Library <library@example.org>\".") var mailFrom:
        String?
    @Option(help: "The app's name in mails. (default: the database's name)") var appName: String?
    @Flag(help: "Verify new addresses by a mail.") var verifyEmails = false
    @Flag(help: "Let users sign in only after their address is verified.") var requireVerifiedEmail = false
    @Option(help: "How long the link for a new password is valid. (default: 1d)") var resetLifetime: String?
    @Option(help: "How long the link that verifies an address is valid. (default: 7d)") var verificationLifetime:
        String?
    @Option(help: "A regular expression that passwords must match.") var passwordPattern: String?
    @Option(help: "The message for users whose new password is refused.") var passwordAdvice: String?
    @Flag(help: "Refuse passwords that contain the user's name.") var passwordWithoutUsername = false
    @Option(help: "How long a password is valid, such as 90d. (default: for ever)") var passwordMaxAge: String?
    @Option(help: "How many earlier passwords a new one must differ from. (default: 0)") var passwordHistory: String?
    @Option(help: "The cost of a password hash, as a power of 2: 10 to 20. (default: 15)") var passwordCost: String?
    @Option(help: "The number of wrong passwords that lock an account. (default: none)") var lockoutThreshold: String?
    @Option(help: "How long an account stays locked. (default: 15m)") var lockoutDuration: String?
    @Flag(help: "Unlock an account when a mail's link sets a new password.") var lockoutEndsWithReset = false
    @Option(help: "How long a session lasts. (default: 365d)") var sessionLifetime: String?
    @Flag(help: "Extend a session to its full lifetime when it is used.") var extendSessions = false

    var given: [ServeSetting: String] {
        let options: [ServeSetting: String?] = [
            .smtpServer: smtpServer, .smtpSecurity: smtpSecurity, .smtpUser: smtpUser, .smtpPassword: smtpPassword,
            .smtpCertificates: smtpCertificates, .mailFrom: mailFrom, .appName: appName,
            .resetLifetime: resetLifetime, .verificationLifetime: verificationLifetime,
            .passwordPattern: passwordPattern, .passwordAdvice: passwordAdvice, .passwordMaxAge: passwordMaxAge,
            .passwordHistory: passwordHistory, .passwordCost: passwordCost, .lockoutThreshold: lockoutThreshold,
            .lockoutDuration: lockoutDuration, .sessionLifetime: sessionLifetime,
        ]
        let switches: [ServeSetting: Bool] = [
            .verifyEmails: verifyEmails, .requireVerifiedEmail: requireVerifiedEmail,
            .passwordWithoutUsername: passwordWithoutUsername, .lockoutEndsWithReset: lockoutEndsWithReset,
            .extendSessions: extendSessions,
        ]
        return options.compactMapValues { $0 }.merging(switches.filter(\.value).mapValues { _ in "true" }) { $1 }
    }
}
#endif
