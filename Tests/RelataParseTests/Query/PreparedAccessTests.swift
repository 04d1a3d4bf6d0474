import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@testable import RelataParse

/// A cached query serves all callers with the same form of access, each with other values.
@Suite(.onEveryEngine) struct PreparedAccessTests {
    @Test func aCachedQueryIsBoundAgainForEachCaller() async throws {
        let server = try TestServer()
        let ids = try await [server.create("Item", ["owner": "ada"]), server.create("Item", ["owner": "bob"])]
        _ = try await server.create("Item", ["owner": "bob"])
        let classes = server.store.currentClasses
        let item = try #require(classes["Item"])
        func access(_ owner: String) throws -> Access {
            try Access(
                ["Item": .comparison(.equal, .property(scope: 0, path: ["owner"]), .value(.text(owner)), [])],
                in: classes.schema)
        }
        let (ada, bob) = (try access("ada"), try access("bob"))
        func prepared(_ access: Access) -> PreparedFetch {
            classes.prepared.fetch(of: item, Selection(), naming: .nothing, in: classes, under: access)
        }
        #expect(prepared(ada) === prepared(bob) && prepared(ada) !== prepared(.everything))
        func found(_ plan: QueryPlan, _ access: Access) async throws -> Int {
            let statement = try prepared(access).statement(plan, under: access)
            return try await server.store.read(as: .master) { try $0.connection.values(statement).count }
        }
        let list = QueryPlan(entity: "Item", sort: [SortTerm(.property(scope: 0, path: ["owner"]))])
        for _ in 0..<2 {
            #expect(try await found(list, ada) == 1)
            #expect(try await found(list, bob) == 2)
            #expect(try await found(list, .everything) == 3)
            for (number, id) in ids.enumerated() {
                let key = try #require(item.objectID.key(id))
                let one = QueryPlan(entity: "Item", condition: .keyIn(.property(scope: 0, path: []), [key]))
                #expect(try await found(one, ada) == 1 - number)
                #expect(try await found(one, bob) == number)
                #expect(try await found(one, .everything) == 1)
            }
        }
        #expect(prepared(ada).keptLists == 1)
    }
}
