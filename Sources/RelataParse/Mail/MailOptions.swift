import Foundation
import RelataCore

/// The options of mails to users: those that set a new password, and those that verify an address.
///
/// ```swift
/// var options = ParseService.Options()
/// options.mail = MailOptions(sender, appName: "Library", publicURL: "https://books.example.org/parse")
/// options.mail?.verifiesAddresses = true
/// ```
public struct MailOptions: Sendable {
    /// Sends the mails.
    public var sender: any MailSender
    /// The app's name.
    public var appName: String
    /// The address of the protocol as browsers reach it: `https://books.example.org/parse`. Links are built from it
    /// alone, never from a request.
    public var publicURL: String
    /// The texts, by purpose and language: an app may replace them, and add languages. Pages are in English and
    /// Simplified Chinese.
    public var templates = MailTemplate.standard
    /// The language for users who accept none of the supported ones.
    public var language = "en"
    /// Whether a new user, or a user with a new address, gets a mail to verify the address.
    public var verifiesAddresses = false
    /// Whether users sign in by a password only once their address is verified.
    public var needsVerifiedAddress = false
    /// The number of seconds that the link to set a new password works.
    public var resetLifetime = 86_400.0
    /// The number of seconds that the link to verify an address works.
    public var verificationLifetime = 7 * 86_400.0
    /// The least number of seconds between two mails to a user for the same purpose.
    public var interval = 60.0
    /// The number of mails sent at the same time. Others wait.
    public var width = 4
    /// The seconds to wait before each new attempt to send a mail.
    public var retries = [5.0, 60.0]
    /// Called with the errors of mails; without it, the server logs them.
    public var report: (@Sendable (any Error) -> Void)?

    /// Mails by a sender.
    public init(_ sender: any MailSender, appName: String, publicURL: String) {
        self.sender = sender
        self.appName = appName
        self.publicURL = publicURL
    }

    /// Checks the options.
    ///
    /// - Throws: `RelataError` that names the invalid option.
    public func check() throws(RelataError) {
        let parts = publicURL.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let isPlain = publicURL.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#\"<>\\^`{|}".utf8.contains($0) }
        guard parts.count == 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty,
            parts[2].first.map({ $0 != "/" }) == true, isPlain
        else {
            throw .invalidUse(
                "mail.publicURL is \(publicURL): it must be an address such as https://example.com/parse, without ? and #"
            )
        }
        guard !appName.isEmpty else { throw .invalidUse("mail.appName is empty: mails contain the app's name") }
        let times = [("resetLifetime", resetLifetime), ("verificationLifetime", verificationLifetime)]
        for (name, seconds) in times where !(seconds > 0 && seconds <= 10 * 365 * 86_400) {
            throw .invalidUse("mail.\(name) is \(seconds): it must be above 0, and at most ten years")
        }
        guard interval >= 0, interval <= 86_400 else {
            throw .invalidUse("mail.interval is \(interval): it must be at least 0, and at most a day")
        }
        guard (1...64).contains(width) else { throw .invalidUse("mail.width is \(width): it must be 1 to 64") }
        guard retries.count <= 10, retries.allSatisfy({ $0 >= 0 && $0 <= 3600 }) else {
            throw .invalidUse("mail.retries: give at most ten, of 0 to 3600 seconds each")
        }
        guard !needsVerifiedAddress || verifiesAddresses else {
            throw .invalidUse("mail.needsVerifiedAddress needs verifiesAddresses: nobody could sign in")
        }
        for purpose in MailTemplate.Purpose.allCases {
            guard let texts = templates[purpose], texts[language] != nil else {
                throw .invalidUse("mail.templates has no text for \(purpose.rawValue) in the language \(language)")
            }
            for (language, template) in texts where !template.text.contains("{link}") {
                throw .invalidUse("mail.templates: the text for \(purpose.rawValue) in \(language) has no {link}")
            }
        }
    }

    /// The mail for a purpose, in the language of the request.
    func mail(_ purpose: MailTemplate.Purpose, _ values: MailTemplate.Values, accepted: String?) -> Mail? {
        guard let texts = templates[purpose] else { return nil }
        let others = texts.keys.filter { $0 != language }.sorted()
        return texts[Languages.best(for: accepted, among: [language] + others)]?.mail(values)
    }

    /// The address of a page.
    func link(_ page: String, application: String, token: String) -> String {
        let base = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        let plain = application.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "\(base)/apps/\(plain)/\(page)?token=\(token)"
    }
}
