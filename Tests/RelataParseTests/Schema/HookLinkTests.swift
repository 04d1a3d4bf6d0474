import Foundation
import Relata
import RelataParse
import Synchronization
import TestEngines
import Testing

@Model struct Keeper {
    let id: Int?
    var name: String
    var marks: ToMany<ShopTag>
}

@Model struct ShopTag {
    @Attribute(.primaryKey) let name: String
}

@Model struct Badge {
    @Attribute(.primaryKey) let name: String
    var note: String = ""
    var shop: ToOne<Shop>?
    @Attribute(.revision) var version: Int
}

@Model struct Shop {
    let id: Relata.ID<Shop>
    @Attribute(.notEmpty) var name: String
    var code: String?
    var keeper: ToOne<Keeper>?
    var tags: ToMany<ShopTag>
    @Relationship(inverse: \Badge.shop) var badge: HasOne<Badge>
    @Attribute(.revision) var version: Int
}

@Model struct Panel {
    @Attribute(.primaryKey) var name: String
    var note: String = ""
    @Relationship(inverse: \Seat.panel, minimum: 1) var seats: ToMany<Seat>
}

@Model struct Seat {
    @Attribute(.primaryKey) let name: String
    var panel: ToOne<Panel>?
}

/// Objects that a hook links to are saved with the object.
@Suite(.onEveryEngine) struct HookLinkTests {
    private let statements = SQLStatements()
    private let store: Store

    init() throws {
        var options = Store.Options()
        options.trace = { [statements] sql, _ in statements.append(sql) }
        store = try Store.make(for: Shop.self, Badge.self, Panel.self, options: options)
    }

    private func server<M: Model>(
        _ model: M.Type, _ change: @escaping @Sendable (inout M, ModelHooks.Change<M>) throws -> Void
    ) throws -> TestServer {
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        return TestServer(
            try ParseStore.serving(store) { hooks in hooks.beforeSave(model, change) }, options: options)
    }

    private func written(_ table: String) -> Int {
        statements.all.count { $0.hasPrefix("INSERT INTO \"\(table)\"") || $0.hasPrefix("UPDATE \"\(table)\"") }
    }

    @Test func newObjectsThatAHookLinksToAreInsertedFirst() async throws {
        let server = try server(Shop.self) { shop, _ in shop.keeper = ToOne(Keeper(name: "of \(shop.name)")) }
        for isNew in [true, false] {
            statements.removeAll()
            let id = try await store.fetch(Shop.all).first?.id.description
            let reply = try await server.send(
                isNew ? "POST" : "PUT", "/classes/Shop" + (id.map { "/\($0)" } ?? ""), ["name": isNew ? "a" : "b"])
            let shop = try #require(try await store.fetch(Shop.all.including { $0.keeper }).first, "\(reply.json)")
            let keeper = try #require(shop.keeper?.loaded)
            #expect(keeper.name == "of \(shop.name)" && shop.name == (isNew ? "a" : "b"))
            #expect(reply["keeper"] == pointer("Keeper", "\(keeper.id ?? 0)"), "\(reply.json)")
            #expect(shop.version == (isNew ? 1 : 2) && written("Shop") == 1)
        }
        #expect(try await store.fetch(Keeper.all).count == 2)
    }

    @Test func listsThatAHookEditsAlsoGetTheClientsObjects() async throws {
        let server = try server(Shop.self) { shop, change in
            shop.tags.add(ShopTag(name: change.isNew ? "new" : "known"))
        }
        try await store.insert([ShopTag(name: "x"), ShopTag(name: "y")])
        func tags() async throws -> Set<String> {
            let shop = try #require(try await store.fetch(Shop.all.including { $0.tags }).first)
            return Set(try shop.tags.objects.map(\.name))
        }
        statements.removeAll()
        let id = try await server.create("Shop", ["name": "a", "tags": adding(pointer("ShopTag", "x"))])
        #expect(try await tags() == ["x", "new"])
        try await server.send("PUT", "/classes/Shop/\(id)", ["tags": adding(pointer("ShopTag", "y"))])
        #expect(try await tags() == ["x", "y", "new", "known"])
        #expect(written("Shop") == 1)
    }

