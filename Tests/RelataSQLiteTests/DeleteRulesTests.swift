import Foundation
import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// The effect of each rule in each direction.
@Suite struct DeleteRulesTests {
    private func courses(_ rule: DeleteRule) throws -> TestDatabase {
        let database = try TestDatabase([
            Describe.entity("Series", Describe.toMany("episodes", "Episode", inverse: "series", rule: rule)),
            Describe.entity("Episode", Describe.toOne("series", "Series"), Describe.text("title")),
        ])
        try database.insert("Series", [1], [2])
        try database.insert("Episode", [10, 1, "a"], [11, 1, "b"], [12, 2, "c"], [13, nil, "d"])
        return database
    }

    @Test func cascadeDeletesTheObjectsThatRefer() throws {
        let database = try courses(.cascade)
        let plan = try database.plan("Series", 1)
        let report = try database.delete("Series", 1)
        #expect(
            report.deleted == [
                DeletedObjects(entity: "Episode", keys: .of(10, 11)), DeletedObjects(entity: "Series", keys: .of(1)),
            ])
        #expect(report.deletedCount == 3)
        #expect(report.deletedKeys(of: "Episode") == .of(10, 11))
        #expect(report.cascades == [CascadePath(from: "Series", relationship: "Series.episodes", to: "Episode")])
        #expect(plan == report)
        #expect(try database.keys("Episode") == [12, 13])
        #expect(try database.keys("Series") == [2])
    }

    @Test func nullifyUnsetsTheReferences() throws {
        let database = try courses(.nullify)
        let plan = try database.plan("Series", 1)
        let report = try database.delete("Series", 1)
        #expect(report.deleted == [DeletedObjects(entity: "Series", keys: .of(1))])
        #expect(report.nullified == [NullifiedLinks(entity: "Episode", property: "series", keys: .of(10, 11))])
        #expect(plan == report)
        #expect(try database.rows("Episode") == [[10, nil, "a"], [11, nil, "b"], [12, 2, "c"], [13, nil, "d"]])
    }

    @Test func denyRefusesAndNamesTheBlockers() throws {
        let database = try courses(.deny)
        let blockers = [10, 11].map {
            Blocker(
                object: ObjectReference(entity: "Episode", key: KeyValue(.integer($0))),
                relationship: "Series.episodes", blocked: ObjectReference(entity: "Series", key: KeyValue(1)))
        }
        let plan = try database.plan("Series", 1)
        #expect(plan.blockers == blockers)
        #expect(plan.isDenied)
        for method in [Connection.DeletionMethod.setBased, .closureFirst] {
            #expect {
                try database.delete("Series", 1, method: method)
            } throws: {
                guard case RelataError.deleteDenied(let found) = $0 else { return false }
                return found == blockers
            }
        }
        #expect(try database.keys("Series") == [1, 2])
        try database.delete("Episode", 10, 11)
        #expect(try database.delete("Series", 1).deletedCount == 1)
    }

    @Test func noActionLeavesDanglingReferences() throws {
        let database = try courses(.noAction)
        let plan = try database.plan("Series", 1)
        let report = try database.delete("Series", 1)
        #expect(report.deleted == [DeletedObjects(entity: "Series", keys: .of(1))])
        #expect(report.nullified.isEmpty)
        #expect(plan == report)
        #expect(try database.rows("Episode").map { $0[1] } == [1, 1, 2, nil])
    }

    @Test func referencesDeclareTheirOwnRule() throws {
        let database = try TestDatabase([
            Describe.entity("Artist"),
            Describe.entity("Artwork", Describe.toOne("artist", "Artist", required: true, whenTargetGoes: .cascade)),
            Describe.entity("Letter", Describe.toOne("writer", "Artist", required: true)),
        ])
        try database.insert("Artist", [1], [2])
        try database.insert("Artwork", [5, 1])
        try database.insert("Letter", [7, 2])
        #expect(try database.delete("Artist", 1).deletedKeys(of: "Artwork") == .of(5))
        let plan = try database.plan("Artist", 2)
        #expect(plan.blockers.map(\.relationship) == ["Letter.writer"], "required references deny by default")
    }

    @Test func cascadeOnAToOneDeletesTheTarget() throws {
        let database = try TestDatabase([
            Describe.entity("Book", Describe.toOne("isbn", "ISBN", rule: .cascade)),
            Describe.entity("ISBN", Describe.toMany("labels", "Label", inverse: "isbn", rule: .cascade)),
            Describe.entity("Label", Describe.toOne("isbn", "ISBN")),
        ])
        try database.insert("ISBN", [1], [2], [3])
        try database.insert("Label", [7, 1], [8, 2])
        // Two books share an ISBN: it is deleted with the first, and the other book's reference is unset.
        try database.insert("Book", [10, 1], [11, nil], [12, 1], [13, 3])
        let plan = try database.plan("Book", 10, 11)
        let report = try database.delete("Book", 10, 11)
        #expect(report.deletedKeys(of: "ISBN") == .of(1))
        #expect(report.deletedKeys(of: "Label") == .of(7))
        #expect(report.nullified == [NullifiedLinks(entity: "Book", property: "isbn", keys: .of(12))])
        #expect(report == plan)
        #expect(try database.rows("Book") == [[12, nil], [13, 3]])
        #expect(try database.keys("Label") == [8])
    }

    @Test func denyOnAToOneProtectsTheSource() throws {
        let database = try TestDatabase([
            Describe.entity("Lock", Describe.toOne("door", "Door", rule: .deny)), Describe.entity("Door"),
        ])
        try database.insert("Door", [1])
        try database.insert("Lock", [10, 1], [11, nil])
        let plan = try database.plan("Lock", 10, 11)
        #expect(
            plan.blockers == [
                Blocker(
                    object: ObjectReference(entity: "Door", key: KeyValue(1)), relationship: "Lock.door",
                    blocked: ObjectReference(entity: "Lock", key: KeyValue(10)))
            ])
        #expect(throws: RelataError.self) { try database.delete("Lock", 10) }
        #expect(try database.keys("Lock") == [10, 11])
        #expect(try database.delete("Lock", 11).deletedCount == 1)
        try database.delete("Door", 1)
        #expect(try database.delete("Lock", 10).deletedCount == 1)
    }

    @Test func bothDirectionsOfARelationshipMayHaveARule() throws {
        let database = try TestDatabase([
            Describe.entity("Series", Describe.toMany("episodes", "Episode", inverse: "series", rule: .cascade)),
            Describe.entity("Episode", Describe.toOne("series", "Series", rule: .nullify)),
        ])
        try database.insert("Series", [1])
        try database.insert("Episode", [10, 1], [11, 1])
        #expect(try database.delete("Episode", 10).deletedCount == 1)
        #expect(try database.keys("Series") == [1])
        #expect(try database.delete("Series", 1).deletedCount == 2)
    }

    @Test func objectsThatDoNotExistAreLeftOut() throws {
        let database = try courses(.cascade)
        let report = try database.delete("Series", 99, 2, 2)
        #expect(report.deletedKeys(of: "Series") == .of(2))
        #expect(try database.delete("Series", 99).deleted.isEmpty)
        #expect(try database.delete("Series", roots: .keys([])).deleted.isEmpty)
        #expect(try database.plan("Series", 99).lines() == ["Series: nothing to delete"])
    }

    @Test func nullifyIncrementsTheRevision() throws {
        for encoding in [DateEncoding.microseconds, .iso8601, .seconds] {
            let note = Entity(
                name: "Note",
                properties: [
                    .attribute(Attribute("id", type: .integer)), Describe.toOne("folder", "Folder"),
                    .attribute(Attribute("revision", type: .integer)),
                    .attribute(Attribute("changed", type: .date(encoding))),
                ], revision: "revision", updatedAt: "changed")
            let database = try TestDatabase([Describe.entity("Folder"), note])
            try database.insert("Folder", [1])
            try database.insert("Note", [10, 1, 4, 0], [11, nil, 4, 0])
            let now = Date(timeIntervalSince1970: 1_000.25)
            try database.connection.delete(
                entity: database.number("Folder"), roots: .keys([KeyValue(1)]), schema: database.schema,
                access: .everything, now: now)
            let rows = try database.rows("Note")
            #expect(rows[0][1...2] == [nil, 5])
            #expect(rows[1][1...2] == [nil, 4])
            #expect(try DateCoding(encoding).decode(rows[0][3]) == now)
        }
    }

    @Test func unsettingAReferenceUnsetsItsPosition() throws {
        let database = try TestDatabase([
            Entity(
                name: "List",
                properties: [
                    .attribute(Attribute("id", type: .integer)),
                    .relationship(
                        Relationship("items", target: "Item", kind: .toMany(inverse: "list"), order: .stored)),
                ]), Describe.entity("Item", Describe.toOne("list", "List")),
        ])
        try database.insert("List", [1])
        try database.insert("Item", [10, 1, 1024])
        try database.delete("List", 1)
        #expect(try database.rows("Item") == [[10, nil, nil]])
    }

    @Test func uuidAndTextKeysAreReadAsTheirType() throws {
        let owner = Entity(name: "Owner", properties: [.attribute(Attribute("id", type: .uuid(.blob)))])
        let thing = Entity(
            name: "Thing",
            properties: [
                .attribute(Attribute("name", type: .text)),
                Describe.toOne("owner", "Owner", required: true, whenTargetGoes: .cascade),
            ], key: ["name"])
        let database = try TestDatabase([owner, thing])
        let id = Value.uuid(UUID())
        try database.insert("Owner", [id])
        try database.insert("Thing", ["Mei Chen", id], ["007", id])
        let report = try database.delete("Owner", id)
        #expect(report.deletedKeys(of: "Owner") == [KeyValue(id)])
        #expect(report.deletedKeys(of: "Thing") == [KeyValue("007"), KeyValue("Mei Chen")])
    }
}
