import RelataParse
import TestEngines
import Testing

/// Signing up, signing in, and the content of accounts.
@Suite(.onEveryEngine) struct UserTests {
    @Test func signingUpAlsoSignsIn() async throws {
        let server = try TestServer.withUsers()
        let reply = try await server.send(
            "POST", "/users", ["username": "mei", "password": "secret", "email": "mei@example.org", "age": 30],
            isMaster: false)
        #expect(reply.status == 201, "\(reply.json)")
        let id = try #require(reply["objectId"]?.string)
        #expect(reply.location == "/parse/users/\(id)" && reply["createdAt"] != nil && reply["password"] == nil)
        let token = try #require(reply["sessionToken"]?.string)
        let me = try await server.send("GET", "/users/me", headers: ["x-parse-session-token": token], isMaster: false)
        #expect(me["username"] == "mei" && me["email"] == "mei@example.org" && me["age"] == 30, "\(me.json)")
        #expect(me["objectId"]?.string == id && me["sessionToken"]?.string == token)
        #expect(me["ACL"] == acl(read: [id], write: [id]))
        #expect(me.json.object?.keys.contains { $0.hasPrefix("_") || $0 == "password" } == false, "\(me.json)")
    }

    @Test(arguments: ["/login", "/verifyPassword"]) func theRightPasswordReturnsTheUser(path: String) async throws {
        let server = try TestServer.withUsers()
        let person = try await server.signUp("Mei", ["email": "Mei@Example.org"])
        for body: JSONValue in [
            ["username": "mei", "password": "secret of Mei"],
            ["email": "mei@example.ORG", "password": "secret of Mei"],
        ] {
            let reply = try await server.send("POST", path, body, isMaster: false)
            #expect(reply.status == 200 && reply["objectId"]?.string == person.id, "\(reply.json)")
            #expect((reply["sessionToken"] != nil) == (path == "/login"))
        }
        let inURL = try await server.send("GET", "\(path)?username=Mei&password=secret%20of%20Mei", isMaster: false)
        #expect(inURL["objectId"]?.string == person.id, "\(inURL.json)")
    }

    @Test(
        arguments: [
            ["username": "mei", "password": "wrong"], ["username": "nobody", "password": "wrong"],
            ["email": "no@body.org", "password": "secret of mei"],
            ["username": "mei", "email": "no@body.org", "password": "secret of mei"],
        ] as [JSONValue])
    func aWrongPasswordAndAnUnknownNameGetTheSameReply(body: JSONValue) async throws {
        let secrets = TestSecrets()
        let server = try TestServer.withUsers(secrets: secrets)
        _ = try await server.signUp("mei")
        // The first attempt also computes the hash for unknown names.
        _ = try await server.send("POST", "/login", ["username": "x", "password": "y"], isMaster: false)
        let before = secrets.count
        let reply = try await server.send("POST", "/login", body, isMaster: false)
        #expect(reply.status == 404 && reply.json == ["code": 101, "error": "Invalid username/password."])
        #expect(secrets.count == before + 1)
    }

    @Test func namesAndAddressesAreUniqueRegardlessOfCase() async throws {
        let server = try TestServer.withUsers()
        let person = try await server.signUp("Zoë", ["email": "zoe@example.org"])
        let other = try await server.signUp("other")
        for (name, code) in [("zoë", 202), ("ZOË", 202), ("zoe\u{308}", 202)] as [(String, Int64)] {
            let reply = try await server.send(
                "POST", "/users", ["username": .string(name), "password": "x"], isMaster: false)
            #expect(reply.code == code, "\(name): \(reply.json)")
        }
        let reply = try await server.send(
            "POST", "/users", ["username": "new", "password": "x", "email": "ZOE@example.org"], isMaster: false)
        #expect(reply.code == 203, "\(reply.json)")
        #expect(try await server.send(as: other, "PUT", "/users/\(other.id)", ["username": "ZOË"]).code == 202)
        #expect(try await server.send(as: other, "PUT", "/users/\(other.id)", ["email": "Zoe@example.org"]).code == 203)
        #expect(try await server.send(as: person, "PUT", "/users/\(person.id)", ["username": "ZOË"]).status == 200)
        #expect(try await server.send("GET", "/users?count=1&limit=0")["count"] == 2)
    }

