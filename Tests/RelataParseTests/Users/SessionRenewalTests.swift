import RelataParse
import TestEngines
import Testing

/// Sessions that are extended while they are used.
@Suite(.onEveryEngine) struct SessionRenewalTests {
    @Test(arguments: [true, false]) func usingASessionExtendsIt(isWanted: Bool) async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let before = try TestServer.withUsers(path: path) { $0.sessionLifetime = 1000 }
        let mei = try await before.signUp("mei")
        let first = try #require(try await before.send(as: mei, "GET", "/sessions/me")["expiresAt"]?["iso"]?.string)
        let server = try TestServer.withUsers(path: path) { options in
            options.sessionLifetime = 100_000
            options.extendsSessions = isWanted
        }
        #expect(try await server.send(as: mei, "GET", "/users/me").status == 200)
        let second = try #require(try await server.send(as: mei, "GET", "/sessions/me")["expiresAt"]?["iso"]?.string)
        #expect((second > first) == isWanted, "\(first) \(second)")
        // The session isn't written on each request.
        #expect(try await server.send(as: mei, "GET", "/users/me").status == 200)
        #expect(try await server.send(as: mei, "GET", "/sessions/me")["expiresAt"]?["iso"]?.string == second)
        #expect(try await server.send(as: mei, "POST", "/logout").status == 200)
        #expect(try await server.send(as: mei, "GET", "/users/me").code == 209)
    }

    @Test func anExpiredSessionStaysExpired() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let before = try TestServer.withUsers(path: path) { $0.sessionLifetime = -1 }
        let mei = try await before.signUp("mei")
        let server = try TestServer.withUsers(path: path) { $0.extendsSessions = true }
        for _ in 0..<2 { #expect(try await server.send(as: mei, "GET", "/users/me").code == 209) }
    }

    @Test func clientsCannotWriteTheFieldsThatTheServerSets() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        let sam = try await server.signUp("sam")
        let mine = try await server.send(as: mei, "GET", "/sessions/me")
        let id = try #require(mine["objectId"]?.string)
        let later: JSONValue = ["__type": "Date", "iso": "2999-01-01T00:00:00.000Z"]
        for (field, value) in [
            ("user", pointer("_User", sam.id)), ("expiresAt", later), ("createdWith", ["action": "login"]),
            ("restricted", true), ("installationId", "other"), ("sessionToken", "r:0"), ("_token", "0"),
        ] as [(String, JSONValue)] {
            for path in ["/sessions/\(id)", "/classes/_Session/\(id)"] {
                let reply = try await server.send(as: mei, "PUT", path, .object([field: value]))
                #expect(reply.code == 119, "\(path) \(field): \(reply.json)")
            }
            let made = try await server.send(as: mei, "POST", "/sessions", .object([field: value]))
            #expect(made.code == 119, "\(field): \(made.json)")
        }
        #expect(try await server.send(as: mei, "GET", "/sessions/me").json == mine.json)
    }

    @Test(arguments: [[:], ["anonymous": .null]] as [JSONValue]) func emptyAuthDataDoesNotSignUp(
        authData: JSONValue
    ) async throws {
        let server = try TestServer.withUsers()
        for (body, code) in [
            (["authData": authData], 200), (["authData": authData, "username": "mei"], 201),
            (["authData": authData, "password": "x"], 200),
        ] as [(JSONValue, Int64)] {
            let reply = try await server.send("POST", "/users", body, isMaster: false)
            #expect(reply.code == code, "\(reply.json)")
        }
        #expect(try await server.send("GET", "/users").results.isEmpty)
        let reply = try await server.send(
            "POST", "/users", ["authData": authData, "username": "mei", "password": "x"], isMaster: false)
        #expect(reply.status == 201, "\(reply.json)")
    }
}
