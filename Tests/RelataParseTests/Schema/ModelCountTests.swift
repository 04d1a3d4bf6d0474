import Relata
import RelataParse
import TestEngines
import Testing

@Model struct Crew {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Seaman.crew, minimum: 1, maximum: 2) var seamen: ToMany<Seaman>
    @Relationship(minimum: 1, maximum: 2) var flags: ToMany<Flag>
}

@Model struct Seaman {
    @Attribute(.primaryKey) let name: String
    var crew: ToOne<Crew>?
}

@Model struct Flag {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \Crew.flags, maximum: 2) var crews: ToMany<Crew>
}

/// The least and greatest numbers of members are checked for every change of a list.
@Suite(.onEveryEngine) struct ModelCountTests {
    let store: Store
    let server: TestServer

    init() async throws {
        store = try Store.make(for: Crew.self)
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        server = TestServer(try ParseStore.serving(store), options: options)
        let flags = ["red", "blue", "green"].map { Flag(name: $0) }
        for flag in flags { try await store.insert(flag) }
        for name in ["A", "B"] {
            try await store.save(
                Crew(name: name, seamen: ToMany([Seaman(name: name.lowercased())]), flags: ToMany([flags[0]])))
        }
        for name in ["x", "y", "z"] { try await store.insert(Seaman(name: name)) }
    }

    private func seamen(_ crew: String) async throws -> [String] {
        try await server.find("Seaman", where: ["crew": pointer("Crew", crew)], "order=objectId")
            .compactMap { $0["objectId"]?.string }
    }

    private func flags(_ crew: String) async throws -> Set<String> {
        let related: JSONValue = ["$relatedTo": ["object": pointer("Crew", crew), "key": "flags"]]
        return Set(try await server.find("Flag", where: related).compactMap { $0["objectId"]?.string })
    }

    private func linking(_ operation: String, _ className: String, _ ids: String...) -> JSONValue {
        ["__op": .string(operation), "objects": .array(ids.map { pointer(className, $0) })]
    }

    @Test func aNewObjectNeedsTheRequiredNumberOfMembers() async throws {
        let refused: [JSONValue] = [
            ["objectId": "C"], ["objectId": "C", "flags": linking("AddRelation", "Flag", "blue")],
            ["objectId": "C", "seamen": linking("AddRelation", "Seaman", "x")],
            [
                "objectId": "C", "seamen": linking("AddRelation", "Seaman", "x", "y", "z"),
                "flags": linking("AddRelation", "Flag", "blue"),
            ],
            // The inverse list is full.
            [
                "objectId": "C", "seamen": linking("AddRelation", "Seaman", "x"),
                "flags": linking("AddRelation", "Flag", "red"),
            ],
            // Another list would become too short.
            [
                "objectId": "C", "seamen": linking("AddRelation", "Seaman", "a"),
                "flags": linking("AddRelation", "Flag", "blue"),
            ],
        ]
        for body in refused {
            let reply = try await server.send("POST", "/classes/Crew", body)
            #expect(reply.code == 142, "\(body): \(reply.json)")
        }
        #expect(try await store.fetch(Crew.all).count == 2)
        let right = try await server.send(
            "POST", "/classes/Crew",
            [
                "objectId": "C", "seamen": linking("AddRelation", "Seaman", "x"),
                "flags": linking("AddRelation", "Flag", "blue"),
            ])
        #expect(right.status == 201, "\(right.json)")
        #expect(try await seamen("C") == ["x"])
    }

