#if Server
import RelataParse
import RelataServer

/// The options of a server that sends mail to its users.
func optionsWithMail(password: String) -> ParseService.Options {
    var server = SMTPSender("smtp.example.org", from: "Library <library@example.org>")
    server.login = .init(user: "library", password: password)
    var options = ParseService.Options()
    options.mail = MailOptions(server, appName: "Library", publicURL: "https://books.example.org/parse")
    options.mail?.verifiesAddresses = true
    options.passwords.pattern = "^.{12,}$"
    options.passwords.history = 5
    options.lockout = LockoutOptions(threshold: 5, duration: 900)
    return options
}
#endif
