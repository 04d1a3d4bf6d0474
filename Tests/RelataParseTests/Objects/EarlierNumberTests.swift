import Foundation
import Relata
import RelataCore
import RelataEngine
@testable import RelataParse
import RelataRecords
import Synchronization
import TestEngines
import TestSupport
import Testing

/// Columns of earlier versions on PostgreSQL, which hold floating-point numbers only.
@Suite(.onEveryEngine) struct EarlierNumberTests {
    private static let large: Int64 = 9_007_199_254_740_993

    /// A database with a class as an earlier version made it, and the id of its object.
    private func earlierDatabase() async throws -> (path: String?, id: String) {
        let path = try TestDatabases.newPath()
        let before = try TestServer(path: path)
        defer { try? before.store.close() }
        let id = try await before.create("Item", ["n": 0.1, "k": 2])
        try await before.store.records.altering { alteration in
            try alteration.connection.execute(
                SQLStatement("ALTER TABLE \"Item\" ALTER COLUMN n TYPE double precision"))
        }
        return (path, id)
    }

    private func type(_ server: TestServer) async throws -> String? {
        try await server.store.read(as: .master) { transaction in
            try transaction.connection.value(
                SQLStatement(
                    "SELECT format_type(atttypid, atttypmod) FROM pg_attribute "
                        + "WHERE attrelid = '\"Item\"'::regclass AND attname = 'n'"))?.description
        }
    }

    @Test(.onPostgres) func anIntegerThatDoesNotFitWidensTheColumn() async throws {
        let (path, first) = try await earlierDatabase()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let second = try await server.create("Item", ["n": 9_007_199_254_740_992])
        let one: JSONValue = ["__op": "Increment", "amount": 1]
        let refused = try await server.send("PUT", "/classes/Item/\(second)", ["n": one])
        #expect(refused.code == 111, "a sum isn't rounded: \(refused.json)")
        #expect(refused["error"]?.string?.contains("Item.n") == true)
        #expect(try await server.get("Item", second)["n"] == 9_007_199_254_740_992)
        #expect(try await server.find("Item", where: ["n": 0.1]).map { $0["objectId"] } == [.string(first)])
        #expect(try await type(server) == "double precision")
        let third = try await server.create("Item", ["n": .integer(.max)])
        #expect(try await type(server) == "numeric")
        #expect(try await server.get("Item", first)["n"] == 0.1)
        #expect(try await server.get("Item", second)["n"] == 9_007_199_254_740_992)
        #expect(try await server.get("Item", third)["n"] == .integer(.max))
        let sum = try await server.send("PUT", "/classes/Item/\(second)", ["n": one])
        #expect(sum["n"] == .integer(Self.large), "\(sum.json)")
    }

