#if Server
import Foundation
import RelataCore
import Testing

@testable import RelataParse
@testable import RelataServer

/// Mails to users, and the pages of their links, on a running server.
struct AccountMailTests {
    /// Runs a server that can be asked for mails.
    private func withServer(
        _ sender: any MailSender, _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        var options = ParseService.Options()
        options.secrets = ScryptSecrets(cost: 10)
        options.mail = MailOptions(sender, appName: "Library", publicURL: "https://books.example.org/parse")
        options.mail?.interval = 0
        let server = try RelataServer(
            try ParseStore.open(nil), keys: ServerKeys(applicationID: "app"), options: options,
            configuration: configuration)
        try await TestServer.running(server, body)
    }

    private static func signUp(_ server: TestServer) async throws {
        let person = #"{"username": "mei", "password": "secret", "email": "mei@example.org"}"#
        let reply = try await server.request(
            "POST", "/parse/users", headers: ["X-Parse-Application-Id": "app"], body: Array(person.utf8))
        #expect(reply.status == 201, "\(reply.text)")
    }

    /// Requests a link like an attacker who wants the link to lead to another site.
    private static func requestReset(_ server: TestServer) async throws {
        let reply = try await server.request(
            "POST", "/parse/requestPasswordReset?redirect=https://evil.example",
            headers: [
                "X-Parse-Application-Id": "app", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http",
                "X-Forwarded-Prefix": "/evil", "Forwarded": "host=evil.example", "X-Original-Host": "evil.example",
                "Origin": "https://evil.example", "Referer": "https://evil.example/",
            ], body: Array(#"{"email": "mei@example.org", "publicServerURL": "https://evil.example"}"#.utf8))
        #expect(reply.status == 200 && reply.text == "{}", "\(reply.text)")
    }

    @Test func aLinkAlwaysLeadsToThePublicAddress() async throws {
        let (mails, continuation) = AsyncStream.makeStream(of: Mail.self)
        try await withServer(MailClosure { continuation.yield($0) }) { server in
            try await Self.signUp(server)
            try await Self.requestReset(server)
            let mail = try #require(await mails.first { _ in true })
            #expect(mail.text.contains("https://books.example.org/parse/apps/app/request_password_reset?token="))
            #expect(!mail.text.contains("evil") && !mail.subject.contains("evil"), "\(mail.text)")
        }
    }

    @Test func theHeaderFieldsProtectAPage() async throws {
        let (mails, continuation) = AsyncStream.makeStream(of: Mail.self)
        try await withServer(MailClosure { continuation.yield($0) }) { server in
            try await Self.signUp(server)
            try await Self.requestReset(server)
            let text = try #require(await mails.first { _ in true }).text
            let token = try #require(text.split(separator: "?token=").last?.prefix { $0.isHexDigit })
            let path = "/parse/apps/app/request_password_reset"
            let form = try await server.request(
                "GET", "\(path)?token=\(token)&redirect=https://evil.example", headers: ["Accept-Language": "zh-CN"])
            #expect(form.status == 200 && form.text.contains("设置新密码"), "\(form.text)")
            let done = try await server.request(
                "POST", "\(path)?success=https://evil.example",
                headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Array("token=\(token)&password=new+secret&again=new%20secret&redirect=//evil.example".utf8))
            #expect(done.status == 200 && done.text.contains("The password is set."), "\(done.text)")
            for page in [form, done] {
                #expect(page.headers["content-type"] == "text/html; charset=utf-8")
                #expect(
                    page.headers["content-security-policy"]?.hasPrefix("default-src 'none'; style-src 'sha256-") == true
                )
                #expect(page.headers["referrer-policy"] == "no-referrer" && page.headers["cache-control"] == "no-store")
                #expect(page.headers["location"] == nil && !page.text.contains("evil"), "\(page.text)")
            }
            let login = try await server.request(
                "POST", "/parse/login", headers: ["X-Parse-Application-Id": "app"],
                body: Array(#"{"username": "mei", "password": "new secret"}"#.utf8))
            #expect(login.status == 200, "\(login.text)")
            let large = try await server.request(
                "POST", path, headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Array(repeating: UInt8(ascii: "a"), count: 20_000))
            #expect(large.status == 413, "\(large.text)")
        }
    }

    @Test func theHeaderFieldAllowsTheStyleOfThePages() {
        let digest = Data(ScryptSecrets(cost: 10).digest(of: AccountPage.style)).base64EncodedString()
        #expect(AccountPage.styleHash == "sha256-\(digest)")
    }

    @Test(.enabled(if: MailServer.isThere, "the mail server aiosmtpd can't be had: Tests/Mail/prepare says why"))
    func aMailServerAcceptsTheMail() async throws {
        let mails = try MailServer()
        let sender = SMTPSender("127.0.0.1", port: mails.port, security: .none, from: "library@example.org")
        let (sent, continuation) = AsyncStream.makeStream(of: Void.self)
        let watched = MailClosure { mail in
            defer { continuation.yield() }
            try await sender.send(mail)
        }
        try await withServer(watched) { server in
            try await Self.signUp(server)
            try await Self.requestReset(server)
            _ = await sent.first { _ in true }
        }
        let taken = try mails.next()
        #expect(taken.to == ["mei@example.org"] && taken.field("Subject") == "Library: set a new password")
        #expect(taken.text.contains("https://books.example.org/parse/apps/app/request_password_reset?token="))
    }

    @Test func invalidSettingsPreventTheStart() throws {
        for (sender, url) in [
            (MailClosure { _ in } as any MailSender, "books.example.org"),
            (SMTPSender("mail.example.org", from: "nobody"), "https://books.example.org/parse"),
        ] {
            var options = ParseService.Options()
            options.mail = MailOptions(sender, appName: "Library", publicURL: url)
            #expect(throws: RelataError.self) {
                try RelataServer(
                    try ParseStore.open(nil), keys: ServerKeys(applicationID: "app"), options: options)
            }
        }
    }
}
#endif
