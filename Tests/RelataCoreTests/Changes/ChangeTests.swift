import Foundation
import RelataCore
import Testing

@Suite struct ChangeTests {
    private func keys(_ numbers: Int64...) -> KeyList { KeyList(numbers.map { KeyValue(.integer($0)) }) }

    @Test func keysBelongToOneEntityAndOneKind() {
        let changes = ChangeSet([
            Change(entity: "A", kind: .insert, keys: keys(1, 2)), Change(entity: "B", kind: .insert, keys: keys(3)),
            Change(entity: "A", kind: .delete, keys: keys(4)), Change(entity: "A", kind: .insert, keys: keys(5)),
        ])
        #expect(changes.keys(of: "A", .insert) == keys(1, 2, 5))
        #expect(changes.keys(of: "A", .delete) == keys(4))
        #expect(changes.keys(of: "B", .update).isEmpty)
        #expect(changes.touches("B") && !changes.touches("C"))
    }

    @Test func changesOfGuardedEntitiesAreUnknownToOthers() throws {
        let schema = try Schema(MusicEntities.all)
        let isLive = ExpressionNode.property(scope: 0, path: ["isLive"])
        let access = try Access(["Album": isLive], in: schema)
        let changes = ChangeSet([
            Change(entity: "Album", kind: .insert, keys: keys(1)),
            Change(entity: "Album", kind: .delete, keys: keys(2)),
            Change(entity: "Track", kind: .insert, keys: keys(3)),
        ])
        #expect(
            changes.seen(under: access).changes == [Change(entity: "Album", kind: .unknown), changes.changes[2]])
        #expect(changes.seen(under: .everything) == changes)
    }

    @Test func keysOfSeveralColumnsAreWrittenAndReadBack() throws {
        let keys = KeyList([KeyValue(["a", 1]), KeyValue(["b", 2])])
        #expect(try JSONDecoder().decode(KeyList.self, from: JSONEncoder().encode(keys)) == keys)
    }
}