    @Test(.onPostgres) func aConversionIsToldOnceItIsDone() async throws {
        let (path, _) = try await earlierDatabase()
        let told = Mutex<[FieldConversion]>([])
        var options = ParseService.Options()
        options.didConvert = { conversion in told.withLock { $0.append(conversion) } }
        let servers = [
            try TestServer(path: path, options: options), try TestServer(path: path, options: options),
        ]
        defer { for server in servers { try? server.store.close() } }
        for server in servers { _ = try await server.create("Item", ["n": 0.25]) }
        #expect(told.withLock { $0 }.isEmpty)
        for server in servers { _ = try await server.create("Item", ["n": .integer(.max), "new": .integer(.max)]) }
        let known = told.withLock { $0 }
        #expect(
            known.map { "\($0.className).\($0.field): \($0.oldType) to \($0.newType)" } == [
                "Item.n: double precision to numeric"
            ])
    }

    /// Each server has statements whose parameters were those of the old column.
    @Test(.onPostgres) func allServersAreExactOnceOneHasConverted() async throws {
        let (path, _) = try await earlierDatabase()
        let servers = [try TestServer(path: path), try TestServer(path: path)]
        defer { for server in servers { try? server.store.close() } }
        for server in servers {
            let id = try await server.create("Item", ["n": 0.25])
            #expect(try await server.send("PUT", "/classes/Item/\(id)", ["n": 0.5]).status == 200)
        }
        _ = try await servers[0].create("Item", ["n": .integer(.max)])
        #expect(try await type(servers[0]) == "numeric")
        let numbers: [JSONValue] = [0.30000000000000004, 9_007_199_254_740_995, 123_456_789_012_345_680]
        for (server, other) in [(servers[1], servers[0]), (servers[0], servers[1])] {
            for number in numbers {
                let id = try await server.create("Item", ["n": number])
                #expect(try await other.get("Item", id)["n"] == number)
                let changed = try await server.create("Item", ["n": 1])
                #expect(try await server.send("PUT", "/classes/Item/\(changed)", ["n": number]).status == 200)
                #expect(try await other.get("Item", changed)["n"] == number)
            }
        }
    }

    /// A transaction that saw the old column may write to the new one: it waited for it.
    @Test(.onPostgres) func fractionsStayExactDuringAConversion() async throws {
        let (path, _) = try await earlierDatabase()
        let server = try TestServer(path: path)
        _ = try await server.create("Item", ["n": 0.25])
        // The number of the tables doesn't change, so the server continues as before.
        let other = try TestServer(path: path)
        defer { try? other.store.close() }
        try await other.store.records.altering { alteration in
            try alteration.connection.execute(
                SQLStatement("ALTER TABLE \"Item\" ALTER COLUMN n TYPE numeric USING n::text::numeric"))
        }
        let id = try await server.create("Item", ["n": 0.30000000000000004])
        try server.store.close()
        let after = try TestServer(path: path)
        defer { try? after.store.close() }
        #expect(try await after.get("Item", id)["n"] == 0.30000000000000004)
        let large = try await after.create("Item", ["n": .integer(Self.large)])
        #expect(try await after.get("Item", large)["n"] == .integer(Self.large))
    }

    @Test(.onPostgres) func inProductionAnIntegerIsRefusedRatherThanRounded() async throws {
        let (path, id) = try await earlierDatabase()
        let server = try TestServer(mode: .production, path: path)
        defer { try? server.store.close() }
        let body: JSONValue = ["n": .integer(Self.large)]
        let creation: JSONValue = ["method": "POST", "path": "/parse/classes/Item", "body": body]
        let batch = try await server.send("POST", "/batch", ["requests": [creation]])
        #expect(batch.json.array?.first?["error"]?["code"] == 111, "\(batch.json)")
        #expect(try await server.send("POST", "/classes/Item", body).code == 111)
        #expect(try await server.send("PUT", "/classes/Item/\(id)", body).code == 111)
        await #expect(throws: RelataError.self) {
            try await server.store.records.save(Record("Item", ["n": .integer(Self.large)]))
        }
        #expect(try await server.find("Item").count == 1)
        // Integers that fit are written as before.
        let whole = try await server.create("Item", ["n": 9_007_199_254_740_994])
        #expect(try await server.get("Item", whole)["n"] == 9_007_199_254_740_994)
        #expect(try await type(server) == "double precision")
    }

    @Test(.onPostgres) func aConversionDoesNotBlockOthers() async throws {
        let (path, _) = try await earlierDatabase()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let reader = try server.store.records.pool.snapshot()
        _ = try reader.connection.value(SQLStatement("SELECT count(*) FROM \"Item\""))
        let isRefusedSoon = try await isQuick(.seconds(4)) {
            let reply = try await server.send("POST", "/classes/Item", ["n": .integer(.max)])
            #expect(reply.status == 503 && reply["error"]?.string?.contains("Item.n") == true, "\(reply.json)")
        }
        #expect(isRefusedSoon)
        #expect(try await server.find("Item").count == 1)
        reader.end()
        let id = try await server.create("Item", ["n": .integer(.max)])
        #expect(try await server.get("Item", id)["n"] == .integer(.max))
    }
}
