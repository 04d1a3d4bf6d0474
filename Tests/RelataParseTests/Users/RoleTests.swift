import RelataParse
import TestEngines
import Testing

/// Roles, and the rights that they give to users.
@Suite(.onEveryEngine) struct RoleTests {
    private let server: TestServer
    private let mei, sam: TestServer.Person

    init() async throws { (server, mei, sam) = try await TestServer.withTwoUsers() }

    @Test func membersOfARoleHaveTheRightsOfTheRole() async throws {
        _ = try await server.makeRole("Editors", users: [mei])
        _ = try await server.create(
            "Note", ["title": "edited", "ACL": acl(read: ["role:Editors"], write: ["role:Editors"])])
        #expect(try await server.titles(as: mei, "Note") == ["edited"])
        #expect(try await server.titles(as: sam, "Note") == [])
        #expect(try await server.titles(as: nil, "Note") == [])
    }

    @Test func rolesInheritRightsEvenInACircle() async throws {
        let inner = try await server.makeRole("Inner", users: [mei])
        let middle = try await server.makeRole("Middle", roles: [inner])
        let outer = try await server.makeRole("Outer", roles: [middle])
        try await server.send(
            "PUT", "/roles/\(inner)", ["roles": ["__op": "AddRelation", "objects": [pointer("_Role", outer)]]])
        let id = try await server.create("Note", ["title": "a", "ACL": acl(read: ["role:Outer"])])
        _ = try await server.create("Note", ["title": "b", "ACL": acl(read: ["role:Inner"])])
        #expect(try await server.titles(as: mei, "Note") == ["a", "b"])
        #expect(try await server.titles(as: sam, "Note") == [])
        try await server.send(
            "PUT", "/roles/\(outer)", ["users": ["__op": "AddRelation", "objects": [pointer("_User", sam.id)]]])
        // In the cycle, a member of one of the three roles has all of them.
        #expect(try await server.titles(as: sam, "Note") == ["a", "b"])
        try await server.send(
            "PUT", "/roles/\(inner)", ["roles": ["__op": "RemoveRelation", "objects": [pointer("_Role", outer)]]])
        #expect(try await server.titles(as: sam, "Note") == ["a"])
        #expect(try await server.send("DELETE", "/roles/\(outer)").status == 200)
        #expect(try await server.titles(as: sam, "Note") == [])
        #expect(try await server.send("GET", "/classes/Note/\(id)").status == 200)
    }

    @Test func joiningARoleNeedsWriteAccessToIt() async throws {
        let id = try await server.makeRole("Editors", users: [mei])
        for person in [sam, nil] {
            let reply = try await server.send(
                as: person, "PUT", "/roles/\(id)",
                ["users": ["__op": "AddRelation", "objects": [pointer("_User", sam.id)]]])
            #expect(reply.code == 101, "\(reply.json)")
            #expect(try await server.send(as: person, "DELETE", "/roles/\(id)").code == 101)
        }
        #expect(try await server.send(as: sam, "GET", "/roles/\(id)")["name"] == "Editors")
    }

    @Test func aRoleWithoutAListIsChangedWithTheMasterKeyOnly() async throws {
        let reply = try await server.send(as: mei, "POST", "/roles", ["name": "Staff"])
        let id = try #require(reply["objectId"]?.string, "\(reply.json)")
        let join: JSONValue = ["users": ["__op": "AddRelation", "objects": [pointer("_User", mei.id)]]]
        #expect(try await server.send(as: mei, "PUT", "/roles/\(id)", join).code == 101)
        #expect(try await server.send(as: sam, "GET", "/roles/\(id)")["ACL"] == acl(read: ["*"]))
        #expect(try await server.send("PUT", "/roles/\(id)", join).status == 200)
    }

    @Test func theNameOfARoleIsUniqueAndNeverChanges() async throws {
        let id = try await server.makeRole("Editors")
        #expect(try await server.send("POST", "/roles", ["name": "Editors"]).code == 137)
        #expect(try await server.send("PUT", "/roles/\(id)", ["name": "Others"]).code == 139)
        for name: JSONValue in ["", "a:b", "é", 5, .null] {
            let reply = try await server.send("POST", "/roles", ["name": name])
            #expect(reply.status == 400 && [139, 111].contains(reply.code ?? 0), "\(name): \(reply.json)")
        }
        #expect(try await server.send("POST", "/roles", [:]).code == 139)
        // Several objects in a batch are written in another way.
        let batch = try await server.send(
            "POST", "/batch",
            [
                "requests": [
                    ["method": "POST", "path": "/parse/classes/_Role", "body": ["name": "a:b"]],
                    ["method": "POST", "path": "/parse/classes/_Role", "body": ["name": "a:c"]],
                ]
            ])
        #expect(batch.json.array?.allSatisfy { $0["error"]?["code"] == 139 } == true, "\(batch.json)")
    }

    @Test func inProductionNewRolesNeedTheMasterKey() async throws {
        let server = try TestServer.withUsers(mode: .production)
        let mei = try await server.signUp("mei")
        #expect(try await server.send(as: mei, "POST", "/roles", ["name": "Admin"]).code == 119)
        #expect(try await server.send("POST", "/roles", ["name": "Admin"]).status == 201)
    }
}
