import RelataParse
import TestEngines
import Testing

/// Accounts that are locked after repeated wrong passwords.
@Suite(.onEveryEngine) struct LockoutTests {
    private static let message =
        "Your account is locked due to multiple failed login attempts. Please try again after 5 minute(s)"

    private func withLockout(
        path: String? = nil, _ lockout: LockoutOptions = LockoutOptions(threshold: 3, duration: 300)
    ) throws -> (server: TestServer, mails: Mailbox) {
        try TestServer.withMail(path: path) { $0.lockout = lockout }
    }

    @Test(arguments: ["mei", "nobody"]) func tooManyWrongPasswordsLockAnAccount(name: String) async throws {
        let (server, _) = try withLockout()
        _ = try await server.signUpWithAddress("mei")
        for _ in 0..<3 {
            let reply = try await server.logIn(name, "wrong")
            #expect(reply.code == 101 && reply["error"] == "Invalid username/password.", "\(reply.json)")
        }
        // An unknown name gets the same reply.
        for password in ["wrong", "secret of mei"] {
            let reply = try await server.logIn(name.uppercased(), password)
            #expect(reply.status == 404 && reply.code == 101 && reply["error"]?.string == Self.message, "\(reply.json)")
        }
        let check = try await server.send(
            "GET", "/verifyPassword?username=\(name)&password=secret%20of%20mei", isMaster: false)
        #expect(check["error"]?.string == Self.message, "\(check.json)")
        if name == "mei" {
            let other = try await server.send(
                "POST", "/login", ["email": "mei@example.org", "password": "secret of mei"], isMaster: false)
            #expect(other["error"]?.string == Self.message, "\(other.json)")
        }
        _ = try await server.signUp("sam")
        #expect(try await server.logIn("sam", "secret of sam").status == 200)
    }

    @Test(arguments: ["mei", "nobody"]) func aWrongAddressRevealsNothingAboutTheName(name: String) async throws {
        let (server, _) = try withLockout()
        _ = try await server.signUp("mei")
        for _ in 0..<3 { #expect(try await server.logIn(name, "wrong").code == 101) }
        let reply = try await server.send(
            "POST", "/login", ["username": .string(name), "email": "none@example.org", "password": "x"],
            isMaster: false)
        #expect(reply["error"]?.string == Self.message, "\(reply.json)")
    }

    @Test func aRightPasswordResetsTheCountOfWrongOnes() async throws {
        let (server, _) = try withLockout()
        _ = try await server.signUp("mei")
        for _ in 0..<4 {
            for _ in 0..<2 { #expect(try await server.logIn("mei", "wrong").status == 404) }
            #expect(try await server.logIn("mei", "secret of mei").status == 200)
        }
    }

    @Test(arguments: ["mei", "nobody"]) func concurrentAttemptsGetNoMoreAnswers(name: String) async throws {
        let databases = try TestDatabases()
        let (server, _) = try withLockout(path: try databases.path())
        _ = try await server.signUp("mei")
        let replies = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<40 {
                group.addTask { try await server.logIn(name, "guess \(number)")["error"]?.string ?? "" }
            }
            return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(replies == ["Invalid username/password.": 3, Self.message: 37])
    }

    @Test func manyConcurrentSignInsWithTheRightPasswordSucceed() async throws {
        let databases = try TestDatabases()
        let (server, _) = try withLockout(path: try databases.path())
        _ = try await server.signUp("mei")
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await server.logIn("mei", "secret of mei").status } }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: 20])
    }

    @Test func aLockEndsAfterItsTime() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let (server, _) = try withLockout(path: path, LockoutOptions(threshold: 1, duration: 0.001))
        _ = try await server.signUp("mei")
        #expect(try await server.logIn("mei", "wrong").status == 404)
        // The next request comes more than a millisecond later.
        _ = try await server.signUp("sam")
        #expect(try await server.logIn("mei", "secret of mei").status == 200)
    }

    @Test(arguments: [true, false]) func aNewPasswordEndsALockIfConfigured(isWanted: Bool) async throws {
        var lockout = LockoutOptions(threshold: 1, duration: 300)
        lockout.endsWithReset = isWanted
        let (server, mails) = try withLockout(lockout)
        _ = try await server.signUpWithAddress("mei")
        #expect(try await server.logIn("mei", "wrong").status == 404)
        try await server.requestMail("mei@example.org")
        #expect(try await server.setPassword("new", by: try await mails.next().token).status == 200)
        #expect(try await server.logIn("mei", "new").status == (isWanted ? 200 : 404))
    }

    @Test func aLockAppliesToAllProcesses() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let (server, _) = try withLockout(path: path)
        _ = try await server.signUp("mei")
        for _ in 0..<3 { _ = try await server.logIn("mei", "wrong") }
        let (other, _) = try withLockout(path: path)
        #expect(try await other.logIn("mei", "secret of mei")["error"]?.string == Self.message)
    }

    @Test func unknownNamesTakeAsMuchWorkAsWrongPasswords() async throws {
        let secrets = TestSecrets()
        let server = try TestServer.withUsers(secrets: secrets) { $0.lockout = LockoutOptions() }
        _ = try await server.signUp("mei")
        _ = try await server.logIn("mei", "wrong")
        var counts: [Int] = []
        for name in ["mei", "nobody", "mei", "nobody"] {
            let before = secrets.count
            _ = try await server.logIn(name, "wrong")
            counts.append(secrets.count - before)
        }
        #expect(counts == [1, 1, 1, 1])
    }
}
