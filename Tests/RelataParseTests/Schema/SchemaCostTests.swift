import Foundation
import RelataCore
import RelataRecords
import RelataEngine
import RelataSQLite
import TestSupport
import TestEngines
import Testing

@testable import RelataParse

/// The cost of a new class or field, which doesn't depend on other classes.
@Suite struct SchemaCostTests {
    /// The statements of several schema changes, in a store that has this many classes.
    private func statements(classes count: Int) async throws -> [[String]] {
        let trace = SQLStatements()
        let folder = try TestDatabases()
        let server = try TestServer(path: folder.path("classes.sqlite"), trace: trace)
        defer { try? server.store.close() }
        let hub = try await server.create("Hub", ["name": "a"])
        for number in 0..<count {
            let body: JSONValue = [
                "name": "a", "tags": ["x"], "hub": pointer("Hub", hub),
                "hubs": ["__op": "AddRelation", "objects": [pointer("Hub", hub)]],
            ]
            _ = try await server.create("Class\(number)", body)
        }
        let changes: [(String, String, JSONValue)] = [
            ("POST", "/classes/Fresh", ["name": "a"]),
            ("POST", "/classes/Class1", ["more": 1]),
            ("POST", "/classes/Hub", ["more": 1]),
            ("POST", "/classes/Class1", ["other": pointer("Hub", hub)]),
            ("POST", "/classes/Hub", ["list": ["__op": "AddRelation", "objects": [pointer("Hub", hub)]]]),
            ("PUT", "/schemas/Class1", ["indexes": ["by_name": ["name": 1]]]),
            ("PUT", "/schemas/Class1", ["fields": ["name": ["type": "String", "required": true]]]),
        ]
        var all: [[String]] = []
        for (method, target, body) in changes {
            trace.removeAll()
            let reply = try await server.send(method, target, body)
            #expect(reply.status < 300, "\(target): \(reply.json)")
            all.append(trace.all)
        }
        return all
    }

