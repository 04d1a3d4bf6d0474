import Foundation
import Relata
import RelataCore
import RelataParse
import TestEngines
import TestSupport
import Testing

@Model struct EssayComment {
    @Attribute(.primaryKey) var objectId: String
    @Relationship(columns: ["essay"]) var essay: ToOne<Essay>?
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

/// A model whose topics are deleted with it, which those of the class aren't.
@Model(table: "Essay") struct EssayOwningTopics {
    @Attribute(.primaryKey) var objectId: String
    @Relationship(
        deleteRule: .cascade, ordered: true, joinTable: "_Join:topics:Essay", joinColumns: ["essayId", "topicId"])
    var topics: ToMany<EssayTopic>
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

@Model(table: "Topic") struct TopicOwningNotes {
    @Attribute(.primaryKey) var objectId: String
    @Relationship(removeRule: .delete, inverse: \TopicNote.topic) var notes: ToMany<TopicNote>
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

@Model struct TopicNote {
    @Attribute(.primaryKey) var objectId: String
    @Relationship(columns: ["topic"]) var topic: ToOne<TopicOwningNotes>?
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

/// Errors, rules, logs and feeds of a store in a caller's name are no ways around its rights.
@Suite(.onEveryEngine) struct ModelStoreLimitTests {
    private let server: TestServer
    private let mei, sam: TestServer.Person

    init() async throws { (server, mei, sam) = try await TestServer.withTwoUsers() }

    /// The error that a call throws.
    private func failure(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private func isInvalidUse(_ error: (any Error)?) -> Bool {
        if case .invalidUse? = error as? RelataError { true } else { false }
    }

    private func isInvalidReference(_ error: (any Error)?) -> Bool {
        if case .invalidReference? = error as? RelataError { true } else { false }
    }

    // MARK: Hidden properties

    @Test func aLinkedObjectTellsNothingOfItsHiddenProperties() async throws {
        let id = try await server.create(
            "Essay", ["title": "open", "price": 2, "owner": pointer("_User", mei.id)])
        let first = try await server.create("EssayComment", ["essay": pointer("Essay", id)])
        try await server.allow(["protectedFields": ["*": ["price"]]], in: "Essay")
        let his = try server.service.acting(as: .user(sam.id)).models(EssayComment.self)
        // A right guess gets the answer of a wrong one.
        for price in [2.0, 7.0] {
            let guess = EssayComment(objectId: "guess", essay: ToOne(Essay(objectId: id, title: "open", price: price)))
            #expect(isInvalidUse(await failure { _ = try await his.insert(guess) }), "\(price)")
        }
        let essay = try #require(try await his.fetch(Essay.self, id: id))
        _ = try await his.insert(EssayComment(objectId: "second", essay: ToOne(essay)))
        #expect(try await his.fetch(EssayComment.all).map(\.objectId).sorted() == [first, "second"].sorted())
        #expect(try await server.get("Essay", id)["price"]?.number == 2)
    }

    @Test func aHiddenLinkIsNotGuessed() async throws {
        let id = try await server.create(
            "Essay", ["title": "open", "price": 2, "owner": pointer("_User", mei.id)])
        try await server.allow(["protectedFields": ["*": ["owner"]]], in: "Essay")
        let his = try server.service.acting(as: .user(sam.id)).models(Essay.self)
        let owner = mei.id
        #expect(
            isInvalidReference(
                await failure { try await his.update(Essay.self, id: id) { $0.owner = ToOne(id: owner) } }))
        try await his.update(Essay.self, id: id) { $0.title = "changed" }
        #expect(try await server.get("Essay", id)["owner"]?["objectId"]?.string == owner)
    }

    // MARK: Rules

    @Test func aRuleOfModelsAloneDeletesNothing() async throws {
        let topic = try await server.create("Topic", ["name": "art"])
        let essay = try await server.create(
            "Essay", ["title": "arty", "topics": ["__op": "AddRelation", "objects": [pointer("Topic", topic)]]])
        try await server.allow(["delete": [:]], in: "Topic")
        let his = try server.service.acting(as: .user(sam.id)).models(EssayOwningTopics.self)
        #expect(await failure { try await his.delete(EssayOwningTopics.self, id: essay) } != nil)
        #expect(try await server.find("Topic").count == 1)
        // A model without the rule deletes the essay alone.
        let others = try server.service.acting(as: .user(sam.id)).models(EssayOnTopics.self)
        #expect(try await others.delete(EssayOnTopics.self, id: essay).deletedCount == 1)
        #expect(try await server.find("Topic").count == 1)
    }

