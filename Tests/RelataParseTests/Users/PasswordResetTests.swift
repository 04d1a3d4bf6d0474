import Foundation
import TestEngines
import Testing

@testable import RelataParse

/// New passwords, set through the link in a mail.
@Suite(.onEveryEngine) struct PasswordResetTests {
    @Test func theLinkSetsANewPassword() async throws {
        let (server, mails) = try TestServer.withMail()
        let mei = try await server.signUpWithAddress("mei")
        #expect(try await server.requestMail("MEI@example.org").json == [:])
        let mail = try await mails.next()
        #expect(mail.address == "mei@example.org" && mail.subject == "Library: set a new password")
        #expect(mail.link == "https://books.example.org/parse/apps/app/request_password_reset?token=\(mail.token)")
        let form = try await server.page("GET", "request_password_reset", ["token": mail.token])
        #expect(form.status == 200 && form.html.contains("For the account “mei”."), "\(form.html)")
        #expect(form.html.contains("<input type=\"hidden\" name=\"token\" value=\"\(mail.token)\">"))
        let done = try await server.setPassword("new secret", by: mail.token)
        #expect(done.status == 200 && done.html.contains("The password is set."), "\(done.html)")
        #expect(try await server.logIn("mei", "secret of mei").status == 404)
        #expect(try await server.logIn("mei", "new secret").status == 200)
        // A session may belong to a thief.
        #expect(try await server.send(as: mei, "GET", "/users/me").code == 209)
    }

    @Test func theLinkWorksOnce() async throws {
        let (server, mails) = try TestServer.withMail()
        _ = try await server.signUpWithAddress("mei")
        try await server.requestMail("mei@example.org")
        let token = try await mails.next().token
        // The link stays valid if a program opens every link of a mail.
        for _ in 0..<3 {
            #expect(try await server.page("GET", "request_password_reset", ["token": token]).status == 200)
        }
        #expect(try await server.setPassword("first", by: token).status == 200)
        let again = try await server.setPassword("second", by: token)
        #expect(again.status == 404 && again.html.contains("This link doesn’t work"))
        #expect(try await server.page("GET", "request_password_reset", ["token": token]).status == 404)
        #expect(try await server.logIn("mei", "first").status == 200)
    }

