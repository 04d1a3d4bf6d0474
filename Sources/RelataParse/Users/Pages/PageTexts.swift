/// The texts of the pages, in one language.
struct PageTexts: Sendable {
    let language: String
    let resetTitle: String
    /// Takes the user's name.
    let resetFor: @Sendable (String) -> String
    let password: String
    let again: String
    let setPassword: String
    let areDifferent: String
    let isEmpty: String
    let isTooLong: String
    /// For a password that the server refuses.
    let isNotGood: String
    let containsName: String
    let wasUsed: @Sendable (Int) -> String
    let isSet: String
    let verifyTitle: String
    /// Takes the address and the user's name.
    let verifyFor: @Sendable (String, String) -> String
    let verifyOnlyIf: String
    let verify: String
    let isVerified: String
    let invalidTitle: String
    let isInvalid: String
    let failedTitle: String
    let hasFailed: String

    /// The texts in all languages.
    static let all = [english, chinese]

    /// The texts for a header field `Accept-Language`.
    static func texts(for accepted: String?) -> PageTexts {
        let language = Languages.best(for: accepted, among: all.map(\.language))
        return all.first { $0.language == language } ?? english
    }

    private static let english = PageTexts(
        language: "en", resetTitle: "Set a new password", resetFor: { "For the account “\($0)”." },
        password: "New password", again: "The same again", setPassword: "Set the password",
        areDifferent: "The two passwords are different.", isEmpty: "Write a password.",
        isTooLong: "The password is too long.", isNotGood: "This password isn’t good enough: choose another one.",
        containsName: "The password must not contain the account’s name.",
        wasUsed: { "Choose a password that differs from the last \($0)." },
        isSet: "The password is set. You can sign in with it now. All devices were signed out.",
        verifyTitle: "Confirm your address",
        verifyFor: { "Is \($0) your address, and did you create the account “\($1)”?" },
        verifyOnlyIf: "If it wasn’t you, close this page.", verify: "Yes, confirm it",
        isVerified: "Thank you: your address is confirmed.", invalidTitle: "This link doesn’t work",
        isInvalid: "It was used already, is too old, or a newer mail was sent. Ask for another one in the app.",
        failedTitle: "That didn’t work", hasFailed: "Nothing was changed. Please try again in a moment.")

    private static let chinese = PageTexts(
        language: "zh-Hans", resetTitle: "设置新密码", resetFor: { "账户：“\($0)”。" }, password: "新密码",
        again: "再次输入新密码", setPassword: "设置密码", areDifferent: "两次输入的密码不一致。", isEmpty: "请输入密码。",
        isTooLong: "密码太长。", isNotGood: "该密码不符合要求，请换一个。", containsName: "密码不能包含账户名。",
        wasUsed: { "请选择一个与最近 \($0) 个密码不同的密码。" }, isSet: "密码已设置。现在可以用新密码登录。所有设备均已退出登录。",
        verifyTitle: "确认您的邮箱地址", verifyFor: { "\($0) 是您的邮箱地址吗？账户“\($1)”是您创建的吗？" },
        verifyOnlyIf: "如果不是您本人，请关闭此页面。", verify: "是的，确认", isVerified: "谢谢，您的邮箱地址已确认。",
        invalidTitle: "此链接无效", isInvalid: "该链接已被使用、已过期，或已发送了更新的邮件。请在应用中重新申请。",
        failedTitle: "操作未成功", hasFailed: "没有任何更改。请稍后再试。")
}
