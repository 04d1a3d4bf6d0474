import Foundation
import Relata
import Synchronization
import Testing

private enum Status: String, CaseIterable, Sendable { case lent, shelved }
private enum Grade: Int, Sendable { case first = 1, second }
private struct Address: Codable, Hashable, Sendable { var city: String }

@Model private struct Keeper {
    @Attribute(.primaryKey) let name: String
    var grade: Grade = .first
    @Relationship(inverse: \Volume.keeper) var volumes: ToMany<Volume>
    @Relationship(inverse: \Keeper.boss) var staff: ToMany<Keeper>
    var boss: ToOne<Keeper>?
}

@Model private struct Volume {
    var id: Int?
    var status: Status = .shelved
    var address: Address?
    var keeper: ToOne<Keeper>?
    var labels: ToMany<Label>

    @Model struct Label {
        @Attribute(.primaryKey) let text: String
        var status: Status?
    }
}

@Shape(of: Volume.self) private struct VolumeID {
    var status: Status
}

/// The errors that a fetch reports.
private final class Reports: Sendable {
    private let list = Mutex<[UndecodableObject]>([])
    var texts: [String] { list.withLock { $0.map { "\($0.object) \($0.property ?? "-")" } } }
    func add(_ object: UndecodableObject) { list.withLock { $0.append(object) } }
}

/// Stored values that models can't read any more.
@Suite struct UndecodableTests {
    private func library(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(engine, for: Volume.self)
        let label = Volume.Label(text: "old", status: .lent)
        let boss = Keeper(name: "Ada")
        try store.save([
            boss, Keeper(name: "Ben", boss: ToOne(boss)), Keeper(name: "Cleo", boss: ToOne(id: "Ben")),
            Volume(id: 1, keeper: ToOne(id: "Ada"), labels: ToMany([label, Volume.Label(text: "new")])),
            Volume(id: 2, address: Address(city: "Oslo"), keeper: ToOne(id: "Ben"), labels: ToMany([label])),
            Volume(id: 3, keeper: ToOne(id: "Ben")),
        ])
        return store
    }

