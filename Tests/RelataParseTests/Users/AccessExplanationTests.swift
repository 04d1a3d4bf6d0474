import RelataParse
import TestEngines
import Testing

/// Explanations name the deciding rule, and agree with the server's replies.
@Suite(.onEveryEngine) struct AccessExplanationTests {
    private let server: TestServer
    private let mei, sam: TestServer.Person

    init() async throws { (server, mei, sam) = try await TestServer.withTwoUsers() }

    private func outcomes(
        _ subject: AccessSubject, _ className: String, _ id: String? = nil
    ) async throws -> [String: String] {
        let explanation = try await server.store.explainAccess(of: subject, to: className, id)
        return Dictionary(
            uniqueKeysWithValues: explanation.verdicts.map { ($0.operation, "\($0.outcome): \($0.reason)") })
    }

    @Test func explanationsNameTheListOfAnObject() async throws {
        _ = try await server.makeRole("Editors", users: [sam])
        _ = try await server.makeRole("Readers", roles: [])
        let id = try await server.create("Note", ["ACL": acl(read: [mei.id, "role:Editors"], write: [mei.id])])
        let hers = try await outcomes(.user("mei"), "Note", id)
        #expect(
            hers["get"]
                == "allowed: the class allows everybody everything; its access list allows reading to \(mei.id)")
        let his = try await outcomes(.user(sam.id), "Note", id)
        #expect(his["find"]?.hasSuffix("its access list allows reading to role:Editors") == true)
        #expect(his["update"]?.hasPrefix("hidden: ") == true, "\(his)")
        #expect(his["update"]?.hasSuffix("its access list allows writing to \(mei.id)") == true)
        #expect(try await outcomes(.role("Editors"), "Note", id)["get"]?.hasPrefix("allowed") == true)
        #expect(try await outcomes(.role("Readers"), "Note", id)["get"]?.hasPrefix("hidden") == true)
        #expect(try await outcomes(.nobody, "Note", id)["delete"]?.hasPrefix("hidden") == true)
    }

    @Test func explanationsNameThePermissionsOfAClass() async throws {
        _ = try await server.makeRole("Editors", users: [mei])
        let id = try await server.create("Note", ["title": "a", "price": 1, "owner": pointer("_User", sam.id)])
        try await server.allow(
            [
                "find": ["*": true], "get": ["requiresAuthentication": true], "update": ["pointerFields": ["owner"]],
                "create": [:],
                "delete": ["role:Editors": true], "protectedFields": ["*": ["price"], "role:Editors": []],
            ], in: "Note")
        let hers = try await outcomes(.user("mei"), "Note", id)
        let his = try await outcomes(.user("sam"), "Note", id)
        let nobodys = try await outcomes(.nobody, "Note", id)
        #expect(hers["delete"] == "allowed: the class allows it to role:Editors; the object has no access list")
        #expect(his["delete"] == "denied: the class allows it to role:Editors")
        #expect(his["update"]?.hasPrefix("allowed: the class allows it to the users in owner") == true)
        #expect(hers["update"]?.hasPrefix("hidden: the class allows it to the users in owner") == true)
        #expect(nobodys["get"] == "denied: the class allows it to those who are signed in")
        #expect(nobodys["create"] == "denied: the class leaves it to the master key")
        #expect(try await server.store.explainAccess(of: .user("sam"), to: "Note").hiddenFields == ["price"])
        #expect(try await server.store.explainAccess(of: .user("mei"), to: "Note").hiddenFields == [])
    }

    @Test func fieldsShownOnlyInSomeObjectsAreNamed() async throws {
        var ids: [String] = []
        for person in [mei, sam] {
            ids.append(try await server.create("Note", ["price": 1, "owner": pointer("_User", person.id)]))
        }
        try await server.allow(["protectedFields": ["*": ["price"], "userField:owner": []]], in: "Note")
        let whole = try await server.store.explainAccess(of: .user("mei"), to: "Note")
        #expect(whole.hiddenFields == [] && whole.partlyHiddenFields == ["price"])
        for (id, hidden) in zip(ids, [[], ["price"]]) {
            let one = try await server.store.explainAccess(of: .user("mei"), to: "Note", id)
            #expect(one.hiddenFields == hidden && one.partlyHiddenFields == [])
        }
        let nobodys = try await server.store.explainAccess(of: .nobody, to: "Note")
        #expect(nobodys.hiddenFields == ["price"] && nobodys.partlyHiddenFields == [])
    }

    @Test func theOutcomesMatchThoseOfRequests() async throws {
        _ = try await server.makeRole("Editors")
        let lists: [JSONValue?] = [
            nil, acl(read: ["*"]), acl(read: [mei.id], write: [sam.id]), acl(read: ["role:Editors"]), acl(),
        ]
        var ids: [String] = []
        for (number, list) in lists.enumerated() {
            var body: JSONObject = ["title": .string("\(number)"), "owner": pointer("_User", mei.id)]
            body["ACL"] = list
            ids.append(try await server.create("Note", .object(body)))
        }
        let grants: [JSONValue] = [
            ["*": true], .object([mei.id: true]), ["requiresAuthentication": true], ["pointerFields": ["owner"]], [:],
        ]
        for grant in grants {
            try await server.allow(["find": ["*": true], "get": grant, "update": grant], in: "Note")
            for person in [mei, sam, nil] {
                let subject: AccessSubject = person.map { .user($0.id) } ?? .nobody
                for id in ids {
                    let told = try await outcomes(subject, "Note", id)
                    let get = try await server.send(as: person, "GET", "/classes/Note/\(id)").status
                    let put = try await server.send(as: person, "PUT", "/classes/Note/\(id)", ["title": "x"]).status
                    #expect(told["get"]?.hasPrefix("allowed") == (get == 200), "\(grant) \(id) \(told) \(get)")
                    #expect(told["update"]?.hasPrefix("allowed") == (put == 200), "\(grant) \(id) \(told) \(put)")
                }
            }
        }
    }

    @Test func missingUsersRolesClassesAndObjectsAreErrors() async throws {
        _ = try await server.create("Note", ["title": "a"])
        for (subject, className, id) in [
            (.user("nobody"), "Note", nil), (.role("None"), "Note", nil), (.nobody, "Nota", nil),
            (.nobody, "Note", "x"),
        ] as [(AccessSubject, String, String?)] {
            await #expect(throws: ParseError.self) {
                try await server.store.explainAccess(of: subject, to: className, id)
            }
        }
    }

    @Test func operationsThatTheServerAlwaysRefusesAreDenied() async throws {
        func denied(_ className: String, _ server: TestServer) async throws -> [String] {
            try await server.store.explainAccess(of: .nobody, to: className).verdicts.filter { $0.outcome == .denied }
                .map(\.operation)
        }
        _ = try await server.send("POST", "/roles", ["name": "editors", "ACL": [:]])
        #expect(try await denied("_Session", server) == ["create", "update", "addField"])
        #expect(try await denied("_User", server) == ["update", "delete"])
        #expect(try await denied("_Role", server) == [])
        let error = await #expect(throws: ParseError.self) {
            try await server.store.explainAccess(of: .nobody, to: "_AccessLis")
        }
        #expect(error?.message.contains("did you mean") == false, "\(error as Any)")
    }
}
