import RelataCore
import Testing

/// The columns whose values are unique together.
@Suite struct UniqueSetTests {
    private func sets(_ entities: [Entity]) throws -> [[[String]]] {
        let schema = try Schema(entities)
        return zip(schema.tables, schema.uniqueSets).map { table, sets in
            sets.map { $0.columns.map { table.columns[$0].name } }
        }
    }

    @Test func uniqueSetsAndOneToOnesAreListedOnceWithoutTheKey() throws {
        let entities = [
            Entity(
                name: "A", properties: [.id(), .text("x"), .text("y"), .toOne("b", "B")],
                uniques: [["x"], ["b", "y"], ["id"], ["b"]]),
            Entity(name: "B", properties: [.id(), .hasOne("a", "A", inverse: "b")]),
        ]
        #expect(try sets(entities) == [[["bId"], ["x"], ["bId", "y"]], []])
        // A row may take the partner of another.
        let unique = try Schema(entities).uniqueSets[0]
        #expect(unique.map { $0.reference != nil } == [true, false, false])
    }

    @Test func aUniqueReferenceWithoutAnInverseIsNotAOneToOne() throws {
        let schema = try Schema([
            Entity(name: "A", properties: [.id(), .toOne("b", "B")], uniques: [["b"]]),
            Entity(name: "B", properties: [.id()]),
        ])
        #expect(schema.uniqueSets[0].map(\.reference) == [nil])
    }
}