    @Test func listsAreCheckedWhenTheirMembersChange() async throws {
        #expect(
            try await server.send("PUT", "/classes/Seaman/a", ["crew": ["__op": "Delete"]]).code == 142)
        #expect(try await server.send("PUT", "/classes/Seaman/a", ["crew": pointer("Crew", "B")]).code == 142)
        #expect(try await server.send("PUT", "/classes/Seaman/x", ["crew": pointer("Crew", "A")]).status == 200)
        #expect(try await server.send("PUT", "/classes/Seaman/y", ["crew": pointer("Crew", "A")]).code == 142)
        #expect(
            try await server.send("POST", "/classes/Seaman", ["objectId": "n", "crew": pointer("Crew", "A")]).code
                == 142)
        #expect(try await server.send("DELETE", "/classes/Seaman/b").code == 142)
        #expect(try await server.send("DELETE", "/purge/Seaman").code == 142)
        #expect(try await seamen("A") == ["a", "x"])
        #expect(try await seamen("B") == ["b"])
    }

    @Test func listsAreCheckedWhenTheyAreChanged() async throws {
        func put(_ crew: String, _ body: JSONValue) async throws -> TestServer.Reply {
            try await server.send("PUT", "/classes/Crew/\(crew)", body)
        }
        #expect(try await put("A", ["seamen": linking("RemoveRelation", "Seaman", "a")]).code == 142)
        #expect(try await put("A", ["seamen": linking("AddRelation", "Seaman", "x", "y")]).code == 142)
        #expect(try await put("A", ["seamen": linking("AddRelation", "Seaman", "b")]).code == 142)
        #expect(try await put("A", ["flags": linking("RemoveRelation", "Flag", "red")]).code == 142)
        #expect(try await put("A", ["flags": linking("AddRelation", "Flag", "blue", "green")]).code == 142)
        #expect(try await flags("A") == ["red"])
        #expect(try await seamen("A") == ["a"])
        // Only the final state must be valid.
        let both = try await put(
            "A",
            [
                "seamen": [
                    "__op": "Batch",
                    "ops": [linking("RemoveRelation", "Seaman", "a"), linking("AddRelation", "Seaman", "x")],
                ]
            ])
        #expect(both.status == 200, "\(both.json)")
        #expect(try await seamen("A") == ["x"])
    }

    @Test func aTransactionIsCheckedAtItsEndAndAPlainBatchAfterEachRequest() async throws {
        let requests: JSONValue = [
            ["method": "PUT", "path": "/classes/Seaman/a", "body": ["crew": pointer("Crew", "B")]],
            ["method": "PUT", "path": "/classes/Seaman/x", "body": ["crew": pointer("Crew", "A")]],
        ]
        let each = try await server.send("POST", "/batch", ["requests": requests])
        #expect(each.json.array?[0]["error"]?["code"] == 142 && each.json.array?[1]["success"] != nil)
        #expect(try await seamen("A") == ["a", "x"])
        try await server.send("PUT", "/classes/Seaman/x", ["crew": ["__op": "Delete"]])
        let all = try await server.send("POST", "/batch", ["requests": requests, "transaction": true])
        #expect(all.status == 200, "\(all.json)")
        #expect(try await seamen("A") == ["x"])
        #expect(try await seamen("B") == ["a", "b"])
        let more: JSONValue = [
            ["method": "PUT", "path": "/classes/Seaman/y", "body": ["crew": pointer("Crew", "A")]],
            ["method": "PUT", "path": "/classes/Seaman/z", "body": ["crew": pointer("Crew", "A")]],
        ]
        #expect(try await server.send("POST", "/batch", ["requests": more, "transaction": true]).code == 142)
        #expect(try await seamen("A") == ["x"])
    }

    @Test func aPlanNamesTheListsThatWouldBecomeTooShort() async throws {
        func shortage(_ crew: String, _ field: String) -> JSONValue {
            [
                "object": pointer("Crew", crew), "field": .string(field),
                "message": "must have at least 1, and would have 0",
            ]
        }
        let seaman = try await server.send("GET", "/classes/Seaman/b?deletionPlan=1")
        #expect(seaman["isDenied"] == true && seaman["shortages"] == [shortage("B", "seamen")], "\(seaman.json)")
        let flag = try await server.send("DELETE", "/classes/Flag/red?dryRun=1")
        let lists = flag["shortages"]?.array ?? []
        #expect(flag["isDenied"] == true && lists.count == 2, "\(flag.json)")
        #expect(lists.contains(shortage("A", "flags")) && lists.contains(shortage("B", "flags")), "\(flag.json)")
        let free = try await server.send("GET", "/classes/Seaman/x?deletionPlan=1")
        #expect(free["isDenied"] == false && free["shortages"] == [], "\(free.json)")
        #expect(try await server.send("DELETE", "/classes/Flag/red").code == 142)
        #expect(try await flags("A") == ["red"])
    }
}