    @Test func listsOfAnObjectWhoseKeyTheDatabaseAssignsAreEdited() async throws {
        let server = try server(Keeper.self) { keeper, _ in keeper.marks.add(ShopTag(name: "of \(keeper.name)")) }
        let id = try await server.create("Keeper", ["name": "a"])
        let keeper = try #require(try await store.fetch(Keeper.all.including { $0.marks }).first)
        #expect(try keeper.marks.objects.map(\.name) == ["of a"] && "\(keeper.id ?? 0)" == id)
    }

    @Test func aPartnerSetByAHookLeavesItsFormerOwner() async throws {
        let shop = try await store.save(Shop(name: "a", version: 0))
        try await store.save(Badge(name: "first", shop: ToOne(id: shop.id), version: 0))
        let server = try server(Badge.self) { badge, _ in badge.shop = ToOne(id: shop.id) }
        _ = try await server.create("Badge", ["objectId": "second"])
        #expect(try await store.fetch(Badge.self, id: "first")?.shop == nil)
        #expect(try await store.fetch(Badge.self, id: "second")?.shop?.id == shop.id)
        try await server.send("PUT", "/classes/Badge/first", ["note": "n"])
        let first = try #require(try await store.fetch(Badge.self, id: "first"))
        #expect(first.shop?.id == shop.id && first.note == "n" && first.version == 3)
        #expect(try await store.fetch(Badge.self, id: "second")?.shop == nil)
        try await server.send("PUT", "/classes/Badge/first", ["note": "m"])
        #expect(try await store.fetch(Badge.self, id: "first")?.shop?.id == shop.id)
    }

    @Test func theTransactionStillHasTheOldObject() async throws {
        let seen = Mutex<[String?]>([])
        let server = try server(Shop.self) { shop, change in
            let stored = try change.transaction.fetch(shop.id)
            #expect(stored == change.original && shop.version == (stored?.version ?? 0) + 1)
            seen.withLock { $0.append(stored?.name) }
            if try change.transaction.exists(Shop.where { [code = shop.code] in $0.code == code && $0.code != nil }) {
                throw ParseError(.duplicateValue, "there is a shop of that code")
            }
        }
        let id = try await server.create("Shop", ["name": "a", "code": "1"])
        #expect(try await server.send("POST", "/classes/Shop", ["name": "b", "code": "1"]).code == 137)
        try await server.send("PUT", "/classes/Shop/\(id)", ["name": "c", "code": "2"])
        #expect(seen.withLock { $0 } == [nil, nil, "a"])
        #expect(try await store.fetch(Shop.all).map(\.name) == ["c"])
    }

    @Test func aHooksChangesAreCheckedBeforeTheyAreWritten() async throws {
        let server = try server(Shop.self) { shop, _ in if shop.name == "empty" { shop.name = " " } }
        let id = try await server.create("Shop", ["name": "a"])
        statements.removeAll()
        #expect(try await server.send("POST", "/classes/Shop", ["name": "empty"]).code == 142)
        #expect(try await server.send("PUT", "/classes/Shop/\(id)", ["name": "empty"]).code == 142)
        #expect(written("Shop") == 0)
        #expect(try await store.fetch(Shop.all).map(\.name) == ["a"])
    }

    @Test func listsAreCountedOnceTheRequestIsDone() async throws {
        let server = try server(Panel.self) { panel, _ in panel.note = "changed" }
        try await store.insert([Seat(name: "x"), Seat(name: "y")])
        #expect(try await server.send("POST", "/classes/Panel", ["objectId": "empty"]).code == 142)
        let reply = try await server.send(
            "POST", "/classes/Panel", ["objectId": "a", "seats": adding(pointer("Seat", "x"))])
        #expect(reply.status == 201 && reply["note"] == "changed", "\(reply.json)")
        let removal: JSONValue = ["__op": "RemoveRelation", "objects": [pointer("Seat", "x")]]
        #expect(try await server.send("PUT", "/classes/Panel/a", ["seats": removal]).code == 142)
        #expect(try await store.fetch(Panel.all).map(\.note) == ["changed"])
    }

    @Test func aHookCantChangeTheKey() async throws {
        let server = try server(Panel.self) { panel, _ in panel.name = "other" }
        try await store.insert(Seat(name: "x"))
        let reply = try await server.send(
            "POST", "/classes/Panel", ["objectId": "a", "seats": adding(pointer("Seat", "x"))])
        #expect(reply.code != nil && reply.status >= 400, "\(reply.json)")
        #expect(try await store.fetch(Panel.all).isEmpty)
    }
}
