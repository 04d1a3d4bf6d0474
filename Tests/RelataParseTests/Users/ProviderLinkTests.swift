import RelataParse
import TestEngines
import Testing

/// The identities of existing users.
@Suite(.onEveryEngine) struct ProviderLinkTests {
    @Test func aUserCanHaveIdentitiesOfSeveralServices() async throws {
        let (server, _) = try TestServer.withProviders()
        let mei = try await server.signUp("mei")
        for provider in ["forum", "shop"] {
            let reply = try await server.send(
                as: mei, "PUT", "/users/\(mei.id)", ["authData": [provider: vouched("mei at \(provider)")]])
            #expect(reply.status == 200 && reply["authData"] == nil, "\(reply.json)")
        }
        let me = try await server.send(as: mei, "GET", "/users/me")
        #expect(me["authData"] == ["forum": ["id": "mei at forum"], "shop": ["id": "mei at shop"]])
        for provider in ["forum", "shop"] {
            #expect(try await server.person([provider: vouched("mei at \(provider)")]).id == mei.id)
        }
        #expect(try await server.logIn("mei", "secret of mei")["objectId"]?.string == mei.id)
    }

    @Test func theIdentityOfAnotherUserCannotBeLinked() async throws {
        let (server, provider) = try TestServer.withProviders()
        let mei = try await server.person(["forum": vouched("mei")])
        let sam = try await server.signUp("sam")
        let taken = try await server.send(
            as: sam, "PUT", "/users/\(sam.id)", ["authData": ["forum": vouched("mei")]])
        #expect(taken.json == ["code": 208, "error": "this auth is already used"])
        let unproven = try await server.send(
            as: sam, "PUT", "/users/\(sam.id)", ["authData": ["forum": ["id": "mei"]]])
        #expect(unproven.code == 101, "\(unproven.json)")
        let asked = provider.asked
        let foreign = try await server.send(
            as: sam, "PUT", "/users/\(mei.id)", ["authData": ["shop": vouched("sam")]])
        #expect(foreign.code == 206 && provider.asked == asked, "\(foreign.json)")
        #expect(try await server.send(as: sam, "GET", "/users/me")["authData"] == nil)
        #expect(try await server.person(["forum": vouched("mei")]).id == mei.id)
    }

    @Test func theMasterKeyCannotLinkWithoutTheService() async throws {
        let (server, _) = try TestServer.withProviders()
        let mei = try await server.signUp("mei")
        let refused = try await server.send("PUT", "/users/\(mei.id)", ["authData": ["forum": ["id": "mei"]]])
        #expect(refused.code == 101, "\(refused.json)")
        let linked = try await server.send("PUT", "/users/\(mei.id)", ["authData": ["forum": vouched("mei")]])
        #expect(linked.status == 200, "\(linked.json)")
        #expect(try await server.send("GET", "/users/\(mei.id)")["authData"] == ["forum": ["id": "mei"]])
        let gone = try await server.send("PUT", "/users/\(mei.id)", ["authData": ["forum": .null]])
        #expect(gone.status == 200, "\(gone.json)")
        #expect(try await server.send("GET", "/users/\(mei.id)")["authData"] == nil)
    }

    @Test func aRemovedIdentityNoLongerSignsIn() async throws {
        let (server, _) = try TestServer.withProviders()
        let mei = try await server.person(["forum": vouched("mei"), "shop": vouched("7")])
        let reply = try await server.send(
            as: mei, "PUT", "/users/\(mei.id)", ["authData": ["forum": .null, "facebook": .null]])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(try await server.send(as: mei, "GET", "/users/me")["authData"] == ["shop": ["id": "7"]])
        let other = try await server.person(["forum": vouched("mei")])
        #expect(other.id != mei.id)
        #expect(try await server.person(["shop": vouched("7")]).id == mei.id)
        let taken = try await server.send(
            as: mei, "PUT", "/users/\(mei.id)", ["authData": ["forum": vouched("mei")]])
        #expect(taken.code == 208, "\(taken.json)")
    }

    @Test func anotherIDOfTheSameServiceReplacesTheFirst() async throws {
        let (server, _) = try TestServer.withProviders()
        let mei = try await server.person(["forum": vouched("old")])
        let reply = try await server.send(
            as: mei, "PUT", "/users/\(mei.id)", ["authData": ["forum": vouched("new")]])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(try await server.person(["forum": vouched("new")]).id == mei.id)
        #expect(try await server.person(["forum": vouched("old")]).id != mei.id)
    }

