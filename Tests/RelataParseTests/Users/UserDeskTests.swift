import RelataParse
import TestEngines
import Testing

/// The operator's work with users.
@Suite(.onEveryEngine)
struct UserDeskTests {
    private func desk(
        _ server: TestServer, _ configure: (inout ParseService.Options) -> Void = { _ in }
    ) -> UserDesk {
        var options = ParseService.Options()
        options.secrets = TestSecrets()
        configure(&options)
        return UserDesk(server.store, options: options)
    }

    private func code(_ body: () async throws -> Void) async -> ParseError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ParseError)?.code
        }
    }

    @Test func aCreatedUserSignsInAndHasNoSessionBefore() async throws {
        let server = try TestServer.withUsers()
        let desk = desk(server)
        let id = try await desk.create("mei", password: "secret", email: "mei@example.org", isEmailVerified: true)
        #expect(try await server.send("GET", "/sessions").results.isEmpty)
        let reply = try await server.send(
            "POST", "/login", ["username": "MEI", "password": "secret"], isMaster: false)
        #expect(reply["objectId"]?.string == id)
        #expect(reply["emailVerified"] == true)
        let (accounts, count) = try await desk.accounts(limit: 1)
        #expect(accounts.map(\.name) == ["mei"] && count == 1)
        #expect(accounts.first?.email == "mei@example.org")
    }

    @Test func namesAddressesAndPasswordsObeyTheRulesOfTheServer() async throws {
        let server = try TestServer.withUsers()
        let desk = desk(server) { $0.passwords.pattern = "^.{6,}$" }
        _ = try await desk.create("mei", password: "secret", email: "mei@example.org", isEmailVerified: false)
        #expect(
            await code {
                _ = try await desk.create("Mei", password: "secret", email: nil, isEmailVerified: false)
            } == .usernameTaken)
        #expect(
            await code {
                _ = try await desk.create(
                    "sam", password: "secret", email: "MEI@example.org", isEmailVerified: false)
            } == .emailTaken)
        #expect(
            await code {
                _ = try await desk.create("sam", password: "short", email: nil, isEmailVerified: false)
            } == .validationError)
        #expect(await code { _ = try await desk.setPassword("short", of: "mei") } == .validationError)
        #expect(try await desk.accounts(limit: 10).count == 1)
    }

    @Test func aResetEndsAllSessionsAndUnlocksTheAccount() async throws {
        let server = try TestServer.withUsers { $0.lockout = LockoutOptions(threshold: 2) }
        let mei = try await server.signUp("mei")
        let sam = try await server.signUp("sam")
        for _ in 0..<2 {
            _ = try await server.send("POST", "/login", ["username": "mei", "password": "wrong"], isMaster: false)
        }
        let right: JSONValue = ["username": "mei", "password": "secret of mei"]
        #expect(
            try await server.send("POST", "/login", right, isMaster: false)["error"]?.string?.contains("locked") == true
        )
        let (user, count) = try await desk(server).setPassword("another", of: mei.id)
        #expect(user.name == "mei" && count == 1)
        #expect(try await server.send(as: mei, "GET", "/users/me").code == 209)
        #expect(try await server.send(as: sam, "GET", "/users/me").status == 200)
        let another: JSONValue = ["username": "mei", "password": "another"]
        #expect(try await server.send("POST", "/login", another, isMaster: false).status == 200)
        #expect(await code { _ = try await desk(server).setPassword("x", of: "nobody") } == .objectNotFound)
    }

    @Test func rolesAreGivenAndRevokedAndInheritedOnesAreListed() async throws {
        let server = try TestServer.withUsers()
        let desk = desk(server)
        let mei = try await server.signUp("mei")
        let account = try await desk.account("mei")
        #expect(await code { _ = try await desk.add(account, to: "Editors", makesRole: false) } == .objectNotFound)
        #expect(await code { _ = try await desk.add(account, to: "a/b", makesRole: true) } == .invalidRoleName)
        #expect(try await desk.add(account, to: "Editors", makesRole: true))
        #expect(try await !desk.add(account, to: "Editors", makesRole: true))
        let editors = try await server.find("_Role", where: ["name": "Editors"])[0]["objectId"]?.string ?? ""
        try await server.makeRole("Readers", roles: [editors])
        let roles = try await desk.roles(of: account)
        #expect(roles.map(\.role) == ["Editors", "Readers"] && roles.map(\.isDirect) == [true, false])
        #expect(await code { try await desk.remove(account, from: "Readers") } == .objectNotFound)
        try await desk.remove(account, from: "Editors")
        #expect(try await desk.roles(of: account).isEmpty)
        // Nobody joins a role that was made here.
        let change: JSONValue = ["users": ["__op": "AddRelation", "objects": [pointer("_User", mei.id)]]]
        #expect(try await server.send(as: mei, "PUT", "/roles/\(editors)", change).status == 404)
    }

    @Test func aNameThatEqualsAnotherUsersIdIsAmbiguous() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        _ = try await server.signUp(mei.id)
        #expect(await code { _ = try await desk(server).account(mei.id) } == .invalidQuery)
        #expect(try await desk(server).account("mei").id == mei.id)
    }
}