    @Test(
        arguments: [
            (["password": "x"], 200), (["username": "", "password": "x"], 200), (["username": "a"], 201),
            (["username": "a", "password": ""], 201), (["username": 5, "password": "x"], 111),
            (["username": "a", "password": 5], 111), (["username": "a", "password": "x", "email": "nowhere"], 125),
            (["username": "a", "password": "x", "email": "a<b@example.org>"], 125),
            (["username": "a", "password": "x", "authData": ["facebook": ["id": "12345678"]]], 252),
            (["username": "a", "password": "x", "authData": "y"], 252), (["authData": [:]], 200),
            (["authData": ["anonymous": ["id": ""]]], 252), (["username": "a", "password": "x", "ACL": 5], 123),
            (["username": "a", "password": "x", "_password": "y"], 105),
            (["username": "a", "password": "x", "authData.anonymous": ["id": "12345678"]], 105),
            (["username": "a", "password": "x", "email.x": "y"], 105),
            (["username": "a", "password": "x", "sessionToken.a": "y"], 105),
        ] as [(JSONValue, Int64)])
    func invalidSignUpsAreRefused(body: JSONValue, code: Int64) async throws {
        let server = try TestServer.withUsers()
        let reply = try await server.send("POST", "/users", body, isMaster: false)
        #expect(reply.code == code, "\(body): \(reply.json)")
        #expect(try await server.send("GET", "/users?count=1&limit=0")["count"] == 0, "\(body)")
    }