    @Test(arguments: Engine.allCases) func anErrorNamesTheObjectAndTheProperty(_ engine: Engine) throws {
        let store = try library(engine)
        try store.execute(#"UPDATE "Volume" SET "status" = 'lost' WHERE "id" = 2"#)
        let errors = [
            thrown { try store.fetch(Volume.all) }, thrown { try store.fetch(Volume.self, id: 2) },
            thrown { try store.page(Volume.all, size: 5) },
            thrown { try store.read { try $0.forEach(Volume.all) { _ in } } },
            thrown { try store.fetch(Keeper.all.including { $0.volumes }) },
        ]
        for error in errors {
            #expect(error?.kind == "corruptStore" && "\(error as Any)".contains("Volume 2.status: "))
        }
    }

    @Test(arguments: Engine.allCases) func anUndecodableObjectIsLeftOutAndReported(_ engine: Engine) async throws {
        let store = try library(engine)
        try await store.execute(#"UPDATE "Volume" SET "status" = 'lost' WHERE "id" = 2"#)
        try await store.execute(#"UPDATE "Volume" SET "address" = '{}' WHERE "id" = 3"#)
        let reports = Reports()
        let query = Volume.sorted { $0.id }.skippingUndecodable(reports.add)
        let expected = ["Volume 2 status", "Volume 3 address"]
        #expect(try await store.fetch(query).map(\.id) == [1])
        #expect(reports.texts == expected)
        let page = try await store.page(query, size: 2)
        #expect(page.objects.map(\.id) == [1])
        #expect(try await store.page(query, size: 2, after: page.next).objects.isEmpty)
        #expect(reports.texts == expected + expected)
        var streamed: [Int?] = []
        for try await volume in store.stream(query) { streamed.append(volume.id) }
        #expect(streamed == [1])
        #expect(reports.texts == expected + expected + expected)
    }

    @Test(arguments: Engine.allCases) func linksToUndecodableObjectsAreOmitted(_ engine: Engine) throws {
        let store = try library(engine)
        try store.execute(#"UPDATE "Keeper" SET "grade" = 9 WHERE "name" = 'Ben'"#)
        try store.execute(#"UPDATE "Label" SET "status" = 'lost' WHERE "text" = 'old'"#)
        let reports = Reports()
        let volumes = try store.fetch(
            Volume.sorted { $0.id }.including {
                $0.keeper
                $0.labels
            }.skippingUndecodable(reports.add))
        #expect(volumes.map(\.id) == [1, 2, 3])
        #expect(volumes.map { (try? $0.keeper?.object)?.name } == ["Ada", nil, nil])
        #expect(try volumes.map { try $0.labels.objects.map(\.text) } == [["new"], [], []])
        #expect(reports.texts.sorted() == ["Keeper Ben grade", "Volume.Label old status"])
        let keepers = try store.fetch(
            Keeper.sorted { $0.name }.including { $0.volumes }.skippingUndecodable { _ in })
        #expect(try keepers.map { try $0.volumes.objects.map(\.id) } == [[1], []])
    }

    @Test(arguments: Engine.allCases) func treesOmitUndecodableObjects(_ engine: Engine) throws {
        let store = try library(engine)
        try store.execute(#"UPDATE "Keeper" SET "grade" = 9 WHERE "name" = 'Ben'"#)
        let reports = Reports()
        let query = Keeper.where { $0.boss == nil }.including { $0.staff.recursive() }
        let keepers = try store.fetch(query.skippingUndecodable(reports.add))
        #expect(try keepers.map { try $0.staff.objects.count } == [0])
        #expect(reports.texts == ["Keeper Ben grade"])
        let cleo = try store.fetch(
            Keeper.where { $0.name == "Cleo" }.including { $0.boss.recursive() }.skippingUndecodable { _ in })
        #expect(cleo.map(\.name) == ["Cleo"] && (try? cleo[0].boss?.object) == nil)
    }

    @Test(arguments: Engine.allCases) func aFetchOfKeysFailsForThatKeyOnly(_ engine: Engine) throws {
        let store = try library(engine)
        try store.execute(#"UPDATE "Volume" SET "status" = 'lost' WHERE "id" = 2"#)
        let keys = [1, 2, 7].map { ObjectKey(Volume.self, $0) }
        let kinds = try store.fetch(ids: keys).map { result in
            switch result.result {
            case .success: "object"
            case .failure(let error): error.kind
            }
        }
        #expect(kinds == ["object", "corruptStore", "notFound"])
    }

    @Test(arguments: Engine.allCases) func queriesWithoutObjectsOmitNothing(_ engine: Engine) throws {
        let store = try library(engine)
        let query = Volume.all.skippingUndecodable { _ in }
        #expect(thrown { try store.fetch(query.select { ($0.status) }) }?.kind == "invalidUse")
        #expect(thrown { try store.fetch(query.shaped(as: VolumeID.self)) }?.kind == "invalidUse")
        #expect(try store.count(query) == 3)
    }

    @Test(arguments: Engine.allCases) func aCheckFindsThem(_ engine: Engine) async throws {
        let store = try library(engine)
        #expect(try await store.check().isEmpty)
        try await store.execute(#"UPDATE "Volume" SET "status" = 'lost' WHERE "id" > 1"#)
        try await store.execute(#"UPDATE "Volume" SET "address" = '{}' WHERE "id" = 1"#)
        try await store.execute(#"UPDATE "Keeper" SET "grade" = 9 WHERE "name" = 'Ben'"#)
        let findings = try await store.check()
        #expect(findings.allSatisfy { $0.kind == .undecodable })
        #expect(
            findings.map { "\($0.subject) \($0.count)" }.sorted() == [
                "Keeper.grade 1", "Volume.address 1", "Volume.status 2",
            ])
        #expect(findings.first { $0.subject == "Volume.status" }?.message.contains("Volume 2: ") == true)
    }

    @Test(arguments: Engine.allCases) func unknownCasesAreRefusedInPredicates(_ engine: Engine) throws {
        let store = try library(engine)
        let texts = [
            "status == 'lost'", "status != 'lost'", "'lost' == status", "status IN {'lent', 'lost'}",
            "keeper.grade == 9", "NOT (status == 'Lent')", "ANY labels.status == 'lost'", "'lost' IN labels.status",
        ]
        for text in texts {
            let error = thrown { try store.count(Volume.matching(text)) }
            #expect(error?.kind == "predicateFormat", "\(text): \(error as Any)")
            #expect("\(error as Any)".contains("has no such case"), "\(text): \(error as Any)")
        }
        #expect(thrown { try store.count(Volume.matching("status == %@", "lost")) }?.kind == "predicateFormat")
        #expect(thrown { try store.count(Volume.matching("status IN %@", ["lost"])) }?.kind == "predicateFormat")
        let error = thrown { try store.count(Volume.matching("status == 'lend'")) }
        #expect("\(error as Any)".contains("did you mean lent?"))
        #expect(try store.count(Volume.matching("status IN {'lent', 'shelved'} AND keeper.grade == 1")) == 3)
        #expect(try store.count(Volume.matching("ANY labels.status == nil OR status BEGINSWITH 's'")) == 3)
    }
}
