#if CommandLineTool && Server
import ArgumentParser

/// The flags of `relata serve` for users and the mails to them.
struct AccountFlags: ParsableArguments {
    @Option(help: "The server that takes mails: mail.example.org, or with its port. Without one no mails are sent.")
    var smtpServer: String?
    @Option(help: "How the mail server is spoken to: starttls, tls, none. (default: starttls)") var smtpSecurity:
        String?
    @Option(help: "Who signs in to the mail server.") var smtpUser: String?
    @Option(help: "That user's password; better as RELATA_SMTP_PASSWORD.") var smtpPassword: String?
    @Option(help: "A PEM file with the certificates that vouch for the mail server.", completion: .file())
    var smtpCertificates: String?
    @Option(help: "Who mails are from: library@example.org, or \"Library <library@example.org>\".") var mailFrom:
        String?
    @Option(help: "What the app is called in mails. (default: the database's name)") var appName: String?
    @Flag(help: "Have new addresses confirmed by a mail.") var verifyEmails = false
    @Flag(help: "Let users sign in only once their address is confirmed.") var requireVerifiedEmail = false
    @Option(help: "How long the link works that sets a new password. (default: 1d)") var resetLifetime: String?
    @Option(help: "How long the link works that confirms an address. (default: 7d)") var verificationLifetime: String?
    @Option(help: "A regular expression that passwords must match.") var passwordPattern: String?
    @Option(help: "What people are told whose password isn't good.") var passwordAdvice: String?
    @Flag(help: "Refuse passwords that contain the user's name.") var passwordWithoutUsername = false
    @Option(help: "How long a password signs in, such as 90d. (default: always)") var passwordMaxAge: String?
    @Option(help: "How many of the last passwords a new one must differ from. (default: 0)") var passwordHistory:
        String?
    @Option(help: "How much work a hash is: 2 to that power, 10 to 20. (default: 15)") var passwordCost: String?
    @Option(help: "After how many wrong passwords an account is closed. (default: never)") var lockoutThreshold: String?
    @Option(help: "How long an account is closed. (default: 15m)") var lockoutDuration: String?
    @Flag(help: "Let a new password, set by the link of a mail, open an account.") var lockoutEndsWithReset = false
    @Option(help: "How long a session lasts. (default: 365d)") var sessionLifetime: String?
    @Flag(help: "Let a session that is used last as long as a new one.") var extendSessions = false

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