    @Test func anAnonymousUserBecomesAnAccountOfAService() async throws {
        let (server, _) = try TestServer.withProviders()
        let device: JSONValue = ["anonymous": ["id": "device of mei"]]
        let mei = try await server.person(device)
        let linked = try await server.send(
            as: mei, "PUT", "/users/\(mei.id)", ["authData": ["forum": vouched("mei")]])
        #expect(linked.status == 200, "\(linked.json)")
        // Until it is removed, the device's identity stays valid.
        #expect(try await server.person(device).id == mei.id)
        let upgraded = try await server.send(
            as: mei, "PUT", "/users/\(mei.id)", ["authData": ["forum": vouched("mei"), "anonymous": .null]])
        #expect(upgraded.status == 200, "\(upgraded.json)")
        #expect(try await server.send(as: mei, "GET", "/users/me")["authData"] == ["forum": ["id": "mei"]])
        #expect(try await server.person(["forum": vouched("mei")]).id == mei.id)
        #expect(try await server.person(device).id != mei.id)
    }

    @Test func authDataCanBeSentBackUnchanged() async throws {
        let (server, provider) = try TestServer.withProviders()
        let mei = try await server.person(["forum": vouched("mei")])
        let me = try await server.send(as: mei, "GET", "/users/me")
        let asked = provider.asked
        let reply = try await server.send(as: mei, "PUT", "/users/\(mei.id)", me.json)
        #expect(reply.status == 200 && provider.asked == asked, "\(reply.json)")
        #expect(try await server.send(as: mei, "GET", "/users/me")["authData"] == ["forum": ["id": "mei"]])
        let other = try await server.send(
            as: mei, "PUT", "/users/\(mei.id)", ["authData": ["forum": ["id": "sam"]]])
        #expect(other.code == 101, "\(other.json)")
    }

    @Test func signingInThroughTwoServicesLinksBoth() async throws {
        let (server, _) = try TestServer.withProviders()
        let mei = try await server.person(["forum": vouched("mei")])
        #expect(try await server.person(["forum": vouched("mei"), "shop": vouched("7")]).id == mei.id)
        #expect(try await server.person(["shop": vouched("7")]).id == mei.id)
        _ = try await server.person(["shop": vouched("8")])
        let torn = try await server.signIn(["forum": vouched("mei"), "shop": vouched("8")])
        #expect(torn.code == 208 && torn["sessionToken"] == nil, "\(torn.json)")
    }

    @Test func onlyOneOfSeveralConcurrentLinksOfAnIDSucceeds() async throws {
        let (server, _) = try TestServer.withProviders()
        _ = try await server.person(["shop": vouched("nobody")])
        let people = [try await server.signUp("mei"), try await server.signUp("sam"), try await server.signUp("eve")]
        let replies = try await withThrowingTaskGroup(of: TestServer.Reply.self) { group in
            for person in people {
                group.addTask {
                    try await server.send(
                        as: person, "PUT", "/users/\(person.id)", ["authData": ["forum": vouched("one")]])
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.count { $0.status == 200 } == 1 && replies.count { $0.code == 208 } == 2)
        let owner = try await server.person(["forum": vouched("one")])
        for person in people {
            let authData = try await server.send(as: person, "GET", "/users/me")["authData"]
            #expect(authData == (person.id == owner.id ? ["forum": ["id": "one"]] : nil))
        }
    }

    @Test func identitiesAreHiddenFromOtherUsers() async throws {
        let (server, _) = try TestServer.withProviders()
        let mei = try await server.person(["forum": vouched("mei")])
        let open = try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["ACL": acl(read: ["*"], write: [mei.id])])
        #expect(open.status == 200, "\(open.json)")
        let note = try await server.create("Note", ["owner": pointer("_User", mei.id)])
        for person in [nil, try await server.signUp("sam")] as [TestServer.Person?] {
            for path in [
                "/users", "/users/\(mei.id)", "/users/\(mei.id)?keys=authData", "/users?keys=authData.forum",
                "/classes/_User", "/classes/Note/\(note)?include=owner", "/classes/Note?include=owner",
                "/users?where=%7B%22objectId%22:%22\(mei.id)%22%7D",
            ] {
                let reply = try await server.send(as: person, "GET", path)
                #expect(reply.status == 200 && "\(reply.json)".contains(mei.id), "\(path): \(reply.json)")
                #expect(!"\(reply.json)".contains("forum"), "\(path): \(reply.json)")
            }
            for condition in [
                "%7B%22authData.forum.id%22:%22mei%22%7D", "%7B%22authData%22:%7B%22$exists%22:true%7D%7D",
                "%7B%22_auth_data_forum.id%22:%22mei%22%7D", "%7B%22authData.forum.id%22:%7B%22$regex%22:%22.%22%7D%7D",
            ] {
                let reply = try await server.send(as: person, "GET", "/users?where=\(condition)")
                #expect(reply.results.isEmpty, "\(condition): \(reply.json)")
            }
            #expect(try await server.send("GET", "/classes/_UserIdentity").code == 119)
        }
        #expect(try await server.send("GET", "/schemas").results.count == 4)
    }
}