    @Test func anEditDoesNotDeleteWhatTheCallerMayNot() async throws {
        let topic = try await server.create("Topic", ["name": "art"])
        let note = try await server.create("TopicNote", ["topic": pointer("Topic", topic)])
        try await server.allow(["delete": [:]], in: "TopicNote")
        let his = try server.service.acting(as: .user(sam.id)).models(TopicOwningNotes.self)
        #expect(
            isInvalidUse(
                await failure { try await his.update(TopicOwningNotes.self, id: topic) { $0.notes.remove(id: note) } }))
        #expect(try await server.find("TopicNote").count == 1)
        try await server.allow([:], in: "TopicNote")
        try await his.update(TopicOwningNotes.self, id: topic) { $0.notes.remove(id: note) }
        #expect(try await server.find("TopicNote").isEmpty)
    }

    // MARK: The server's store

    @Test func modelsAreComparedWithTheClassesOnce() async throws {
        let statements = SQLStatements()
        let server = try TestServer(trace: statements)
        _ = try await server.create("Topic", ["name": "art"])
        _ = try await server.find("Topic")
        /// The number of statements of a call that uses models.
        func count() async throws -> Int {
            statements.removeAll()
            let topics = try server.service.acting(as: .nobody).models(EssayTopic.self)
            #expect(try await topics.fetch(EssayTopic.all).map(\.name) == ["art"])
            return statements.all.count
        }
        let first = try await count()
        #expect(try await count() < first)
    }

    @Test func aServerOfFewerObjectsLendsNoOthers() async throws {
        let owner = pointer("_User", mei.id)
        _ = try await server.create("Essay", ["title": "open", "price": 1, "owner": owner])
        let hidden = try await server.create("Essay", ["title": "hidden", "price": 2, "owner": owner])
        let isOpen = ExpressionNode.comparison(
            .equal, .property(scope: 0, path: ["title"]), .value(.text("open")), [])
        let access = try Access(["Essay": isOpen], in: server.store.records.currentClasses.schema)
        let limited = TestServer(server.store.acting(under: access))
        let lent = try limited.service.acting(as: .nobody).models(Essay.self)
        #expect(try await lent.fetch(Essay.all).map(\.title) == ["open"])
        #expect(await failure { try await lent.update(Essay.self, id: hidden) { $0.title = "changed" } } != nil)
        #expect(try await lent.delete(Essay.self, id: hidden).deletedCount == 0)
        #expect(try await server.get("Essay", hidden)["title"] == "hidden")
    }

    // MARK: Changes

    @Test(.timeLimit(.minutes(20))) func anObservationFollowsRightsThatWereKnownBefore() async throws {
        let role = try await server.makeRole("Editors", users: [sam])
        _ = try await server.create(
            "Essay", ["title": "open", "price": 2, "owner": pointer("_User", mei.id)])
        _ = try await server.create("Essay", ["title": "editors", "ACL": acl(read: ["role:Editors"])])
        let hers = try server.service.acting(as: .user(mei.id)).models(Essay.self)
        #expect(try await hers.count(Essay.all) == 1)
        var titles = hers.observe(Essay.sorted { $0.title }).makeAsyncIterator()
        #expect(try await titles.next()?.map(\.title) == ["open"])
        try await server.send(
            "PUT", "/roles/\(role)", ["users": ["__op": "AddRelation", "objects": [pointer("_User", mei.id)]]])
        #expect(try await titles.next()?.map(\.title) == ["editors", "open"])
    }

    @Test(.timeLimit(.minutes(20))) func theFeedNamesClassesAndNoObjects() async throws {
        _ = try await server.create("Topic", ["name": "art"])
        let topics = try server.service.acting(as: .nobody).models(EssayTopic.self)
        var feed = topics.changes.makeAsyncIterator()
        _ = try await server.create("Topic", ["name": "music"])
        let changes = try #require(await feed.next()).changes
        #expect(changes.map(\.entity) == ["Topic"] && changes.allSatisfy { $0.kind == .unknown && $0.keys.isEmpty })
    }

    @Test func theChangeLogIsTheStoresOwn() async throws {
        var options = Store.Options()
        options.changeLog = true
        let store = try Store.make(for: EssayTopic.self, options: options)
        let server = TestServer(try ParseStore.serving(store))
        _ = try await store.insert(EssayTopic(objectId: "a", name: "art"))
        let lent = try server.service.acting(as: .nobody).models(EssayTopic.self)
        let end = try await store.endOfChanges()
        #expect(isInvalidUse(await failure { try await lent.removeChanges(through: end) }))
        #expect(isInvalidUse(await failure { _ = try await lent.endOfChanges() }))
        #expect(isInvalidUse(await failure { _ = try await lent.changes(after: 0) }))
        // On a server, the log waits for the end of transactions in other databases.
        try await waitUntil { try await !store.changes(after: 0).isEmpty }
        #expect(try await store.changes(after: 0).count == 1)
        // A server of the lent store would serve everything.
        #expect(isInvalidUse(await failure { _ = try ParseStore.serving(lent) }))
    }
}