    @Test func theReplyAboutAUserCanBeSentBack() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp(
            "mei", ["email": "mei@example.org", "sessionToken": "x", "emailVerified": true])
        var me = try #require(try await server.send(as: mei, "GET", "/users/me").json.object)
        #expect(me["emailVerified"] == false && me["sessionToken"]?.string == mei.token)
        me["sessionToken"] = "x"
        me["emailVerified"] = true
        me["age"] = 30
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", .object(me)).status == 200)
        let after = try await server.send(as: mei, "GET", "/users/me")
        try await server.send("PUT", "/users/\(mei.id)", ["emailVerified": true])
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["email": "MEI@example.org"]).status == 200)
        #expect(try await server.send(as: mei, "GET", "/users/me")["emailVerified"] == true)
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["email": "new@example.org"]).status == 200)
        #expect(try await server.send(as: mei, "GET", "/users/me")["emailVerified"] == false)
        #expect(after["age"] == 30 && after["emailVerified"] == false && after["sessionToken"]?.string == mei.token)
    }

    @Test func onlyOneOfSeveralConcurrentSignUpsWithANameSucceeds() async throws {
        let server = try TestServer.withUsers()
        let codes = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    let reply = try await server.send(
                        "POST", "/users", ["username": "mei", "password": "x"], isMaster: false)
                    return reply.code ?? Int64(reply.status)
                }
            }
            return try await group.reduce(into: [Int64]()) { $0.append($1) }
        }
        #expect(codes.sorted() == [201] + Array(repeating: 202, count: 9))
        #expect(try await server.send("GET", "/users?count=1&limit=0")["count"] == 1)
    }

    @Test func aUserIsHiddenFromOthers() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei", ["email": "mei@example.org"])
        let sam = try await server.signUp("sam")
        for stranger in [sam, nil] {
            #expect(try await server.send(as: stranger, "GET", "/users/\(mei.id)").code == 101)
            #expect(try await server.send(as: stranger, "PUT", "/users/\(mei.id)", ["age": 5]).code == 206)
            #expect(try await server.send(as: stranger, "DELETE", "/users/\(mei.id)").code == 206)
            let found = try await server.send(as: stranger, "GET", "/users").results.compactMap {
                $0["objectId"]?.string
            }
            #expect(found == (stranger.map { [$0.id] } ?? []))
        }
        #expect(try await server.send(as: mei, "GET", "/users/\(mei.id)")["email"] == "mei@example.org")
        #expect(try await server.send("GET", "/users/\(mei.id)")["email"] == "mei@example.org")
    }

    @Test func theAddressOfAVisibleUserIsHidden() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei", ["email": "mei@example.org", "ACL": acl(read: ["*"])])
        let sam = try await server.signUp("sam")
        let seen = try await server.send(as: sam, "GET", "/users/\(mei.id)")
        #expect(seen["username"] == "mei" && seen["email"] == nil, "\(seen.json)")
        for condition in ["%7B%22email%22:%22mei@example.org%22%7D", "%7B%22email%22:%7B%22$exists%22:true%7D%7D"] {
            let found = try await server.send(as: sam, "GET", "/users?where=\(condition)")
            #expect(found.results.isEmpty, "\(found.json)")
            #expect(try await server.send("GET", "/users?where=\(condition)").results.count == 1)
        }
        let note = try await server.create("Note", ["owner": pointer("_User", mei.id)])
        let included = try await server.send(as: sam, "GET", "/classes/Note/\(note)?include=owner")
        #expect(included["owner"]?["username"] == "mei" && included["owner"]?["email"] == nil, "\(included.json)")
        let ordered = try await server.send(as: sam, "GET", "/users?order=email&keys=email")
        #expect(ordered.results.allSatisfy { $0["email"] == nil })
    }

    @Test func aNewPasswordEndsOtherSessions() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        let login = try await server.send(
            "POST", "/login", ["username": "mei", "password": "secret of mei"], isMaster: false)
        let second = TestServer.Person(id: mei.id, token: try #require(login["sessionToken"]?.string))
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["password": "new"]).status == 200)
        #expect(try await server.send(as: mei, "GET", "/users/me").status == 200)
        #expect(try await server.send(as: second, "GET", "/users/me").code == 209)
        for (password, status) in [("secret of mei", 404), ("new", 200)] {
            let reply = try await server.send(
                "POST", "/login", ["username": "mei", "password": .string(password)], isMaster: false)
            #expect(reply.status == status)
        }
    }

    @Test func anAnonymousUserSignsInAgain() async throws {
        let server = try TestServer.withUsers()
        let body: JSONValue = ["authData": ["anonymous": ["id": "3f1c0a9e-device"]]]
        let first = try await server.send("POST", "/users", body, isMaster: false)
        #expect(first.status == 201, "\(first.json)")
        let again = try await server.send("POST", "/users", body, isMaster: false)
        #expect(again.status == 200 && again["objectId"] == first["objectId"], "\(again.json)")
        #expect(again["sessionToken"] != first["sessionToken"])
        let person = TestServer.Person(
            id: try #require(first["objectId"]?.string), token: try #require(first["sessionToken"]?.string))
        let upgrade = try await server.send(
            as: person, "PUT", "/users/\(person.id)",
            ["username": "mei", "password": "secret", "authData": ["anonymous": .null]])
        #expect(upgrade.status == 200, "\(upgrade.json)")
        #expect(try await server.send(as: person, "GET", "/users/me")["authData"] == nil)
        let login = try await server.send("POST", "/login", ["username": "mei", "password": "secret"], isMaster: false)
        #expect(login["objectId"]?.string == person.id)
        #expect(try await server.send("POST", "/users", body, isMaster: false)["objectId"]?.string != person.id)
    }

    @Test func theMasterKeySignsInAsAnybody() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        #expect(try await server.send(as: mei, "POST", "/loginAs", ["userId": .string(mei.id)]).status == 403)
        let reply = try await server.send("POST", "/loginAs", ["userId": .string(mei.id)])
        #expect(reply["objectId"]?.string == mei.id && reply["sessionToken"] != nil, "\(reply.json)")
        #expect(try await server.send("POST", "/loginAs", ["userId": "nobody"]).code == 101)
    }

    @Test func deletingAUserDeletesTheSessions() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        let note = try await server.create("Note", ["owner": pointer("_User", mei.id)])
        #expect(try await server.send(as: mei, "DELETE", "/users/\(mei.id)").status == 200)
        #expect(try await server.send(as: mei, "GET", "/users/me").code == 209)
        #expect(try await server.get("Note", note)["owner"] == nil)
        #expect(try await server.send("GET", "/sessions?count=1&limit=0")["count"] == 0)
        _ = try await server.signUp("mei")
    }

    @Test func usersAreWrittenOnlyAtTheirOwnPaths() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        for (method, path) in [
            ("POST", "/parse/classes/_User"), ("PUT", "/parse/classes/_User/\(mei.id)"),
            ("DELETE", "/parse/classes/_User/\(mei.id)"), ("POST", "/parse/classes/_Session"),
        ] {
            let body: JSONValue = method == "DELETE" ? [:] : ["username": "x"]
            let reply = try await server.send(
                as: mei, "POST", "/batch",
                ["requests": [["method": .string(method), "path": .string(path), "body": body]]])
            #expect(reply.json.array?.first?["error"]?["code"] == 119, "\(reply.json)")
        }
        #expect(try await server.send(as: mei, "POST", "/sessions", ["user": pointer("_User", mei.id)]).code == 119)
        for name in ["_AccessList", "_AccessEntry", "_Password"] {
            #expect(try await server.send("GET", "/classes/\(name)").code == 119)
            #expect(try await server.send("GET", "/schemas/\(name)").code == 119)
        }
        let own = try await server.send(as: mei, "PUT", "/classes/_User/\(mei.id)", ["username": "Mei"])
        #expect(own.status == 200, "\(own.json)")
    }

    @Test func theSchemaShowsUsersAsParseDoes() async throws {
        let server = try TestServer.withUsers()
        _ = try await server.signUp("mei")
        let names = try await server.send("GET", "/schemas").results.compactMap { $0["className"]?.string }
        #expect(Set(names) == ["_User", "_Session", "_Role"])
        let user = try await server.send("GET", "/schemas/_User")
        #expect(
            Set(user["fields"]?.object?.keys.map(\.self) ?? []) == [
                "objectId", "createdAt", "updatedAt", "ACL", "username", "email", "emailVerified", "authData",
            ])
        #expect(user["fields"]?["ACL"] == ["type": "ACL"])
        #expect(try await server.send("DELETE", "/schemas/_User").status == 400)
        let gone = try await server.send("PUT", "/schemas/_User", ["fields": ["username": ["__op": "Delete"]]])
        #expect(gone.code == 136, "\(gone.json)")
        let added = try await server.send("PUT", "/schemas/_User", ["fields": ["age": ["type": "Number"]]])
        #expect(added.status == 200, "\(added.json)")
    }
}
