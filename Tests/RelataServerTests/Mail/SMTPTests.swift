#if Server
import Foundation
import RelataCore
import RelataParse
import Testing

@testable import RelataServer

/// Mails over SMTP, accepted by an independent server.
@Suite(.enabled(if: MailServer.isThere, "the mail server aiosmtpd can't be had: Tests/Mail/prepare says why"))
struct SMTPTests {
    private static let mail = Mail(
        to: "mei@example.org", subject: "Hello", text: "One line.\n.\n..two dots, and a From line:\nFrom here\n")

    private func sender(
        _ server: MailServer, _ security: SMTPSender.Security = .none, from: String = "Library <library@example.org>"
    ) -> SMTPSender {
        var sender = SMTPSender("127.0.0.1", port: server.port, security: security, from: from)
        sender.timeout = .seconds(10)
        return sender
    }

    /// The error for a mail that isn't accepted.
    private func failure(_ sender: SMTPSender, _ mail: Mail = mail) async -> MailError? {
        do {
            try await sender.send(mail)
            return nil
        } catch {
            return error as? MailError
        }
    }

    @Test func aMailArrivesAsItWasWritten() async throws {
        let server = try MailServer()
        try await sender(server).send(Self.mail)
        let taken = try server.next()
        #expect(taken.from == "library@example.org" && taken.to == ["mei@example.org"] && !taken.isEncrypted)
        #expect(taken.field("From") == "Library <library@example.org>" && taken.field("To") == "<mei@example.org>")
        #expect(taken.field("Subject") == "Hello" && taken.field("Auto-Submitted") == "auto-generated")
        #expect(
            taken.field("Date")?.hasSuffix("+0000") == true
                && taken.field("Message-ID")?.contains("@example.org>") == true)
        #expect(taken.text == Self.mail.text + "\n" || taken.text == Self.mail.text, "\(taken.data)")
    }

    @Test func chineseArrivesAsItWasWritten() async throws {
        let server = try MailServer()
        let text = "您好，\n\n请打开链接：https://example.org/?token=1\n"
        let subject = String(repeating: "图书馆：设置新密码。", count: 8)
        try await sender(server, from: "图书馆 <library@example.org>").send(
            Mail(to: "mei@example.org", subject: subject, text: text))
        let taken = try server.next()
        #expect(taken.text == text, "\(taken.data)")
        let words = try #require(taken.field("Subject")).split(separator: " ")
        #expect(
            words.count > 1 && words.allSatisfy { $0.count <= 75 && $0.hasPrefix("=?UTF-8?B?") && $0.hasSuffix("?=") })
        let decoded = words.compactMap { Data(base64Encoded: String($0.dropFirst(10).dropLast(2))) }
        #expect(decoded.map { String(decoding: $0, as: UTF8.self) }.joined() == subject)
        #expect(taken.data.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func textsCannotAddHeaderFields() async throws {
        let server = try MailServer()
        try await sender(server).send(
            Mail(to: "mei@example.org", subject: "Hi\r\nBcc: sam@example.org\r\n\r\nx", text: "text"))
        let taken = try server.next()
        #expect(taken.field("Subject") == "Hi  Bcc: sam@example.org    x" && taken.field("Bcc") == nil, "\(taken.data)")
        for address in [
            "mei@example.org\r\nBcc: sam@example.org", "mei@example.org>\r\nRCPT TO:<sam@example.org",
            "mei@example.org, sam@example.org", "mei@example.org> SIZE=1", "mei", "@", "mei@", "a b@example.org",
            "\"mei\"@example.org", "mei@exa\u{2028}mple.org",
        ] {
            let error = await failure(sender(server), Mail(to: address, subject: "x", text: "x"))
            #expect(error?.description.contains("mail can't be sent to this address") == true, "\(address)")
        }
    }

    @Test(arguments: ["PLAIN", "LOGIN"]) func aSenderSignsInToTheMailServer(mechanism: String) async throws {
        let other = mechanism == "PLAIN" ? "LOGIN" : "PLAIN"
        let server = try MailServer(["login": ["library", "secret"], "excluded": [.string(other)]])
        var sender = sender(server)
        sender.login = .init(user: "library", password: "secret")
        try await sender.send(Self.mail)
        #expect(try server.next().user == "library")
        sender.login?.password = "wrong"
        let error = await failure(sender)
        #expect(error?.description.contains("refused the sign-in of library with: 535") == true, "\(error as Any)")
        sender.login = nil
        #expect(await failure(sender)?.description.contains("refused the sender with: 530") == true)
    }

    @Test func aRefusalContainsTheServersReply() async throws {
        let server = try MailServer(["refused": ["sam@example.org"]])
        var error = await failure(sender(server), Mail(to: "sam@example.org", subject: "x", text: "x"))
        #expect(
            error?.description
                == "mail server 127.0.0.1:\(server.port): it refused the recipient with: 550 no such user")
        #expect(error?.isTemporary == false)
        let full = try MailServer(["full": true])
        error = await failure(sender(full))
        #expect(error?.isTemporary == true && error?.description.contains("452") == true, "\(error as Any)")
    }

    @Test func anAddressWithUnicodeNeedsAServerThatSupportsIt() async throws {
        let mail = Mail(to: "梅@example.org", subject: "x", text: "x")
        let server = try MailServer(["unicode": true])
        try await sender(server).send(mail)
        #expect(try server.next().to == ["梅@example.org"])
        let plain = try MailServer()
        #expect(await failure(sender(plain), mail)?.description.contains("SMTPUTF8") == true)
    }

    @Test func missingAndSilentServersAreReported() async throws {
        var gone: MailServer? = try MailServer()
        let port = try #require(gone?.port)
        gone = nil
        var error = await failure(SMTPSender("127.0.0.1", port: port, security: .none, from: "a@example.org"))
        #expect(
            error?.description.contains("mail server 127.0.0.1:\(port) can't be reached") == true, "\(error as Any)")
        #expect(error?.isTemporary == true)
        // A server that waits for the client to speak first, as in HTTP.
        error = try await TestServer.running { server in
            var sender = SMTPSender("127.0.0.1", port: server.port, security: .none, from: "a@example.org")
            sender.timeout = .milliseconds(200)
            return await failure(sender)
        }
        #expect(error?.description.contains("took longer than 200 ms") == true, "\(error as Any)")
    }

    @Test func invalidSettingsAreNamed() {
        var plain = SMTPSender("mail.example.org", security: .none, from: "library@example.org")
        plain.login = .init(user: "library", password: "secret")
        var unknown = SMTPSender("mail.example.org", from: "library@example.org")
        unknown.certificates = "/nowhere.pem"
        for (sender, text) in [
            (plain, "with TLS only"), (unknown, "/nowhere.pem"),
            (SMTPSender("mail.example.org", from: "nobody"), "the sender of mails is nobody"),
            (SMTPSender("mail.example.org", port: 0, from: "a@example.org"), "port is 0"),
        ] {
            let error = #expect(throws: RelataError.self) { try sender.check() }
            #expect(error?.description.contains(text) == true, "\(error as Any)")
        }
        #expect(SMTPSender("x", security: .tls, from: "").port == 465 && SMTPSender("x", from: "").port == 587)
    }
}

