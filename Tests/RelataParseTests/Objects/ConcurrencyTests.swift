import Foundation
import TestEngines
import TestSupport
import Testing

@testable import RelataParse
@testable import RelataEngine
@testable import RelataSQLite

@Suite(.onEveryEngine) struct ConcurrencyTests {
    @Test func concurrentClientsLoseNothing() async throws {
        let folder = try TestDatabases()
        let server = try TestServer(path: folder.path("store.sqlite"))
        let list = try await server.create("List", ["count": 0, "names": []])
        let clients = 64
        let statuses = await withTaskGroup(of: Int.self) { group in
            for client in 0..<clients {
                group.addTask {
                    do {
                        // All clients create the class Item at the same time.
                        let item = try await server.create("Item", ["name": .string("item \(client)")])
                        return try await server.send(
                            "PUT", "/classes/List/\(list)",
                            [
                                "count": ["__op": "Increment", "amount": 1],
                                "names": ["__op": "AddUnique", "objects": [.string("\(client)")]],
                                "items": ["__op": "AddRelation", "objects": [pointer("Item", item)]],
                            ]
                        ).status
                    } catch {
                        return 0
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: clients))
        let stored = try await server.get("List", list)
        #expect(stored["count"] == .integer(Int64(clients)))
        #expect(Set(stored["names"]?.array ?? []).count == clients)
        let related: JSONValue = ["$relatedTo": ["object": pointer("List", list), "key": "items"]]
        #expect(try await server.find("Item", where: related).count == clients)
        try server.store.close()
    }

    @Test(.onSQLite) func waitingWritesAreCommittedTogetherAndAnsweredSeparately() async throws {
        let folder = try TestDatabases()
        let statements = SQLStatements()
        let server = try TestServer(path: folder.path("store.sqlite"), trace: statements)
        try await server.send("POST", "/schemas/Item", ["fields": ["name": ["type": "String"]]])
        let pool = server.store.pool
        let end = DispatchSemaphore(value: 0)
        await withCheckedContinuation { isHeld in
            // A separate thread, because the tasks need Swift's threads.
            Thread.detachNewThread {
                try? pool.withWriter { _ in
                    isHeld.resume()
                    end.wait()
                }
            }
        }
        statements.removeAll()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let name: JSONValue = number % 4 == 3 ? .integer(Int64(number)) : .string("item \(number)")
                    return try await server.send("POST", "/classes/Item", ["name": name]).status
                }
            }
            await waitUntil { pool.waitingWriterCount >= 20 }
            end.signal()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == Array(repeating: 201, count: 15) + Array(repeating: 400, count: 5))
        #expect(try await server.find("Item").count == 15)
        #expect(statements.all.count { $0 == "COMMIT" } < 15)
        try server.store.close()
    }

    @Test func anotherServerOfTheSameFileSeesNewClasses() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("store.sqlite")
        let (one, other) = (try TestServer(path: path), try TestServer(path: path))
        let id = try await one.create("Book", ["title": "A"])
        #expect(try await other.get("Book", id)["title"] == "A")
        #expect(try await other.send("PUT", "/classes/Book/\(id)", ["year": 1]).status == 200)
        #expect(try await one.get("Book", id)["year"] == 1)
        try await one.send("PUT", "/schemas/Book", ["fields": ["title": ["__op": "Delete"]]])
        #expect(try await other.get("Book", id)["title"] == nil)
    }
}
