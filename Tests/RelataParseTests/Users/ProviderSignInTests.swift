import RelataParse
import TestEngines
import Testing

/// Signing up and in through other services.
@Suite(.onEveryEngine) struct ProviderSignInTests {
    @Test(arguments: [ParseStore.Mode.development, .production])
    func aVerifiedIdentitySignsInTheSameUserAgain(mode: ParseStore.Mode) async throws {
        let (server, provider) = try TestServer.withProviders(mode: mode)
        let first = try await server.signIn(["forum": vouched("mei")])
        #expect(first.status == 201 && first["username"] == first["objectId"], "\(first.json)")
        let again = try await server.signIn(["forum": vouched("mei")])
        #expect(again.status == 200 && again["objectId"] == first["objectId"], "\(again.json)")
        #expect(again["sessionToken"] != nil && again["sessionToken"] != first["sessionToken"])
        // The data that proved the identity isn't stored.
        #expect(again["authData"] == ["forum": ["id": "mei"]])
        #expect(provider.asked == 2)
        let sessions = try await server.send("GET", "/sessions?order=createdAt").results.map { $0["createdWith"] }
        #expect(
            sessions == [
                ["action": "signup", "authProvider": "forum"], ["action": "login", "authProvider": "forum"],
            ])
        #expect(try await server.countOfUsers() == 1)
    }

    @Test func theIDCanComeFromTheServiceAlone() async throws {
        let (server, _) = try TestServer.withProviders()
        let first = try await server.person(["forum": ["token": "token of mei"]])
        #expect(try await server.person(["forum": vouched("mei")]).id == first.id)
    }

    @Test(
        arguments: [
            ([:], 200), (["forum": [:]], 200), (["forum": .null], 200), (["anonymous": [:]], 200),
            (["forum": ["id": "mei"]], 101), (["forum": ["id": "mei", "token": "wrong"]], 101),
            (["forum": ["id": "mei", "token": .null]], 101), (["forum": ["id": "mei", "token": ["$ne": ""]]], 101),
            (["forum": ["id": "sam", "token": "token of mei"]], 101), (["forum": ["token": "token of "]], 141),
            (["forum": ["id": "me\u{301}i", "token": "token of m\u{E9}i"]], 101),
            (["forum": ["id": ["$ne": .null], "token": "token of mei"]], 252),
            (["forum": ["id": ["$regex": ".*"], "token": "token of mei"]], 252),
            (["forum": ["id": 5, "token": "token of 5"]], 252), (["forum": ["id": "", "token": "token of "]], 252),
            (["forum": ["id": .null, "token": "token of mei"]], 252), (["forum": "mei"], 252),
            (["forum": ["mei"]], 252),
            (["facebook": vouched("mei")], 252), (["forum": vouched("mei"), "facebook": vouched("mei")], 252),
            (["forum": vouched("mei"), "facebook": [:]], 252), (["forum": vouched("mei"), "shop": ["id": "mei"]], 101),
            (["Forum": vouched("mei")], 252), (["forum.id": vouched("mei")], 252), (["": vouched("mei")], 252),
            (["$or": [["forum": vouched("mei")]]], 252), (["forum ": vouched("mei")], 252),
            (["__op": "Delete"], 252), (["constructor": vouched("mei")], 105), (["__proto__": vouched("mei")], 105),
            (["forum": ["id": "mei", "token": "token of mei", "more": ["_bsontype": "Code"]]], 105),
            (["anonymous": ["id": "device of mei"], "forum": ["id": "mei"]], 101),
        ] as [(JSONValue, Int64)])
    func unverifiedDataSignsNobodyUp(authData: JSONValue, code: Int64) async throws {
        let (server, _) = try TestServer.withProviders()
        let reply = try await server.signIn(authData)
        #expect(reply.code == code, "\(authData): \(reply.json)")
        // If the data claims anything, a name and a password don't help either.
        let named = try await server.signIn(authData, ["username": "mei", "password": "secret"])
        let isSilent = [[:], ["forum": .null]].contains(authData)
        let withName = code == 200 ? 252 : code
        #expect(isSilent ? named.status == 201 : named.code == withName, "\(authData): \(named.json)")
        #expect(try await server.countOfUsers() == (isSilent ? 1 : 0))
        if isSilent { #expect(try await server.logIn("mei", "secret")["authData"] == nil) }
    }

    @Test func aServiceIsAskedEachTime() async throws {
        let (server, provider) = try TestServer.withProviders()
        _ = try await server.person(["forum": vouched("mei")])
        for authData: JSONValue in [
            ["forum": ["id": "mei"]], ["forum": ["id": "mei", "token": "old"]],
            ["forum": vouched("mei"), "shop": ["id": "x", "token": "old"]],
        ] {
            let reply = try await server.signIn(authData)
            #expect(reply.code == 101 && reply["sessionToken"] == nil, "\(reply.json)")
        }
        #expect(provider.asked == 5)
        #expect(try await server.send("GET", "/sessions?count=1&limit=0")["count"] == 1)
    }

    @Test func anIDOfOneServiceIsNotValidForAnother() async throws {
        let (server, _) = try TestServer.withProviders()
        let mei = try await server.person(["forum": vouched("12345678")])
        let other = try await server.person(["shop": vouched("12345678")])
        let third = try await server.person(["anonymous": ["id": "12345678"]])
        #expect(Set([mei.id, other.id, third.id]).count == 3)
    }

    @Test func concurrentSignUpsCreateOneUser() async throws {
        let (server, _) = try TestServer.withProviders()
        let replies = try await withThrowingTaskGroup(of: TestServer.Reply.self) { group in
            for _ in 0..<8 {
                group.addTask { try await server.signIn(["forum": vouched("mei"), "shop": vouched("7")]) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.count { $0.status == 201 } == 1 && replies.count { $0.status == 200 } == 7)
        #expect(Set(replies.map { $0["objectId"] }).count == 1)
        #expect(Set(replies.map { $0["sessionToken"] }).count == 8)
        #expect(try await server.countOfUsers() == 1)
    }

    /// A person who signed up with another's address gets no access to the owner's account at a service.
    @Test func anEqualAddressDoesNotJoinTwoAccounts() async throws {
        let (server, _) = try TestServer.withProviders()
        let thief = try await server.signUpWithAddress("mei")
        let claims: JSONValue = [
            "id": "mei", "token": "token of mei", "email": "mei@example.org", "email_verified": true,
        ]
        let taken = try await server.signIn(["forum": claims], ["email": "mei@example.org"])
        #expect(taken.code == 203, "\(taken.json)")
        let owner = try await server.person(["forum": claims])
        #expect(owner.id != thief.id)
        #expect(try await server.send(as: owner, "GET", "/users/me")["email"] == nil)
        #expect(try await server.send(as: thief, "GET", "/users/me")["authData"] == nil)
    }

    @Test func aNewPasswordByMailRemovesLinksOfOtherPeople() async throws {
        let provider = TestProvider()
        let (server, mails) = try TestServer.withMail { $0.signIn = [provider.named("forum")] }
        let thief = try await server.signIn(["forum": vouched("thief")], ["email": "mei@example.org"])
        #expect(thief.status == 201, "\(thief.json)")
        try await server.requestMail("mei@example.org")
        #expect(try await server.setPassword("of mei", by: try await mails.next().token).status == 200)
        let back = try await server.signIn(["forum": vouched("thief")])
        #expect(back.status == 201 && back["objectId"] != thief["objectId"], "\(back.json)")
    }

    @Test func aServiceSignsInWithoutAVerifiedAddress() async throws {
        let provider = TestProvider()
        let (server, _) = try TestServer.withMail { options in
            options.signIn = [provider.named("forum")]
            options.mail?.verifiesAddresses = true
            options.mail?.needsVerifiedAddress = true
        }
        for status in [201, 200] {
            let reply = try await server.signIn(["forum": vouched("mei")])
            #expect(reply.status == status && reply["sessionToken"] != nil, "\(reply.json)")
        }
    }

    @Test func aServiceThatCannotBeReachedCreatesNoUser() async throws {
        struct Broken: Error { let path = "/secret/path" }
        let (server, provider) = try TestServer.withProviders()
        provider.fail(with: SignInError("keys.example.org:443 can't be reached", isTemporary: true))
        let away = try await server.signIn(["forum": vouched("mei")])
        #expect(away.status == 503)
        #expect(away.json == ["code": 124, "error": "forum can't be reached at the moment: try again later"])
        provider.fail(with: Broken())
        let broken = try await server.signIn(["forum": vouched("mei")])
        #expect(broken.status == 500)
        #expect(broken.json == ["code": 141, "error": "forum: signing in failed: the server's log says why"])
        provider.fail(with: ParseError(.validationError, "members only"))
        #expect(try await server.signIn(["forum": vouched("mei")]).json == ["code": 142, "error": "members only"])
        #expect(try await server.countOfUsers() == 0)
        provider.fail(with: nil)
        #expect(try await server.signIn(["forum": vouched("mei")]).status == 201)
    }

    @Test func theIdentityOfADeletedUserMakesANewOne() async throws {
        let (server, _) = try TestServer.withProviders()
        let mei = try await server.person(["forum": vouched("mei")])
        #expect(try await server.send(as: mei, "DELETE", "/users/\(mei.id)").status == 200)
        let again = try await server.signIn(["forum": vouched("mei")])
        #expect(again.status == 201 && again["objectId"]?.string != mei.id, "\(again.json)")
    }

    @Test(arguments: [
        (["a.b"], "no provider can be called a.b"), ([""], "no provider can be called "),
        (["anonymous"], "another name than anonymous"), (["forum", "shop", "forum"], "two providers are called forum"),
    ])
    func invalidNamesOfProvidersAreRefused(names: [String], message: String) {
        let provider = TestProvider()
        #expect {
            try SignInProvider.check(names.map(provider.named))
        } throws: {
            "\($0)".contains(message)
        }
        #expect(throws: Never.self) { try SignInProvider.check(["forum", "shop"].map(provider.named)) }
    }
}
