import RelataParse
import TestEngines
import Testing

/// An app's hooks when users sign in and out.
@Suite(.onEveryEngine) struct LoginHookTests {
    private let told = ToldLines()

    private func server() throws -> TestServer {
        let told = told
        return try TestServer.withUsers { options in
            options.code.beforeLogin { user, call in
                if user["isBanned"] == true { throw ParseError(.objectNotFound, "you are banned") }
                told.add(
                    "before \(user["username"]?.string ?? "") \(call.parameters.count) \(call.context["from"]?.string ?? "")"
                )
            }
            options.code.afterLogin { user, _ in told.add("after \(user["username"]?.string ?? "")") }
            options.code.afterLogout { call in told.add("out \(call.user?["username"]?.string ?? "")") }
        }
    }

    @Test func hooksRunWhenUsersSignInAndOut() async throws {
        let server = try server()
        let mei = try await server.signUp("mei")
        #expect(told.all == [])
        let body: JSONValue = ["username": "mei", "password": "secret of mei", "_context": ["from": "app"]]
        let login = try await server.send("POST", "/login", body, isMaster: false)
        #expect(login["sessionToken"] != nil)
        #expect(told.all == ["before mei 0 app", "after mei"])
        _ = try await server.send("POST", "/login", ["username": "mei", "password": "wrong"], isMaster: false)
        #expect(told.all.count == 2)
        #expect(try await server.send(as: mei, "POST", "/logout", [:]).status == 200)
        #expect(try await server.send(as: nil, "POST", "/logout", [:]).status == 200)
        #expect(told.all.dropFirst(2) == ["out mei"])
        #expect(try await server.send(as: mei, "POST", "/logout", [:]).code == 209)
        #expect(told.all.count == 3)
    }

    @Test func aHookCanRefuseASignIn() async throws {
        let server = try server()
        _ = try await server.signUp("sam", ["isBanned": true])
        let sessions = try await server.send("GET", "/sessions").results.count
        let reply = try await server.send(
            "POST", "/login", ["username": "sam", "password": "secret of sam"], isMaster: false)
        #expect(reply.json == ["code": 101, "error": "you are banned"])
        #expect(try await server.send("GET", "/sessions").results.count == sessions)
        #expect(told.all == [])
    }

    @Test func hooksRunWhenAnAnonymousUserReturns() async throws {
        let server = try server()
        let body: JSONValue = ["authData": ["anonymous": ["id": "12345678"]]]
        #expect(try await server.send("POST", "/users", body, isMaster: false).status == 201)
        #expect(told.all == [])
        let again = try await server.send("POST", "/users", body, isMaster: false)
        #expect(again["sessionToken"] != nil && told.all.count == 2, "\(again.json)")
    }

    @Test func aHookCanPreventAMailForANewPassword() async throws {
        let (server, mails) = try TestServer.withMail { options in
            options.code.beforePasswordResetRequest { user in
                if user["isBanned"] == true { throw ParseError(.objectNotFound, "no") }
                // Errors other than Parse's are hidden from the client, too.
                if user["isBroken"] == true { throw CancellationError() }
            }
        }
        _ = try await server.signUpWithAddress("sam", ["isBanned": true])
        _ = try await server.signUpWithAddress("kim", ["isBroken": true])
        _ = try await server.signUpWithAddress("mei")
        for name in ["sam", "kim", "nobody", "mei"] {
            #expect(try await server.requestMail("\(name)@example.org").json == [:])
        }
        // Mails are sent one after another.
        #expect(try await mails.next().address == "mei@example.org")
        #expect(mails.count == 1)
    }
}
