import Foundation

/// A mail's text with placeholders: `{app}` for the app's name, `{link}` for the link, `{name}` for the user's name,
/// and `{address}` for the recipient's address.
public struct MailTemplate: Hashable, Sendable {
    /// The subject of the mail.
    public var subject: String
    /// The text of the mail.
    public var text: String

    /// A template.
    public init(subject: String, text: String) {
        self.subject = subject
        self.text = text
    }

    /// The purpose of a mail.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// To set a new password.
        case passwordReset = "reset"
        /// To verify an address.
        case verification = "verify"
    }

    /// The values of the placeholders.
    struct Values {
        let app: String
        let link: String
        let name: String
        let address: String
    }

    func mail(_ values: Values) -> Mail {
        Mail(
            to: values.address, subject: Self.filled(subject, values, isLine: true),
            text: Self.filled(text, values, isLine: false))
    }

    /// Placeholders are filled only once: a placeholder in a user's name stays.
    private static func filled(_ template: String, _ values: Values, isLine: Bool) -> String {
        var result = ""
        var rest = Substring(template)
        while let start = rest.firstIndex(of: "{") {
            result += rest[..<start]
            rest = rest[start...]
            guard let end = rest.firstIndex(of: "}") else { break }
            switch rest[rest.index(after: start)..<end] {
            case "app": result += values.app
            case "link": result += values.link
            case "name": result += line(values.name)
            case "address": result += line(values.address)
            default: result += rest[...end]
            }
            rest = rest[rest.index(after: end)...]
        }
        result += rest
        return isLine ? line(result) : result
    }

    /// The text as one line.
    private static func line(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar in
                let isControl =
                    scalar.properties.generalCategory == .control || scalar.value == 0x2028
                    || scalar.value == 0x2029
                return isControl ? " " : Character(scalar)
            })
    }

    // MARK: Standard templates

    /// The templates in English and Simplified Chinese, by purpose and language. They don't contain the user's name,
    /// because a person who signs up with another person's address chooses it.
    public static let standard: [Purpose: [String: MailTemplate]] = [
        .passwordReset: [
            "en": MailTemplate(
                subject: "{app}: set a new password",
                text: """
                    Hello,

                    somebody, hopefully you, asked for a new password for your account at {app}. To set it, open this \
                    link in your browser:

                    {link}

                    The link works once, and not for long. If you didn't ask for it, do nothing: your password stays \
                    what it is.

                    """),
            "zh-Hans": MailTemplate(
                subject: "{app}：设置新密码",
                text: """
                    您好，

                    有人（希望是您本人）请求为您在 {app} 的账户设置新密码。请在浏览器中打开以下链接：

                    {link}

                    该链接只能使用一次，并且很快会失效。如果这不是您的请求，请忽略此邮件，您的密码不会改变。

                    """),
        ],
        .verification: [
            "en": MailTemplate(
                subject: "{app}: confirm your address",
                text: """
                    Hello,

                    somebody, hopefully you, gave this address for an account at {app}. If the account is yours, open \
                    this link in your browser and confirm it:

                    {link}

                    If it isn't, do nothing.

                    """),
            "zh-Hans": MailTemplate(
                subject: "{app}：确认您的邮箱地址",
                text: """
                    您好，

                    有人（希望是您本人）用此邮箱地址在 {app} 注册了账户。如果该账户是您的，请在浏览器中打开以下链接并确认：

                    {link}

                    如果不是，请忽略此邮件。

                    """),
        ],
    ]
}