    @Test func onlyOneOfFiftyConcurrentUsesOfALinkSetsThePassword() async throws {
        let databases = try TestDatabases()
        let (server, mails) = try TestServer.withMail(path: try databases.path())
        _ = try await server.signUpWithAddress("mei")
        try await server.requestMail("mei@example.org")
        let token = try await mails.next().token
        let winners = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for number in 0..<50 {
                group.addTask { (number, try await server.setPassword("password \(number)", by: token).status) }
            }
            return try await group.reduce(into: [Int: [Int]]()) { $0[$1.1, default: []].append($1.0) }
        }
        #expect(winners[200]?.count == 1 && winners[404]?.count == 49, "\(winners.mapValues(\.count))")
        let winner = try #require(winners[200]?.first)
        #expect(try await server.logIn("mei", "password \(winner)").status == 200)
    }

    @Test func linksExpireByTimeByANewLinkAndByANewAddress() async throws {
        let (server, mails) = try TestServer.withMail { $0.mail?.resetLifetime = -1 }
        _ = try await server.signUpWithAddress("mei")
        try await server.requestMail("mei@example.org")
        #expect(try await server.setPassword("new", by: try await mails.next().token).status == 404)

        let (other, others) = try TestServer.withMail()
        let mei = try await other.signUpWithAddress("mei")
        try await other.requestMail("mei@example.org")
        let first = try await others.next().token
        try await other.requestMail("mei@example.org")
        let second = try await others.next().token
        #expect(first != second)
        #expect(try await other.setPassword("new", by: first).status == 404)
        let changed = try await other.send(as: mei, "PUT", "/users/\(mei.id)", ["email": "mei@example.com"])
        #expect(changed.status == 200)
        #expect(try await other.setPassword("new", by: second).status == 404)
        try await other.requestMail("mei@example.com")
        let third = try await others.next().token
        #expect(try await other.send(as: mei, "PUT", "/users/\(mei.id)", ["password": "own"]).status == 200)
        #expect(try await other.setPassword("new", by: third).status == 404)
        #expect(try await other.logIn("mei", "own").status == 200)
    }

    @Test func unknownAddressesGetTheSameReplyInTheSameTime() async throws {
        let databases = try TestDatabases()
        let (server, mails) = try TestServer.withMail(path: try databases.path())
        _ = try await server.signUpWithAddress("mei")
        // Both get their replies while the store can't be written: the replies don't wait for the address's lookup.
        let (began, started) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let blocker = Task {
            try await server.store.write(as: .master) { _ in
                started.yield()
                gate.wait()
            }
        }
        for await _ in began { break }
        for address in ["sam@example.org", "mei@example.org"] {
            let reply = try await server.requestMail(address)
            #expect(reply.status == 200 && reply.json == [:], "\(address): \(reply.json)")
        }
        #expect(mails.count == 0)
        gate.signal()
        try await blocker.value
        #expect(try await mails.next().address == "mei@example.org")
        #expect(mails.count == 1)
    }

    @Test func anInvalidAddressIsRefused() async throws {
        let (server, _) = try TestServer.withMail()
        for (body, code) in [([:], 204), (["email": 1], 125), (["email": ""], 204)] as [(JSONValue, Int64)] {
            for path in ["/requestPasswordReset"] {
                #expect(try await server.send("POST", path, body, isMaster: false).code == code, "\(body)")
            }
        }
        #expect(try await server.send("GET", "/requestPasswordReset?email=a@b.c", isMaster: false).status == 405)
        #expect(try await server.requestMail("a@b.c", path: "/verificationEmailRequest").code == 119)
        let off = try TestServer.withUsers()
        #expect(try await off.requestMail("a@b.c")["error"] == "mail is off: this server sends none")
        #expect(await off.service.page(for: WireRequest(method: "GET", path: "/apps/app/verify_email")) == nil)
    }

    @Test func mailsAndPagesAreInTheRequestedLanguage() async throws {
        let (server, mails) = try TestServer.withMail { options in
            options.mail?.templates[.passwordReset]?["de"] = MailTemplate(
                subject: "{app} für {name}", text: "{link} {app} {unknown} {")
        }
        _ = try await server.signUpWithAddress("{link}")
        let address = "{link}@example.org"
        for (language, subject) in [
            ("zh-CN,zh;q=0.9,en;q=0.8", "Library：设置新密码"), ("fr, de;q=0.5, en;q=0.1", "Library für {link}"),
            ("zh-TW", "Library: set a new password"), ("", "Library: set a new password"),
        ] {
            try await server.requestMail(address, language: language)
            #expect(try await mails.next().subject == subject)
        }
        try await server.requestMail(address, language: "de")
        let mail = try await mails.next()
        #expect(mail.text.hasSuffix(" Library {unknown} {"), "\(mail.text)")
        let chinese = try await server.page(
            "GET", "request_password_reset", ["token": mail.token], language: "zh-Hans-CN")
        #expect(chinese.html.contains("<html lang=\"zh-Hans\">") && chinese.html.contains("设置新密码"), "\(chinese.html)")
        let none = try await server.page("GET", "verify_email", ["token": "x"], language: "zh")
        #expect(none.status == 404 && none.html.contains("此链接无效"))
    }

    @Test func aPageEscapesTextAndIgnoresRedirects() async throws {
        let (server, mails) = try TestServer.withMail()
        _ = try await server.signUpWithAddress("mei", ["username": "<script>&\"'"])
        try await server.requestMail("mei@example.org")
        let token = try await mails.next().token
        let request: KeyValuePairs = [
            "token": token, "redirect": "https://evil.example", "redirect_uri": "//evil.example", "next": "/evil",
            "username": "evil",
        ]
        let form = try await server.page("GET", "request_password_reset", request)
        #expect(form.html.contains("&lt;script&gt;&amp;&quot;&#39;") && !form.html.contains("evil"), "\(form.html)")
        #expect(form.html.contains("action=\"request_password_reset\"") && !form.html.contains("<script"))
        let broken = try await server.page("GET", "request_password_reset", ["token": "\"><script>"])
        #expect(broken.status == 404 && !broken.html.contains("<script"))
        let different = try await server.page(
            "POST", "request_password_reset",
            ["token": token, "password": "a", "again": "b", "redirect": "//evil.example"])
        #expect(different.status == 400 && different.html.contains("The two passwords are different."))
        #expect(try await server.page("GET", "request_password_reset", request, application: "other").status == 404)
        let done = try await server.page(
            "POST", "request_password_reset",
            ["token": token, "password": "a", "again": "a", "redirect": "https://evil.example"])
        #expect(done.status == 200 && !done.html.contains("evil"), "\(done.html)")
        let policy = try #require(AccountPage.headers.first { $0.name == "content-security-policy" }).value
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"))
        #expect(!done.html.contains("src=") && !done.html.contains("href="))
    }

    @Test func noSecondMailIsSentTooSoon() async throws {
        let (server, mails) = try TestServer.withMail { $0.mail?.interval = 60 }
        _ = try await server.signUpWithAddress("mei")
        _ = try await server.signUpWithAddress("sam")
        for address in ["mei@example.org", "mei@example.org", "mei@example.org", "sam@example.org"] {
            #expect(try await server.requestMail(address).json == [:])
        }
        let addresses = [try await mails.next().address, try await mails.next().address]
        #expect(addresses == ["mei@example.org", "sam@example.org"] && mails.count == 2)
    }

    /// Only one mail is sent at a time in this test.
    @Test func aMailThatIsRetriedDoesNotDelayOthers() async throws {
        let (server, mails) = try TestServer.withMail { $0.mail?.retries = [3600] }
        for name in ["mei", "sam"] { _ = try await server.signUpWithAddress(name) }
        mails.fail(with: MailError("busy", isTemporary: true))
        for name in ["mei", "sam"] { try await server.requestMail("\(name)@example.org") }
        #expect(try await mails.next().address == "sam@example.org")
    }

    @Test func aRefusedMailIsSentAgain() async throws {
        let (server, mails) = try TestServer.withMail { $0.mail?.retries = [0, 0] }
        _ = try await server.signUpWithAddress("mei")
        mails.fail(with: MailError("busy", isTemporary: true), MailError("busy", isTemporary: true))
        try await server.requestMail("mei@example.org")
        #expect(try await mails.next().address == "mei@example.org")
        mails.fail(with: MailError("no such user"))
        try await server.requestMail("mei@example.org")
        try await server.requestMail("mei@example.org")
        _ = try await mails.next()
        #expect(mails.count == 2)
    }

    /// A person who signed up with another's address loses the account once the owner claims it.
    @Test func claimingAnAccountByItsAddressRemovesOtherAccess() async throws {
        let (server, mails) = try TestServer.withMail { $0.mail?.verifiesAddresses = true }
        let thief = try await server.signUpWithAddress(
            "mei", ["authData": ["anonymous": ["id": "device of the thief"]]])
        _ = try await mails.next()
        try await server.requestMail("mei@example.org")
        #expect(try await server.setPassword("of mei", by: try await mails.next().token).status == 200)
        #expect(try await server.send(as: thief, "GET", "/users/me").code == 209)
        #expect(try await server.logIn("mei", "secret of mei").status == 404)
        let back = try await server.send(
            "POST", "/users", ["authData": ["anonymous": ["id": "device of the thief"]]], isMaster: false)
        #expect(back.status == 201 && back["objectId"]?.string != thief.id, "\(back.json)")
        let own = try await server.logIn("mei", "of mei")
        #expect(own["objectId"]?.string == thief.id && own["emailVerified"] == true && own["authData"] == nil)
    }

    @Test func nothingInTheDatabaseIsALink() async throws {
        let databases = try TestDatabases()
        let (server, mails) = try TestServer.withMail(path: try databases.path())
        let mei = try await server.signUpWithAddress("mei")
        try await server.requestMail("mei@example.org")
        let token = try await mails.next().token
        #expect(token.count == 64)
        let texts = try await server.texts()
        #expect(texts.contains("mei@example.org") && !texts.contains { $0.contains(token) })
        for name in ["_UserToken", "_UserPassword", "_LoginFailure"] {
            #expect(try await server.send("GET", "/classes/\(name)").code == 119)
            #expect(try await server.send("GET", "/schemas/\(name)").code == 119)
        }
        #expect(try await server.send("GET", "/schemas").results.count == 3)
        let plan = try await server.send(as: mei, "GET", "/users/\(mei.id)?deletionPlan=1")
        #expect(!"\(plan.json)".contains("_UserToken"), "\(plan.json)")
        #expect(try await server.send(as: mei, "DELETE", "/users/\(mei.id)").status == 200)
        #expect(try await server.setPassword("x", by: token).status == 404)
    }

    @Test func aHangingDeliveryDoesNotDelayOtherMails() async throws {
        let mails = Mailbox()
        let options = MailOptions(mails, appName: "Library", publicURL: "https://books.example.org/parse")
        let queue = MailQueue(options, lookUpLimit: .milliseconds(50))
        let mail = Mail(to: "mei@example.org", subject: "a", text: "b")
        try queue.add {
            // The delivery doesn't even end when it is cancelled.
            await withCheckedContinuation { continuation in
                Task.detached {
                    try? await Task.sleep(for: .seconds(20))
                    continuation.resume()
                }
            }
            return nil
        }
        try queue.add { mail }
        #expect(try await mails.next().subject == "a")
    }
}
