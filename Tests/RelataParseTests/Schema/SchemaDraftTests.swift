import RelataCore
import RelataRecords
import TestEngines
import Testing

@testable import RelataParse

/// Classes during changes: untouched ones aren't checked, and no change is missed.
@Suite struct SchemaDraftTests {
    /// Only the facts of touched classes are compared with the old ones.
    @Test func aDraftComparesTheFactsOfTouchedClassesOnly() throws {
        let known = (0..<500).map { SchemaDraft.newEntity("Class\($0)") }
        var facts = ClassOptions()
        facts.fields["tags"] = FieldOptions(type: .array)
        let options = Dictionary(uniqueKeysWithValues: known.map { ($0.name, facts) })
        var draft = SchemaDraft(entities: known, options: options, resolved: try Schema(known))
        try draft.addClass("Class1")
        try draft.addField("name", .string, to: "Class2")
        #expect(draft.options.touched.isEmpty && draft.options.changed.isEmpty)
        try draft.addField("list", .array, to: "Class3")
        try draft.addClass("Fresh", isImplied: true)
        #expect(draft.options.touched == ["Class3", "Fresh"])
        #expect(draft.options.changed == ["Class3", "Fresh"])
        #expect(draft.options["Class3"]?.fields.count == 2 && draft.options["Class4"] == facts)
        // A reverted change doesn't count as one, and a removed class has no facts.
        try draft.removeFields(["list"], of: "Class3")
        #expect(draft.options.changed == ["Fresh"])
        try draft.removeClass("Class4")
        #expect(draft.options.changed == ["Class4", "Fresh"] && draft.options["Class4"] == nil)
    }

    /// A list of entities finds them by their current names, after any change.
    @Test func entitiesAreFoundByNameInALongList() throws {
        let known = (0..<50).map { SchemaDraft.newEntity("Class\($0)") }
        var list = EntityList(known, resolved: try Schema(known))
        #expect(list.place(of: "Class7") == 7 && list.place(of: "Fresh") == nil)
        list.append(SchemaDraft.newEntity("Fresh"))
        list[7].name = "Other"
        #expect(list.place(of: "Fresh") == 50 && list.place(of: "Other") == 7 && list.place(of: "Class7") == nil)
        list.removeLast(1)
        #expect(list.place(of: "Fresh") == nil && list.place(of: "Class8") == 8)
        list.removeAll { $0.name == "Class1" }
        #expect(list.place(of: "Class1") == nil && list.place(of: "Class8") == 7)
    }

    /// The known facts of all classes after changes of some equal those that are read from all of them.
    @Test func factsThatAreCarriedOnEqualThoseThatAreReadAgain() async throws {
        let folder = try TestDatabases()
        let server = try TestServer(path: folder.path("facts.sqlite"))
        defer { try? server.store.close() }
        func expectTheSame(_ text: String) throws {
            let current = server.store.currentClasses
            let read = try ClassSet(
                RecordClasses(
                    current.entities, schema: current.storedSchema, version: current.version, isRemembered: true,
                    dialect: current.dialect), options: current.options)
            #expect(current.guarded == read.guarded && current.permissions == read.permissions, "\(text)")
            #expect(current.schema.tables.map(\.entity) == read.schema.tables.map(\.entity), "\(text)")
        }
        let open: JSONValue = ["find": ["*": true], "get": ["*": true]]
        let required: JSONValue = ["type": "Pointer", "targetClass": "Hub", "required": true]
        let changes: [(String, String, JSONValue?)] = [
            ("POST", "/classes/Hub", ["name": "a"]),
            ("POST", "/schemas/Shut", ["classLevelPermissions": open]),
            ("PUT", "/schemas/Shut", ["fields": ["hub": required]]),
            ("POST", "/schemas/Other", ["fields": ["hub": required]]),
            ("POST", "/classes/Hub", ["more": 1]),
            ("PUT", "/schemas/Shut", ["classLevelPermissions": [:]]),
            ("PUT", "/schemas/Other", ["classLevelPermissions": open]),
            ("PUT", "/schemas/Other", ["fields": ["hub": ["__op": "Delete"]]]),
            ("POST", "/schemas/Last", ["classLevelPermissions": open]),
            ("DELETE", "/schemas/Shut", nil),
            ("POST", "/classes/Hub", ["again": 1]),
        ]
        for (method, target, body) in changes {
            let reply = try await server.send(method, target, body)
            #expect(reply.status < 300, "\(method) \(target): \(reply.json)")
            try expectTheSame("\(method) \(target)")
        }
        #expect(Set(server.store.currentClasses.permissions.keys) == ["Other", "Last"])
    }
}
