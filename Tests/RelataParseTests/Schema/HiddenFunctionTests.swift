import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@testable import RelataParse

/// Classes and tables that would hide SQLite's table-valued functions, or that a server's own tables would hide.
@Suite(.onEveryEngine) struct HiddenFunctionTests {
    @Test(.onSQLite) func classesCannotHaveTheNamesOfFunctionsOrModules() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["tags": ["a", "b"]])
        let names = [
            "json_each", "JSON_EACH", "json_tree", "json_later", "pragma_table_xinfo", "pragma_table_list",
            "pragma_foreign_key_list", "pragma_index_list", "Pragma_Index_Xinfo", "pragma_later", "fts5", "rtree",
            "dbstat", "relata_values", "sqlite_master",
        ]
        let before = try await server.send("GET", "/schemas").json
        for name in names {
            let requests: [(String, String, JSONValue)] = [
                ("POST", "/classes/\(name)", ["x": 1]), ("POST", "/schemas/\(name)", [:]),
                ("POST", "/schemas/Other", ["fields": ["x": ["type": "Pointer", "targetClass": .string(name)]]]),
                ("POST", "/schemas/Other", ["fields": ["x": ["type": "Relation", "targetClass": .string(name)]]]),
            ]
            for (method, target, body) in requests {
                let reply = try await server.send(method, target, body, isMaster: target.hasPrefix("/schemas"))
                #expect(reply.code == 103 && reply.status == 400, "\(target) \(body): \(reply.json)")
            }
        }
        #expect(try await server.send("GET", "/schemas").json == before)
        #expect(try await server.find("Book", where: ["tags": "a"]).count == 1)
    }

    @Test(.onSQLite) func filesWithTablesNamedLikeFunctionsAreServed() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("hidden.sqlite")
        let names = [
            "json_each", "json_tree", "relata_values", "pragma_defer_foreign_keys", "pragma_foreign_key_check",
            "pragma_foreign_key_list", "pragma_index_list", "pragma_index_xinfo", "pragma_module_list",
            "pragma_schema_version", "pragma_table_list", "pragma_table_xinfo",
        ]
        let connection = try Connection(path: path)
        for name in names { try connection.execute("CREATE TABLE \"\(name)\" (id TEXT PRIMARY KEY, value TEXT)") }
        try connection.execute("INSERT INTO json_each VALUES ('one', 'x')")
        try connection.close()
        var server = try TestServer(path: path)
        let genre = try await server.create("Genre", ["name": "a"])
        let book = try await server.create(
            "Book", ["tags": ["a", "b"], "info": ["list": [1, 2]], "genre": pointer("Genre", genre)])
        _ = try await server.create("Book", ["tags": ["c"]])
        // A new field, and a relation, for which the schema is read from the file.
        let tag = try await server.create("Tag", ["name": "t"])
        let reply = try await server.send(
            "PUT", "/classes/Book/\(book)",
            ["more": 1, "labels": ["__op": "AddRelation", "objects": [pointer("Tag", tag)]]])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(try await server.find("json_each", where: ["value": "x"]).count == 1)
        try server.store.close()
        server = try TestServer(path: path)
        defer { try? server.store.close() }
        for condition: JSONValue in [
            ["tags": "a"], ["tags": ["$all": ["a", "b"]]], ["tags": ["$in": ["b", "x"]]], ["info.list": 2],
            ["genre": ["$inQuery": ["className": "Genre", "where": ["name": "a"]]]],
        ] {
            let found = try await server.find("Book", where: condition)
            #expect(found.map { $0["objectId"] } == [.string(book)], "\(condition)")
        }
        #expect(try await server.send("POST", "/schemas/Fresh", ["fields": ["a": ["type": "Array"]]]).status == 200)
        #expect(try await server.send("DELETE", "/classes/Genre/\(genre)").status == 200)
        #expect(try await server.get("Book", book)["genre"] == nil)
        #expect(try await server.send("DELETE", "/purge/Book").status == 200)
        #expect(try await server.find("Book").isEmpty)
    }

    @Test(arguments: ["doomed", "reached", "tree", "step", "x", "y"])
    func aClassCanHaveANameThatDeletionsUseInternally(_ name: String) async throws {
        let server = try TestServer()
        let parent: JSONValue = ["type": "Pointer", "targetClass": .string(name), "onTargetDelete": "cascade"]
        let reply = try await server.send("POST", "/schemas/\(name)", ["fields": ["parent": parent]])
        #expect(reply.status == 200, "\(reply.json)")
        let root = try await server.create(name, [:])
        let child = try await server.create(name, ["parent": pointer(name, root)])
        _ = try await server.create(name, ["parent": pointer(name, child)])
        let other = try await server.create(name, [:])
        #expect(try await server.send("DELETE", "/classes/\(name)/\(root)").status == 200)
        #expect(try await server.find(name).map { $0["objectId"] } == [.string(other)])
    }

    /// The server finds its own tables before all others.
    @Test(.onPostgres) func classesCannotHaveTheNamesOfServerTables() async throws {
        let server = try TestServer()
        let before = try await server.send("GET", "/schemas").json
        for name in ["pg_class", "pg_attribute", "pg_proc", "pg_stat_activity", "pg_tables"] {
            let requests: [(String, String, JSONValue)] = [
                ("POST", "/classes/\(name)", ["x": 1]), ("POST", "/schemas/\(name)", [:]),
                ("POST", "/schemas/Other", ["fields": ["x": ["type": "Pointer", "targetClass": .string(name)]]]),
            ]
            for (method, target, body) in requests {
                let reply = try await server.send(method, target, body, isMaster: target.hasPrefix("/schemas"))
                #expect(reply.code == 103 && reply.status == 400, "\(target) \(body): \(reply.json)")
            }
        }
        #expect(try await server.send("GET", "/schemas").json == before)
    }
}