/// Mails over SMTP with TLS.
@Suite(
    .enabled(if: MailServer.isThere, "the mail server aiosmtpd can't be had: Tests/Mail/prepare says why"),
    .enabled(if: OpenSSL.isThere, "the command openssl isn't there"))
struct SMTPSecurityTests {
    private static let mail = Mail(to: "mei@example.org", subject: "Hello", text: "One line.")

    /// A certificate for this machine, with its key.
    private func certificate(_ folder: ServerFolder, for name: String = "DNS:localhost,IP:127.0.0.1") throws -> (
        String, String
    ) {
        let (certificate, key) = (folder.path("certificate.pem"), folder.path("key.pem"))
        let made = try OpenSSL.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=test", "-addext", "subjectAltName=\(name)", "-keyout", key, "-out", certificate,
        ])
        try #require(made.status == 0, "\(made.text)")
        return (certificate, key)
    }

    @Test(arguments: [SMTPSender.Security.startTLS, .tls], ["127.0.0.1", "localhost"])
    func aMailIsEncrypted(security: SMTPSender.Security, host: String) async throws {
        let folder = try ServerFolder()
        let (certificate, key) = try certificate(folder)
        var like: JSONObject = [
            "security": .string(security.rawValue), "certificate": .string(certificate), "key": .string(key),
        ]
        if security == .startTLS { like["login"] = ["library", "secret"] }
        let server = try MailServer(.object(like))
        var sender = SMTPSender(host, port: server.port, security: security, from: "library@example.org")
        sender.certificates = certificate
        if security == .startTLS { sender.login = .init(user: "library", password: "secret") }
        try await sender.send(Self.mail)
        #expect(try server.next().isEncrypted)
    }

    @Test(arguments: [SMTPSender.Security.startTLS, .tls])
    func anUntrustedServerGetsNothing(security: SMTPSender.Security) async throws {
        let folder = try ServerFolder()
        let (certificate, key) = try certificate(folder, for: "DNS:elsewhere.example.org")
        let server = try MailServer([
            "security": .string(security.rawValue), "certificate": .string(certificate), "key": .string(key),
        ])
        for trusted in [nil, certificate] {
            var sender = SMTPSender("localhost", port: server.port, security: security, from: "library@example.org")
            sender.certificates = trusted
            sender.login = .init(user: "library", password: "secret")
            let error = await #expect(throws: MailError.self) { try await sender.send(Self.mail) }
            #expect(error?.isTemporary == true, "\(error as Any)")
        }
    }

    @Test func aServerWithoutTLSGetsNothing() async throws {
        let server = try MailServer()
        let sender = SMTPSender("127.0.0.1", port: server.port, from: "library@example.org")
        let error = await #expect(throws: MailError.self) { try await sender.send(Self.mail) }
        #expect(error?.description.contains("it offers no TLS (STARTTLS): nothing was sent") == true, "\(error as Any)")
    }
}
#endif
