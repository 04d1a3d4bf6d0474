import RelataParse
import TestEngines
import Testing

/// The verification of addresses by mail.
@Suite(.onEveryEngine) struct AddressVerificationTests {
    private func withMail(needed: Bool = false) throws -> (server: TestServer, mails: Mailbox) {
        try TestServer.withMail { options in
            options.mail?.verifiesAddresses = true
            options.mail?.needsVerifiedAddress = needed
        }
    }

    @Test func aNewUserConfirmsTheAddress() async throws {
        let (server, mails) = try withMail()
        let mei = try await server.signUpWithAddress("mei")
        let mail = try await mails.next()
        #expect(mail.address == "mei@example.org" && mail.subject == "Library: confirm your address")
        #expect(mail.link == "https://books.example.org/parse/apps/app/verify_email?token=\(mail.token)")
        #expect(try await server.send(as: mei, "GET", "/users/me")["emailVerified"] == false)
        let form = try await server.page("GET", "verify_email", ["token": mail.token])
        #expect(form.status == 200 && form.html.contains("Is mei@example.org your address"), "\(form.html)")
        let chinese = try await server.page("GET", "verify_email", ["token": mail.token], language: "zh-CN")
        #expect(
            chinese.html.contains("mei@example.org 是您的邮箱地址吗？账户“mei”是您创建的吗？"), "\(chinese.html)")
        // Opening the page confirms nothing.
        #expect(try await server.send(as: mei, "GET", "/users/me")["emailVerified"] == false)
        let done = try await server.page("POST", "verify_email", ["token": mail.token])
        #expect(done.status == 200 && done.html.contains("your address is confirmed"), "\(done.html)")
        #expect(try await server.send(as: mei, "GET", "/users/me")["emailVerified"] == true)
        #expect(try await server.page("POST", "verify_email", ["token": mail.token]).status == 404)
    }

    @Test func onlyOneOfFiftyConcurrentUsesOfALinkConfirms() async throws {
        let databases = try TestDatabases()
        let (server, mails) = try TestServer.withMail(path: try databases.path()) {
            $0.mail?.verifiesAddresses = true
        }
        _ = try await server.signUpWithAddress("mei")
        let token = try await mails.next().token
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask { try await server.page("POST", "verify_email", ["token": token]).status }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: 1, 404: 49])
    }

    @Test func unconfirmedUsersCannotSignIn() async throws {
        let (server, mails) = try withMail(needed: true)
        let reply = try await server.send(
            "POST", "/users", ["username": "mei", "password": "secret", "email": "mei@example.org"], isMaster: false)
        #expect(reply.status == 201 && reply["sessionToken"] == nil, "\(reply.json)")
        #expect(try await server.send("GET", "/sessions").results.isEmpty)
        let refused = try await server.logIn("mei", "secret")
        #expect(refused.code == 205 && refused["error"] == "User email is not verified.", "\(refused.json)")
        #expect(try await server.logIn("mei", "wrong").code == 101)
        #expect(try await server.page("POST", "verify_email", ["token": try await mails.next().token]).status == 200)
        #expect(try await server.logIn("mei", "secret").status == 200)
        // A user without a name has no address.
        let anonymous = try await server.send(
            "POST", "/users", ["authData": ["anonymous": ["id": "a device"]]], isMaster: false)
        #expect(anonymous["sessionToken"] != nil, "\(anonymous.json)")
    }

    @Test func aNewAddressMustBeConfirmedAgain() async throws {
        let (server, mails) = try withMail()
        let mei = try await server.signUpWithAddress("mei")
        let first = try await mails.next().token
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["email": "mei@example.com"]).status == 200)
        let second = try await mails.next()
        #expect(second.address == "mei@example.com")
        // The old link belongs to an address that the user no longer has.
        #expect(try await server.page("POST", "verify_email", ["token": first]).status == 404)
        #expect(try await server.page("POST", "verify_email", ["token": second.token]).status == 200)
        // An unchanged address stays confirmed, and no mail is sent.
        for body in [["email": "mei@example.com"], ["email": "MEI@example.com", "emailVerified": false]] as [JSONValue]
        {
            #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", body).status == 200)
        }
        #expect(try await server.send(as: mei, "GET", "/users/me")["emailVerified"] == true)
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["email": "mei@example.net"]).status == 200)
        #expect(try await mails.next().address == "mei@example.net")
        #expect(try await server.send(as: mei, "GET", "/users/me")["emailVerified"] == false)
    }

    @Test func onlyUnconfirmedUsersGetAnotherMail() async throws {
        let (server, mails) = try withMail()
        _ = try await server.signUpWithAddress("mei")
        _ = try await mails.next()
        let path = "/verificationEmailRequest"
        for address in ["nobody@example.org", "mei@example.org"] {
            #expect(try await server.requestMail(address, path: path).json == [:])
        }
        let mail = try await mails.next()
        #expect(mail.address == "mei@example.org")
        #expect(try await server.page("POST", "verify_email", ["token": mail.token]).status == 200)
        // A user with a confirmed address gets no mail.
        _ = try await server.requestMail("mei@example.org", path: path)
        _ = try await server.signUpWithAddress("sam")
        #expect(try await mails.next().address == "sam@example.org")
    }

    @Test func aClientCannotConfirmItsAddressDirectly() async throws {
        let (server, mails) = try withMail()
        let mei = try await server.signUpWithAddress("mei", ["emailVerified": true])
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["emailVerified": true]).status == 200)
        #expect(try await server.send(as: mei, "GET", "/users/me")["emailVerified"] == false)
        // A link for one purpose can't be used for the other.
        let token = try await mails.next().token
        #expect(try await server.setPassword("x", by: token).status == 404)
        #expect(try await server.page("POST", "verify_email", ["token": token]).status == 200)
    }
}
