import Foundation
import RelataCore
@testable import RelataParse
import TestEngines
import Testing

/// Sessions of users.
@Suite(.onEveryEngine) struct SessionTests {
    @Test func usersSeeOnlyTheirOwnSessions() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        let sam = try await server.signUp("sam")
        let mine = try await server.send(as: mei, "GET", "/sessions/me")
        #expect(mine["user"] == pointer("_User", mei.id), "\(mine.json)")
        #expect(mine["createdWith"] == ["action": "signup", "authProvider": "password"] && mine["restricted"] == false)
        #expect(mine["expiresAt"] != nil && mine["_token"] == nil && mine["sessionToken"] == nil)
        for path in ["/sessions", "/classes/_Session"] {
            #expect(try await server.send(as: mei, "GET", path).results.count == 1)
            #expect(try await server.send(as: nil, "GET", path).results.isEmpty)
            #expect(try await server.send("GET", path).results.count == 2)
        }
        let id = try #require(mine["objectId"]?.string)
        #expect(try await server.send(as: sam, "GET", "/sessions/\(id)").code == 101)
        #expect(try await server.send(as: sam, "DELETE", "/sessions/\(id)").code == 101)
        #expect(try await server.send(as: mei, "DELETE", "/sessions/\(id)").status == 200)
        #expect(try await server.send(as: mei, "GET", "/users/me").code == 209)
    }

    @Test func aSessionEndsBySigningOut() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        #expect(try await server.send(as: mei, "POST", "/logout").json == [:])
        for (method, path) in [("GET", "/users/me"), ("GET", "/classes/Note"), ("POST", "/classes/Note")] {
            let reply = try await server.send(as: mei, method, path, method == "POST" ? ["title": "x"] : nil)
            #expect(reply.code == 209, "\(path): \(reply.json)")
        }
        #expect(try await server.send("GET", "/schemas/Note").code == 103)
        #expect(try await server.send(as: nil, "POST", "/logout").status == 200)
    }

    @Test func aSessionExpires() async throws {
        let server = try TestServer.withUsers { $0.sessionLifetime = -1 }
        let mei = try await server.signUp("mei")
        let reply = try await server.send(as: mei, "GET", "/users/me")
        #expect(reply.code == 209 && reply["error"] == "Session token is expired.", "\(reply.json)")
    }

    @Test(arguments: ["r:0", "", "r:' OR 1=1 --", "null"]) func anUnknownTokenIsRefused(token: String) async throws {
        let server = try TestServer.withUsers()
        let stranger = TestServer.Person(id: "", token: token)
        for isThere in [false, true] {
            if isThere { _ = try await server.signUp("mei") }
            let reply = try await server.send(as: stranger, "GET", "/users/me")
            #expect(reply.code == 209, "\(reply.json)")
        }
    }

    @Test func nothingInTheDatabaseIsATokenOrAPassword() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let server = try TestServer.withUsers(path: path)
        let mei = try await server.signUp("mei")
        let texts = try await server.texts()
        #expect(texts.contains("mei"))
        #expect(
            !texts.contains {
                $0.contains(mei.token) || $0.contains(mei.token.dropFirst(2)) || $0.contains("secret of mei")
            })
    }

    @Test func aRepeatedRequestIsAnsweredOnlyToTheSameUser() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        let sam = try await server.signUp("sam")
        var ids: [JSONValue?] = []
        for person in [mei, mei, sam] {
            let reply = try await server.send(
                "POST", "/classes/Note", ["title": "x"],
                headers: person.headers.merging(["x-parse-request-id": "one"]) { $1 }, isMaster: false)
            ids.append(reply["objectId"])
            if person.id == sam.id { #expect(reply.code == 159, "\(reply.json)") }
        }
        #expect(ids[0] == ids[1] && ids[0] != nil && ids[2] == nil)
    }
}
