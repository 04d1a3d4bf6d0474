import RelataCore
import RelataParse
import TestEngines
import Testing

/// The rules for users' passwords.
@Suite(.onEveryEngine) struct PasswordPolicyTests {
    private func signUp(_ server: TestServer, _ name: String, _ password: String) async throws -> TestServer.Reply {
        try await server.send(
            "POST", "/users", ["username": .string(name), "password": .string(password)], isMaster: false)
    }

    @Test func passwordsMustFollowTheRules() async throws {
        let (server, mails) = try TestServer.withMail { options in
            options.passwords.pattern = "^.{8,}$"
            options.passwords.isGood = { $0 != "password" }
            options.passwords.mayContainUsername = false
        }
        for (password, message) in [
            ("short", "Password does not meet the Password Policy requirements."),
            ("password", "Password does not meet the Password Policy requirements."),
            ("the secret of MEI", "Password cannot contain your username."),
        ] {
            let reply = try await signUp(server, "mei", password)
            #expect(reply.code == 142 && reply["error"]?.string == message, "\(reply.json)")
        }
        let mei = try await server.signUp("mei", ["password": "long enough", "email": "mei@example.org"])
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["password": "short"]).code == 142)
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["password": "for mei only"]).code == 142)
        #expect(
            try await server.send(
                as: mei, "PUT", "/users/\(mei.id)", ["username": "sam", "password": "for sam only"]
            ).code == 142)
        try await server.requestMail("mei@example.org")
        let token = try await mails.next().token
        let refused = try await server.setPassword("short", by: token)
        #expect(refused.status == 400 && refused.html.contains("isn’t good enough"), "\(refused.html)")
        let own = try await server.setPassword("for mei only", by: token)
        #expect(own.status == 400 && own.html.contains("must not contain the account’s name"), "\(own.html)")
        // The link stays valid after a refused password.
        #expect(try await server.setPassword("another long one", by: token).status == 200)
    }

    @Test func aNewPasswordMustDifferFromTheLastOnes() async throws {
        let (server, mails) = try TestServer.withMail { $0.passwords.history = 3 }
        let mei = try await server.signUp("mei", ["password": "one", "email": "mei@example.org"])
        func change(_ password: String) async throws -> Int64? {
            try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["password": .string(password)]).code
        }
        #expect(try await change("one") == 142)
        #expect(try await change("two") == nil)
        #expect(try await change("one") == 142)
        #expect(try await change("three") == nil)
        #expect(try await change("one") == 142)
        #expect(try await change("four") == nil)
        #expect(try await change("one") == nil)
        let refused = try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["password": "four"])
        #expect(refused["error"] == "New password should not be the same as last 3 passwords.", "\(refused.json)")
        try await server.requestMail("mei@example.org")
        let token = try await mails.next().token
        let page = try await server.setPassword("three", by: token)
        #expect(page.status == 400 && page.html.contains("differs from the last 3"), "\(page.html)")
        let chinese = try await server.page(
            "POST", "request_password_reset", ["token": token, "password": "three", "again": "three"],
            language: "zh-CN")
        #expect(chinese.status == 400 && chinese.html.contains("请选择一个与最近 3 个密码不同的密码。"), "\(chinese.html)")
        #expect(try await server.setPassword("two", by: token).status == 200)
        #expect(try await server.logIn("mei", "two").status == 200)
        let texts = try await server.texts()
        #expect(!texts.contains { ["one", "two", "three", "four"].contains($0) })
    }

    @Test func passwordsSetBeforeTheOptionCountToo() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let before = try TestServer.withUsers(path: path)
        let mei = try await before.signUp("mei")
        try before.store.close()
        let server = try TestServer.withUsers(path: path) { $0.passwords.history = 2 }
        for (password, code) in [("secret of mei", 142), ("new", nil), ("secret of mei", 142), ("newer", nil)] {
            let reply = try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["password": .string(password)])
            #expect(reply.code == code.map { Int64($0) }, "\(password): \(reply.json)")
        }
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["password": "secret of mei"]).status == 200)
    }

    @Test func anExpiredPasswordDoesNotSignIn() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let (server, mails) = try TestServer.withMail(path: path) { $0.passwords.maximumAge = 1000 }
        _ = try await server.signUpWithAddress("mei")
        #expect(try await server.logIn("mei", "secret of mei").status == 200)
        try server.store.close()
        _ = mails
        let (later, others) = try TestServer.withMail(path: path) { $0.passwords.maximumAge = 0.001 }
        let reply = try await later.logIn("mei", "secret of mei")
        #expect(reply.code == 101 && reply["error"] == "Your password has expired. Please reset your password.")
        #expect(try await later.logIn("mei", "wrong")["error"] == "Invalid username/password.")
        try await later.requestMail("mei@example.org")
        #expect(try await later.setPassword("new", by: try await others.next().token).status == 200)
        try later.store.close()
        let again = try TestServer.withUsers(path: path) { $0.passwords.maximumAge = 1000 }
        #expect(try await again.logIn("mei", "new").status == 200)
    }

    @Test func invalidRulesAreRefused() {
        var options = PasswordOptions()
        options.pattern = "["
        #expect(throws: RelataError.self) { try options.check() }
        options.pattern = "."
        options.history = 21
        #expect(throws: RelataError.self) { try options.check() }
        #expect(throws: RelataError.self) { try LockoutOptions(threshold: 0).check() }
        #expect(throws: RelataError.self) { try LockoutOptions(duration: 0).check() }
        for url in [
            "", "books.example.org", "ftp://x/", "https:///parse", "https://x/?a", "https://x/#a", "https://x y/",
        ] {
            let mail = MailOptions(MailClosure { _ in }, appName: "Library", publicURL: url)
            #expect(throws: RelataError.self, "\(url)") { try mail.check() }
        }
        var mail = MailOptions(MailClosure { _ in }, appName: "Library", publicURL: "https://x/parse")
        #expect(throws: Never.self) { try mail.check() }
        mail.templates[.verification]?["en"]?.text = "Hello"
        #expect(throws: RelataError.self) { try mail.check() }
    }
}