    @Test func otherClassesAddNoStatementsToANewClassOrField() async throws {
        let few = try await statements(classes: 2)
        let many = try await statements(classes: 40)
        #expect(few.map(\.count) == many.map(\.count))
        for (few, many) in zip(few, many) { #expect(many.count < 100 && few.count == many.count, "\(many)") }
        // Reading a table would mention its name.
        #expect(!many.joined().contains { $0.contains("Class2") })
    }

    /// The statements that add a field to a class with this many fields, and the entities that it resolves.
    private func addingField(beside count: Int) async throws -> (statements: [String], resolved: Int) {
        let trace = SQLStatements()
        let folder = try TestDatabases()
        let server = try TestServer(path: folder.path("fields.sqlite"), trace: trace)
        defer { try? server.store.close() }
        let fields = (0..<count).map { ("field\($0)", JSONValue.integer(1)) }
        _ = try await server.create("Wide", .object(JSONObject(fields)))
        trace.removeAll()
        _ = try await server.create("Wide", ["more": "a"])
        return (trace.all, server.store.currentClasses.storedSchema.resolvedCount)
    }

    @Test(.onEveryEngine) func otherFieldsOfAClassAddNoStatementsToANewField() async throws {
        let few = try await addingField(beside: 3)
        let many = try await addingField(beside: 400)
        #expect(few.statements.count == many.statements.count, "\(many.statements)")
        #expect(few.resolved == 1 && many.resolved == 1)
        // No table is made again: one column is added.
        #expect(many.statements.filter { $0.contains("ADD COLUMN") }.count == 1)
        #expect(!many.statements.contains { $0.hasPrefix("CREATE TABLE") || $0.hasPrefix("DROP TABLE") })
    }

    /// SQLite's list of tables has no index: finding the entries of one table means reading the whole list.
    @Test(.onSQLite) func aNewFieldReadsTheListOfTablesOnce() async throws {
        let (statements, _) = try await addingField(beside: 3)
        #expect(statements.filter { $0.contains("sqlite_master AS m") }.count == 1, "\(statements)")
        let kinds = statements.filter { $0.contains("pragma_table_list") }
        #expect(!kinds.isEmpty && kinds.allSatisfy { $0.contains("pragma_table_list(") }, "\(kinds)")
    }

    /// The number of rows that a new class and a new field read in statements without a name.
    private func rowsRead(classes count: Int) async throws -> [Int] {
        let trace = SQLStatements()
        let folder = try TestDatabases()
        let path = try folder.path("classes.sqlite")
        let server = try TestServer(path: path, trace: trace)
        defer { try? server.store.close() }
        for number in 0..<count { _ = try await server.create("Class\(number)", ["name": "a"]) }
        let connection = try Connection(path: path, isReadOnly: true)
        defer { try? connection.close() }
        func rows() throws -> Int {
            let questions = trace.all.filter { $0.hasPrefix("SELECT") && !$0.contains("?") }
            return try questions.reduce(0) { try $0 + connection.values(SQLStatement($1)).count }
        }
        trace.removeAll()
        let fresh = try await server.create("Fresh", ["name": "a"])
        var counts = [try rows()]
        trace.removeAll()
        _ = try await server.create("Class1", ["other": pointer("Fresh", fresh)])
        counts.append(try rows())
        return counts
    }

    @Test(.onSQLite) func otherClassesAddNoReadsToANewClassOrField() async throws {
        let few = try await rowsRead(classes: 10)
        let many = try await rowsRead(classes: 500)
        #expect(few == many)
    }

    /// Only touched classes are compared with their former state.
    @Test(arguments: [10, 500]) func aDraftComparesOnlyTouchedClasses(_ count: Int) throws {
        let known = (0..<count).map { SchemaDraft.newEntity("Class\($0)") }
        var draft = SchemaDraft(entities: known, options: [:])
        try draft.addClass("Fresh")
        try draft.addClass("Class2")
        try draft.addField("name", .string, to: "Class3")
        #expect(draft.entities.touched == [3, count])
        #expect(draft.entities.changes.places == [3, count])
        #expect(draft.entities.changes.names == ["Class3", "Fresh"])
        #expect(EntityChanges(draft.entities.all, since: known).names == ["Class3", "Fresh"])
        // A reverted change doesn't count as one; after a removal, the others have other positions.
        try draft.removeFields(["name"], of: "Class3")
        #expect(draft.entities.changes.names == ["Fresh"])
        try draft.removeClass("Class1")
        #expect(draft.entities.changes.names == ["Class1", "Fresh"])
    }

    /// A server with this many classes that require a pointer, and the object that all of them point at.
    private func server(classes count: Int) async throws -> (server: TestServer, hub: String) {
        let server = try TestServer()
        let hub = try await server.create("Hub", ["name": "a"])
        for number in 0..<count {
            _ = try await server.create("Class\(number)", ["name": "a", "hub": pointer("Hub", hub)])
            let required: JSONValue = [
                "fields": ["owner": ["type": "Pointer", "targetClass": "Hub", "required": true]]
            ]
            #expect(try await server.send("PUT", "/schemas/Class\(number)", required).status == 200)
        }
        return (server, hub)
    }

    /// The numbers of entities that several changes resolve, in a store with this many classes, all rules included.
    private func resolved(classes count: Int) async throws -> [[Int]] {
        let (server, hub) = try await server(classes: count)
        defer { try? server.store.close() }
        let changes: [(String, String, JSONValue)] = [
            ("POST", "/classes/Fresh", ["name": "a"]),
            ("POST", "/classes/Fresh", ["hub": pointer("Hub", hub)]),
            ("POST", "/classes/Fresh", ["hubs": ["__op": "AddRelation", "objects": [pointer("Hub", hub)]]]),
            ("POST", "/classes/Hub", ["more": 1]),
            ("PUT", "/schemas/Class1", ["fields": ["more": ["type": "String", "required": true]]]),
            (
                "PUT", "/schemas/Class1",
                ["fields": ["other": ["type": "Pointer", "targetClass": "Hub", "required": true]]]
            ),
            ("PUT", "/schemas/Class1", ["indexes": ["by_name": ["name": 1]]]),
        ]
        var all: [[Int]] = []
        for (method, target, body) in changes {
            let reply = try await server.send(method, target, body)
            #expect(reply.status < 300, "\(target): \(reply.json)")
            let classes = server.store.currentClasses
            #expect(classes.schema !== classes.storedSchema)
            all.append([classes.storedSchema.resolvedCount, classes.schema.resolvedCount])
        }
        return all
    }

    @Test func otherClassesAreNotResolvedForANewClassOrField() async throws {
        let few = try await resolved(classes: 2)
        let many = try await resolved(classes: 30)
        #expect(few == many)
        #expect(few.joined().allSatisfy { $0 <= 2 }, "\(few)")
    }

    /// The number of classes that each of several changes builds again, including their rules. All others must be the
    /// same objects, not copies.
    private func made(classes count: Int) async throws -> [Int] {
        let (server, hub) = try await server(classes: count)
        defer { try? server.store.close() }
        let changes: [(String, String, JSONValue)] = [
            ("POST", "/classes/Fresh", ["name": "a"]),
            ("POST", "/classes/Fresh", ["hub": pointer("Hub", hub)]),
            ("PUT", "/schemas/Class1", ["fields": ["more": ["type": "String", "required": true]]]),
            ("PUT", "/schemas/Class1", ["indexes": ["by_name": ["name": 1]]]),
        ]
        func places(_ schema: Schema) -> [UnsafeRawPointer?] {
            schema.tables.map { table in table.entity.properties.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) } }
        }
        var all: [Int] = []
        for (method, target, body) in changes {
            let before = server.store.currentClasses
            #expect(try await server.send(method, target, body).status < 300)
            let after = server.store.currentClasses
            let known = Set(places(before.schema) + places(before.storedSchema))
            all.append(places(after.schema).filter { !known.contains($0) }.count)
            all.append(places(after.storedSchema).filter { !known.contains($0) }.count)
        }
        return all
    }

    @Test func otherClassesAreNotCopiedForANewClassOrField() async throws {
        let few = try await made(classes: 2)
        let many = try await made(classes: 30)
        #expect(few == many)
        #expect(few.allSatisfy { $0 <= 2 }, "\(few)")
    }

    @Test func writersContinueWhileClassesAreCreated() async throws {
        let folder = try TestDatabases()
        let server = try TestServer(path: folder.path("classes.sqlite"))
        defer { try? server.store.close() }
        _ = try await server.create("Book", ["n": 0])
        let writer = Task {
            var count = 0
            while !Task.isCancelled {
                if try await server.send("POST", "/classes/Book", ["n": 1]).status == 201 { count += 1 }
            }
            return count
        }
        for number in 0..<60 { _ = try await server.create("Class\(number)", ["name": "a"]) }
        writer.cancel()
        let written = try await writer.value
        #expect(written >= 20)
        #expect(try await server.find("Book", "limit=100000").count >= written + 1)
    }

    @Test func earlierTransactionsSeeTheOldClasses() async throws {
        let folder = try TestDatabases()
        let server = try TestServer(path: folder.path("classes.sqlite"))
        defer { try? server.store.close() }
        _ = try await server.create("Book", ["title": "a"])
        let connection = try Connection(path: folder.path("classes.sqlite"), isReadOnly: true)
        try connection.begin("BEGIN")
        let version = try RecordClasses.version(of: connection)
        _ = try await server.create("Other", ["title": "a"])
        #expect(try RecordClasses.version(of: connection) == version)
        #expect(server.store.currentClasses.version > version)
        let before = try server.store.classes(for: connection)
        #expect(before["Book"] != nil && before["Other"] == nil)
        #expect(server.store.currentClasses["Other"] != nil)
        connection.endReading()
        try connection.close()
        #expect(try await server.find("Other").count == 1)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6])
    func classesCreatedStepByStepEqualThoseInTheFile(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TestDatabases()
        let path = try folder.path("random.sqlite")
        var server = try TestServer(path: path)
        var done: [String] = []
        for round in 0..<60 {
            let classes = server.store.currentClasses.all
            let one = classes.randomElement(using: &random)
            let other = classes.randomElement(using: &random)?.name ?? "First"
            let name = one?.name ?? "First"
            let fields = one?.fields.dropFirst(3).map(\.name) ?? []
            let field = "f\(Int.random(in: 0..<6, using: &random))"
            let types = ["String", "Number", "Array", "Boolean", "Date"]
            var fieldType: JSONObject = ["type": .string(types.randomElement(using: &random) ?? "String")]
            let target: JSONValue = .string(other)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: fieldType = ["type": "Pointer", "targetClass": target, "onTargetDelete": "cascade"]
            case 1: fieldType = ["type": "Relation", "targetClass": target]
            case 2: fieldType = ["type": "Relation", "targetClass": target, "order": false]
            case 3: fieldType = ["type": "Pointer", "targetClass": target, "required": true]
            case 4:
                let inverse = server.store.currentClasses[other]?.fields.last { $0.type == .pointer(name) }?.name
                fieldType = ["type": "Relation", "targetClass": target, "inverse": .string(inverse ?? "none")]
            default: break
            }
            let request: (String, String, JSONValue?)
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: request = ("POST", "/schemas/Class\(round)", ["fields": .object([field: .object(fieldType)])])
            case 2: request = ("DELETE", "/schemas/\(name)", nil)
            case 3:
                let gone = fields.randomElement(using: &random) ?? field
                request = ("PUT", "/schemas/\(name)", ["fields": .object([gone: ["__op": "Delete"]])])
            case 4:
                let indexed = fields.randomElement(using: &random) ?? field
                let kind = Bool.random(using: &random) ? "indexes" : "uniqueIndexes"
                request = (
                    "PUT", "/schemas/\(name)", .object([kind: .object(["i\(round)": .object([indexed: 1])])])
                )
            case 5:
                let index = one?.options.indexes.keys.sorted().first ?? "none"
                request = ("PUT", "/schemas/\(name)", ["indexes": .object([index: ["__op": "Delete"]])])
            case 6: request = ("POST", "/classes/\(name)", .object([field: .integer(1)]))
            default: request = ("PUT", "/schemas/\(name)", ["fields": .object([field: .object(fieldType)])])
            }
            let reply = try await server.send(request.0, request.1, request.2)
            #expect(reply.status < 500, "seed \(seed): \(request) \(reply.json)")
            done.append("\(request) → \(reply.status)")
            let current = server.store.currentClasses
            let atOnce = try ClassSet(
                RecordClasses(
                    current.entities, schema: current.storedSchema, version: current.version, isRemembered: true,
                    dialect: current.dialect),
                options: current.options)
            #expect(
                current.schema.tables.map(\.entity) == atOnce.schema.tables.map(\.entity), "seed \(seed): \(done)")
            guard round % 6 == 5 else { continue }
            let known = server.store.currentClasses
            let connection = try Connection(path: path, isReadOnly: true)
            let found = try Introspection.read(connection)
            #expect(
                Set(found.entities) == Set(known.entities) && found.isDeclared == !known.entities.isEmpty,
                "seed \(seed): \(done)")
            let plan = try Migrator.prepare(connection, schema: try Schema(known.entities))
            #expect(plan.isEmpty, "seed \(seed): \(plan) after \(done)")
            try connection.close()
            if Bool.random(using: &random) {
                let before = try await server.store.schemaJSON()
                try server.store.close()
                server = try TestServer(path: path)
                #expect(try await server.store.schemaJSON() == before, "seed \(seed)")
            }
        }
        try server.store.close()
    }
}
