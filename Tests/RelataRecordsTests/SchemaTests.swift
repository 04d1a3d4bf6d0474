import Foundation
import RelataRecords
import TestEngines
import Testing

/// Classes that are described, changed and deployed.
@Suite(.onEveryEngine) struct SchemaTests {
    @Test func classesDescribeThemselves() async throws {
        let store = try RecordStore.make()
        try await store.addMusic()
        try await store.alter { schema in
            try schema.addList("albums", of: "Album", to: "Artist", inverse: "artist", deleteRule: .deny)
            try schema.addField("isLive", .boolean, to: "Album", isRequired: true, default: false)
            try schema.addUnique("title", in: "Album")
        }
        let classes = try await store.classes
        let album = try #require(classes.first { $0.name == "Album" })
        #expect(album.key == ["id"] && album.uniques == [["title"]] && album.updatedAt == "updatedAt")
        #expect(album["year"]?.kind == .value(.integer) && album["year"]?.isRequired == false)
        #expect(album["isLive"]?.isRequired == true)
        #expect(album["artist"]?.kind == .link("Artist") && album["artist"]?.inverse == "albums")
        #expect(album["artist"]?.onTargetDelete == .deny)
        let artist = try #require(classes.first { $0.name == "Artist" })
        #expect(artist["albums"]?.kind == .links("Album") && artist["albums"]?.inverse == "artist")
        #expect(try await store.count(RecordQuery("Album", where: "isLive == FALSE")) == 2)
    }

    @Test func theOtherSidesOfLinksAreAdded() async throws {
        let store = try RecordStore.make()
        try await store.alter { schema in
            for name in ["Person", "Passport", "Club"] {
                try schema.addClass(name)
                try schema.addField("name", .text, to: name)
            }
            try schema.addLink("holder", to: "Person", in: "Passport")
            try schema.addLink("passport", to: "Passport", in: "Person", inverse: "holder", deleteRule: .cascade)
            try schema.addList("clubs", of: "Club", to: "Person")
            try schema.addList("members", of: "Person", to: "Club", inverse: "clubs", isOrdered: false)
        }
        let person = try #require(try await store.classes.first { $0.name == "Person" })
        #expect(person["passport"]?.kind == .link("Passport") && person["passport"]?.inverse == "holder")
        #expect(person["clubs"]?.inverse == "members")
        let passport = Record("Passport", ["name": "P1"])
        let ann = try await store.save(
            Record(
                "Person",
                ["name": "Ann", "passport": .link(passport), "clubs": .links([Record("Club", ["name": "C"])])])
        )
        let found = try #require(try await store.first(RecordQuery("Passport").including("holder.clubs")))
        #expect(found["holder"].record?["clubs"].records.map { $0["name"] } == ["C"])
        let club = try await store.first(RecordQuery("Club", where: "ANY members.name == 'Ann'").including("members"))
        #expect(club?["members"].records.map(\.key) == [ann.key])
        // Another passport takes its place.
        var again = try #require(try await store.refreshed(ann))
        again["passport"] = .link(Record("Passport", ["name": "P2"]))
        try await store.save(again)
        let whole = try await store.first(RecordQuery("Person").including("passport"))
        #expect(whole?["passport"].record?["name"] == "P2")
        try await store.save(Record("Passport", ["name": "P3", "holder": .link(ann)]))
        #expect(try await store.fetch(RecordQuery("Passport", where: "holder == %@", ann)).map { $0["name"] } == ["P3"])
        let report = try await store.delete(ann)
        #expect(report.deleted.map(\.entity).sorted() == ["Passport", "Person"])
        #expect(try await store.fetch(RecordQuery("Passport", sort: "name")).map { $0["name"] } == ["P1", "P2"])
    }

    @Test func invalidSchemasAreRefusedWithoutChanges() async throws {
        let store = try RecordStore.make()
        let (_, albums) = try await store.addMusic()
        try await store.save(Record("Album", ["title": "Kind of Blue"]))
        let before = try await store.schema()
        let changes: [@Sendable (inout ClassesDraft) throws -> Void] = [
            { try $0.addUnique("title", in: "Album") },
            { try $0.addField("TITLE", .text, to: "Album") },
            { try $0.addField("stars", .integer, to: "Album", default: "many") },
            { try $0.addLink("label", to: "Label", in: "Album") },
            { try $0.removeClass("Artist") },
            { try $0.removeField("id", of: "Album") },
            { try $0.addClass("ALBUM") },
            { try $0.addClass("relata_x") },
            { try $0.addIndex("titel", in: "Album") },
            {
                try $0.addClass("Fine")
                try $0.addField("needed", .text, to: "Album", isRequired: true)
            },
        ]
        for (number, change) in changes.enumerated() {
            await #expect(throws: RelataError.self, "\(number)") { try await store.alter(change) }
        }
        #expect(try await store.schema() == before)
        try await store.alter { schema in
            try schema.removeField("artist", of: "Album")
            try schema.removeClass("Artist")
        }
        #expect(try await store.classes.map(\.name) == ["Album"])
        #expect(try await store.refreshed(albums[0])?["title"] == "Kind of Blue")
    }

    @Test func aSchemaIsDeployedToAnotherStore() async throws {
        let folder = try TestDatabases()
        let development = try RecordStore.make()
        let production = try RecordStore.open(folder.path(), mode: .production)
        try await development.addMusic()
        try await production.deploy(try await development.schema())
        try await production.addMusic()
        try await development.alter { schema in
            try schema.addField("stars", .integer, to: "Album")
            try schema.addIndex("year", in: "Album")
            try schema.removeField("name", of: "Artist")
        }
        let data = try JSONEncoder().encode(try await development.schema())
        let wanted = try JSONDecoder().decode(RecordSchema.self, from: data)
        let plan = try await production.deploymentPlan(for: wanted)
        #expect(plan.changes.map(\.property).contains("stars") && plan.refusals.isEmpty)
        #expect(try await production.classes.first { $0.name == "Album" }?["stars"] == nil)
        try await production.deploy(wanted)
        #expect(try await production.deploymentPlan(for: wanted).isEmpty)
        #expect(try await production.classes.first { $0.name == "Album" }?.indexes == [["year"]])
        // Fields that the deployed schema doesn't have stay.
        #expect(try await production.first(RecordQuery("Artist"))?["name"] == "Miles Davis")
        let other = try RecordStore.make()
        try await other.save(Record("Album", ["title": 7]))
        await #expect(throws: RelataError.self) { try await production.deploy(try await other.schema()) }
        #expect(try await production.count(RecordQuery("Album")) == 2)
    }
}
