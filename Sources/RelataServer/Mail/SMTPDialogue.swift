#if Server
import Foundation
import NIOCore
import RelataParse

/// The commands that deliver a mail to a mail server.
struct SMTPDialogue {
    let connection: SMTPConnection
    let login: SMTPSender.Login?

    /// Delivers a mail.
    ///
    /// - Throws: ``MailError`` with the server's reply if it refuses the mail.
    func deliver(_ message: MailMessage, startingTLS security: SMTPSecurity?) async throws {
        let abilities = try await begin(message.sender.domain, startingTLS: security)
        var options = ""
        if message.needsUnicode {
            guard abilities["SMTPUTF8"] != nil else {
                throw MailError("it doesn't accept addresses with letters outside ASCII (SMTPUTF8)")
            }
            options = " SMTPUTF8"
        }
        let sender = try await connection.ask("MAIL FROM:<\(message.sender.path)>\(options)")
        try await expect(250, "refused the sender with", sender)
        let recipient = try await connection.ask("RCPT TO:<\(message.recipient.path)>")
        try await expect(250, "refused the recipient with", recipient)
        try await expect(354, "refused the mail with", try await connection.ask("DATA"))
        try await expect(250, "refused the mail with", try await connection.ask(ByteBuffer(bytes: message.data)))
        // The server has accepted the mail, even if the connection ends with an error.
        _ = try? await connection.ask("QUIT")
    }

    /// Signs in, and leaves.
    ///
    /// - Throws: ``MailError`` if that isn't possible.
    func probe(_ domain: String, startingTLS security: SMTPSecurity?) async throws {
        _ = try await begin(domain, startingTLS: security)
        _ = try? await connection.ask("QUIT")
    }

    /// Does all that comes before a mail.
    ///
    /// - Returns: The server's extensions, with their parameters.
    private func begin(_ domain: String, startingTLS security: SMTPSecurity?) async throws
        -> [String: [String]]
    {
        try await expect(220, "greeted with", try await connection.greeting())
        var abilities = try await greet(domain)
        if let security {
            guard abilities["STARTTLS"] != nil else {
                throw MailError("it offers no TLS (STARTTLS): nothing was sent")
            }
            let reply = try await connection.ask("STARTTLS", startingTLS: security)
            try await expect(220, "refused TLS with", reply)
            abilities = try await greet(domain)
        }
        if let login { try await signIn(login, abilities) }
        return abilities
    }

    /// - Throws: ``MailError`` for a reply with another code.
    private func expect(_ code: Int, _ what: String, _ reply: SMTPReply) async throws {
        // With 251, the server accepts the mail and forwards it.
        if reply.code == code || code == 250 && reply.code == 251 { return }
        throw MailError("it \(what): \(reply.text)", isTemporary: (400..<500).contains(reply.code))
    }

    /// Introduces the client with `EHLO`.
    ///
    /// - Returns: The server's extensions, with their parameters.
    private func greet(_ domain: String) async throws -> [String: [String]] {
        let reply = try await connection.ask("EHLO \(domain)")
        try await expect(250, "refused the greeting with", reply)
        var abilities: [String: [String]] = [:]
        for line in reply.lines.dropFirst() {
            let words = line.uppercased().split(whereSeparator: { $0 == " " || $0 == "=" }).map(String.init)
            if let name = words.first { abilities[name, default: []] += words.dropFirst() }
        }
        return abilities
    }

    private func signIn(_ login: SMTPSender.Login, _ abilities: [String: [String]]) async throws {
        guard let mechanisms = abilities["AUTH"] else { throw MailError("it doesn't offer signing in (AUTH)") }
        func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        var reply: SMTPReply
        if mechanisms.contains("PLAIN") {
            reply = try await connection.ask("AUTH PLAIN \(encoded("\0\(login.user)\0\(login.password)"))")
        } else if mechanisms.contains("LOGIN") {
            reply = try await connection.ask("AUTH LOGIN")
            for secret in [login.user, login.password] where reply.code == 334 {
                reply = try await connection.ask(encoded(secret))
            }
        } else {
            throw MailError("it offers only unknown ways to sign in: \(mechanisms.joined(separator: ", "))")
        }
        try await expect(235, "refused the sign-in of \(login.user) with", reply)
    }
}
#endif
