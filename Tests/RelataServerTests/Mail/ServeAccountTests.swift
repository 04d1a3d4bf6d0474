#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The settings of `relata serve` for users and mails.
struct ServeAccountTests {
    private static let mail = ["--smtp-server", "localhost", "--mail-from", "a@b.example"]

    @Test(arguments: [
        (["--verify-emails"], "--verify-emails needs --smtp-server: without a mail server, no mails are sent"),
        (["--smtp-server", "localhost"], "--smtp-server needs --mail-from and --public-url"),
        (ServeAccountTests.mail + ["--public-url", "example.org"], "mail.publicURL is example.org"),
        (
            ServeAccountTests.mail + ["--public-url", "https://x/", "--smtp-user", "a"],
            "--smtp-user and --smtp-password belong together"
        ),
        (
            mail + ["--public-url", "https://x/", "--smtp-security", "ssl"],
            "--smtp-security must be one of starttls, tls, none"
        ),
        (
            ServeAccountTests.mail + ["--public-url", "https://x/", "--require-verified-email"],
            "mail.needsVerifiedAddress"
        ),
        (["--lockout-duration", "5m"], "need --lockout-threshold"),
        (["--lockout-threshold", "0"], "lockout.threshold is 0"), (["--password-cost", "9"], "must be 10 to 20"),
        (["--password-pattern", "["], "passwords.pattern"), (["--password-history", "21"], "passwords.history is 21"),
        (["--session-lifetime", "1y"], "--session-lifetime must be a time such as 3600, 90m, 12h or 30d, not 1y"),
        (["--session-lifetime", "0"], "sessionLifetime is 0"),
    ])
    func invalidSettingsAreRefused(_ arguments: [String], _ message: String) throws {
        let result = try ServeCommandTests().run([":memory:", "--port", "0"] + arguments)
        #expect(result.text.contains(message), "\(result.text)")
        #expect(result.status != 0)
    }

    @Test(.enabled(if: MailServer.isThere, "the mail server aiosmtpd can't be had: Tests/Mail/prepare says why"))
    func theSettingsAreApplied() throws {
        let folder = try ServerFolder()
        let mails = try MailServer(["login": ["library", "secret"]])
        let server = ServedFile(
            tool: try ServedTool.executable, path: folder.path("library.sqlite"),
            options: [
                "--smtp-server", "127.0.0.1:\(mails.port)", "--smtp-security", "none", "--smtp-user", "library",
                "--smtp-password", "secret", "--mail-from", "Library <library@example.org>", "--app-name", "Library",
                "--public-url", "https://books.example.org/parse", "--verify-emails", "--require-verified-email",
                "--password-pattern", "^.{6,}$", "--password-cost", "10", "--lockout-threshold", "1",
                "--lockout-duration", "10m", "--app-id", "app", "--client-key", "",
            ])
        try server.start()
        func send(_ path: String, _ body: String) throws -> ServerReplyText {
            try ServerConnection(port: server.port).request(
                "POST", "/parse\(path)", headers: ["X-Parse-Application-Id": "app"], body: Array(body.utf8))
        }
        let short = try send("/users", #"{"username": "mei", "password": "short"}"#)
        #expect(short.code == 142, "\(short.text)")
        let person = #"{"username": "mei", "password": "secret of mei", "email": "mei@example.org"}"#
        let signUp = try send("/users", person)
        #expect(signUp.status == 201 && !signUp.text.contains("sessionToken"), "\(signUp.text)")
        let taken = try mails.next()
        #expect(taken.user == "library" && taken.field("Subject") == "Library: confirm your address")
        #expect(taken.text.contains("https://books.example.org/parse/apps/app/verify_email?token="), "\(taken.text)")
        #expect(try send("/login", person).code == 205)
        #expect(try send("/login", #"{"username": "mei", "password": "wrong"}"#).code == 101)
        #expect(try send("/login", person).text.contains("Please try again after 10 minute(s)"))
        #expect(server.stop() == 0)
    }
}
#endif
