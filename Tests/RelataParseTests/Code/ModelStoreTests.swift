import Foundation
import Relata
import RelataCore
import RelataParse
import TestEngines
import Testing

@Model(table: "_User") struct Essayist {
    @Attribute(.primaryKey) var objectId: String
    var username: String?
    var email: String?
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

@Model struct Essay {
    @Attribute(.primaryKey) var objectId: String
    var title: String?
    var price: Double?
    @Relationship(columns: ["owner"]) var owner: ToOne<Essayist>?
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

/// A model that doesn't fit the class: its numbers may have fractions.
@Model(table: "Essay") struct LongEssay {
    @Attribute(.primaryKey) var objectId: String
    var pages: Int?
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

@Model(table: "Topic") struct EssayTopic {
    @Attribute(.primaryKey) var objectId: String
    var name: String?
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

@Model(table: "Essay") struct EssayOnTopics {
    @Attribute(.primaryKey) var objectId: String
    var title: String?
    @Relationship(ordered: true, joinTable: "_Join:topics:Essay", joinColumns: ["essayId", "topicId"])
    var topics: ToMany<EssayTopic>
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

/// A store of models in a caller's name finds what the caller's requests find, and refuses what they are refused.
@Suite(.onEveryEngine) struct ModelStoreTests {
    private let server: TestServer
    private let mei, sam: TestServer.Person

    init() async throws {
        (server, mei, sam) = try await TestServer.withTwoUsers()
        try await server.makeRole("Editors", users: [sam])
        _ = try await server.create("Essay", ["title": "open", "price": 1, "owner": pointer("_User", mei.id)])
        _ = try await server.create(
            "Essay", ["title": "hers", "price": 2, "ACL": acl(read: [mei.id], write: [mei.id])])
        _ = try await server.create("Essay", ["title": "editors", "price": 3, "ACL": acl(read: ["role:Editors"])])
    }

    private func store(of subject: AccessSubject) throws -> Store {
        try server.service.acting(as: subject).models(Essay.self)
    }

    /// Hides prices, except from editors and the owners of essays.
    private func hidePrices() async throws {
        try await server.allow(
            ["protectedFields": ["*": ["price"], "role:Editors": [], "userField:owner": []]], in: "Essay")
    }

    /// The error that a call throws.
    private func failure(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    /// The code of the error that a call throws.
    private func code(_ body: () async throws -> Void) async -> Int? {
        (await failure(body) as? ParseError)?.code.rawValue
    }

    private func isNotFound(_ error: (any Error)?) -> Bool {
        if case .notFound? = error as? RelataError { true } else { false }
    }

    private func isInvalidUse(_ error: (any Error)?) -> Bool {
        if case .invalidUse? = error as? RelataError { true } else { false }
    }

    /// The titles and prices of all essays, for the master key.
    private func all() async throws -> [String] {
        try await server.find("Essay", "order=title").map {
            "\($0["title"]?.string ?? "-") \($0["price"]?.number ?? -1)"
        }
    }

    // MARK: Reading

    @Test func aUserFetchesWhatItsRequestsFind() async throws {
        try await hidePrices()
        for (person, subject) in [(mei, .user(mei.id)), (sam, .user(sam.id)), (nil, .nobody)]
            as [(TestServer.Person?, AccessSubject)]
        {
            let asked = try await server.send(as: person, "GET", "/classes/Essay?order=title&include=owner").results
            let store = try store(of: subject)
            let essays = try await store.fetch(Essay.sorted { $0.title }.including { $0.owner })
            #expect(essays.map(\.title) == asked.map { $0["title"]?.string }, "\(subject)")
            #expect(essays.map(\.price) == asked.map { $0["price"]?.number }, "\(subject)")
            #expect(
                essays.map { $0.owner?.loaded?.username } == asked.map { $0["owner"]?["username"]?.string },
                "\(subject)")
            #expect(try await store.count(Essay.all) == asked.count)
            #expect(try await store.write { try $0.count(Essay.all) } == asked.count)
            for essay in try await server.find("Essay") {
                let id = essay["objectId"]?.string ?? ""
                let isSeen = asked.contains { $0["objectId"]?.string == id }
                #expect((try await store.fetch(Essay.self, id: id) != nil) == isSeen)
            }
        }
        let editors = try store(of: .role("Editors"))
        #expect(try await editors.fetch(Essay.sorted { $0.title }).map(\.title) == ["editors", "open"])
    }

    @Test func hiddenPropertiesAreUnsetAndFindNothing() async throws {
        try await hidePrices()
        let (hers, nobodys) = (try store(of: .user(mei.id)), try store(of: .nobody))
        // Only one of her own two essays has her as its owner.
        #expect(try await hers.fetch(Essay.sorted { $0.title }).map(\.price) == [nil, 1])
        #expect(try await hers.count(Essay.where { $0.price == 2 }) == 0)
        #expect(try await nobodys.count(Essay.where { $0.price == 1 }) == 0)
        #expect(try await nobodys.value(of: Essay.all) { $0.price.sum() } == 0)
        // The addresses of users are theirs alone.
        try await server.send("PUT", "/users/\(mei.id)", ["email": "mei@example.org", "ACL": acl(read: ["*"])])
        let users = try server.service.acting(as: .nobody).models(Essayist.self)
        #expect(try await users.fetch(Essayist.self, id: mei.id)?.username == "mei")
        #expect(try await users.fetch(Essayist.self, id: mei.id)?.email == nil)
        #expect(try await users.count(Essayist.where { $0.email == "mei@example.org" }) == 0)
    }

    @Test func operationsThatAClassRefusesAreRefused() async throws {
        try await server.allow(["count": ["role:Editors": true], "get": ["requiresAuthentication": true]], in: "Essay")
        let (hers, his) = (try store(of: .user(mei.id)), try store(of: .user(sam.id)))
        #expect(await code { _ = try await hers.count(Essay.all) } == 119)
        #expect(try await his.count(Essay.all) == 2)
        #expect(await code { _ = try await store(of: .nobody).fetch(Essay.all) } == 101)
        try await server.allow(["find": ["role:Editors": true]], in: "Essay")
        #expect(await code { _ = try await hers.fetch(Essay.all) } == 119)
        #expect(try await his.fetch(Essay.all).count == 2)
    }

    @Test func theRightsAreThoseOfEachTransaction() async throws {
        let hers = try store(of: .user(mei.id))
        #expect(try await hers.count(Essay.all) == 2)
        let id = try #require(try await server.find("Essay", where: ["title": "editors"]).first?["objectId"]?.string)
        var titles = hers.observe(Essay.sorted { $0.title }).makeAsyncIterator()
        #expect(try await titles.next()?.map(\.title) == ["hers", "open"])
        try await server.send("PUT", "/classes/Essay/\(id)", ["ACL": acl(read: [mei.id])])
        #expect(try await titles.next()?.map(\.title) == ["editors", "hers", "open"])
        try await server.send("DELETE", "/users/\(mei.id)")
        #expect(await code { _ = try await hers.count(Essay.all) } == 101)
        #expect(await code { while try await titles.next() != nil {} } == 101)
        for subject in [.user("nobody"), .user(""), .role("None")] as [AccessSubject] {
            #expect(await code { _ = try await store(of: subject).fetch(Essay.all) } == 101)
        }
    }

    @Test func relationsAreReadAndEditedWithinTheRights() async throws {
        let topic = try await server.create("Topic", ["name": "art"])
        let essay = try await server.create(
            "Essay",
            ["title": "arty", "topics": ["__op": "AddRelation", "objects": [pointer("Topic", topic)]]])
        let his = try server.service.acting(as: .user(sam.id)).models(EssayOnTopics.self)
        func topics() async throws -> [String?] {
            let found = try await his.fetch(EssayOnTopics.where { $0.title == "arty" }.including { $0.topics })
            return try found.flatMap { try $0.topics.objects.map(\.name) }
        }
        #expect(try await topics() == ["art"])
        try await his.update(EssayOnTopics.self, id: essay) { $0.topics.remove(id: topic) }
        #expect(try await topics() == [])
        try await his.update(EssayOnTopics.self, id: essay) { $0.topics.add(id: topic) }
        #expect(try await topics() == ["art"])
        // Some of the members could be hidden from now on.
        try await server.send("PUT", "/classes/Topic/\(topic)", ["ACL": acl(read: [mei.id])])
        #expect(try await topics() == [])
        #expect(
            isInvalidUse(
                await failure { try await his.update(EssayOnTopics.self, id: essay) { $0.topics.set([]) } }))
        let hers = try server.service.acting(as: .user(mei.id)).models(EssayOnTopics.self)
        #expect(try await hers.related(to: EssayOnTopics.self, id: essay) { $0.topics }.map(\.name) == ["art"])
        try await server.allow(["protectedFields": ["*": ["topics"]]], in: "Essay")
        #expect(isInvalidUse(await failure { _ = try await hers.fetch(EssayOnTopics.all) }))
    }

    // MARK: Writing

    @Test func objectsThatTheCallerMayNotWriteStayUnchanged() async throws {
        let (his, everything) = (try store(of: .user(sam.id)), try await all())
        let editors = try #require(try await his.first(Essay.where { $0.title == "editors" }))
        let hers = try #require(try await server.find("Essay", where: ["title": "hers"]).first?["objectId"]?.string)
        // He reads one of them, and sees nothing of the other.
        for id in [editors.objectId, hers] {
            #expect(isNotFound(await failure { try await his.update(Essay.self, id: id) { $0.title = "x" } }))
            #expect(isNotFound(await failure { _ = try await his.save(Essay(objectId: id, title: "x")) }))
            #expect(
                isNotFound(
                    await failure {
                        try await his.write { transaction in
                            _ = try transaction.save(Essay(objectId: "new", title: "new"))
                            _ = try transaction.save(Essay(objectId: id, title: "x"))
                        }
                    }))
            #expect(try await his.delete(Essay.self, id: id).deletedCount == 0)
        }
        #expect(try await his.delete(Essay.where { $0.title == "editors" }).deletedCount == 0)
        #expect(isInvalidUse(await failure { try await his.update(Essay.all) { $0.title.set(to: "x") } }))
        #expect(try await all() == everything)
        // His permitted changes are written.
        let open = try #require(try await his.first(Essay.where { $0.title == "open" }))
        try await his.update(Essay.self, id: open.objectId) { $0.price = 5 }
        _ = try await his.save(Essay(objectId: "new", title: "new"))
        #expect(try await all() == ["editors 3.0", "hers 2.0", "new -1.0", "open 5.0"])
        #expect(try await his.delete(Essay.self, id: "new").deletedCount == 1)
        #expect(try await all() == ["editors 3.0", "hers 2.0", "open 5.0"])
    }

    @Test func operationsThatAClassRefusesWriteNothing() async throws {
        try await server.allow(
            [
                "create": ["pointerFields": ["owner"]], "update": ["role:Editors": true], "delete": [:],
            ], in: "Essay")
        let (hers, everything) = (try store(of: .user(mei.id)), try await all())
        let open = try #require(try await hers.first(Essay.where { $0.title == "open" }))
        #expect(await code { try await hers.update(Essay.self, id: open.objectId) { $0.price = 5 } } == 119)
        #expect(await code { _ = try await hers.save(open) } == 119)
        #expect(await code { try await hers.delete(open) } == 119)
        #expect(await code { _ = try await hers.insert(Essay(objectId: "a", title: "nobody's")) } == 119)
        #expect(try await all() == everything)
        _ = try await hers.insert(Essay(objectId: "a", title: "own", owner: ToOne(id: mei.id)))
        #expect(try await all().count == everything.count + 1)
    }

    @Test func aLinkToAHiddenObjectIsRefused() async throws {
        let (hers, everything) = (try store(of: .user(mei.id)), try await all())
        // Users see only themselves.
        let error = await failure {
            _ = try await hers.insert(Essay(objectId: "a", title: "his", owner: ToOne(id: sam.id)))
        }
        guard case .invalidReference? = error as? RelataError else {
            Issue.record("\(error.map { "\($0)" } ?? "written")")
            return
        }
        #expect(try await all() == everything)
    }

    @Test func savingAWholeObjectKeepsWhatIsHidden() async throws {
        try await hidePrices()
        let hers = try store(of: .user(mei.id))
        var essay = try #require(try await hers.first(Essay.where { $0.title == "hers" }))
        #expect(essay.price == nil)
        essay.title = "changed"
        let changed = essay
        #expect(isInvalidUse(await failure { _ = try await hers.save(changed) }))
        try await hers.update(Essay.self, id: essay.objectId) { $0.title = "changed" }
        #expect(try await all() == ["changed 2.0", "editors 3.0", "open 1.0"])
    }

    @Test func newObjectsGetTheDefaultAccessListOfTheirClass() async throws {
        try await server.allow(["ACL": ["currentUser": ["read": true, "write": true]]], in: "Essay")
        let hers = try store(of: .user(mei.id))
        _ = try await hers.save(Essay(objectId: "a", title: "private"))
        #expect(try await server.get("Essay", "a")["ACL"] == acl(read: [mei.id], write: [mei.id]))
        #expect(try await store(of: .user(sam.id)).fetch(Essay.self, id: "a") == nil)
        try await hers.update(Essay.self, id: "a") { $0.title = "still private" }
        #expect(try await server.get("Essay", "a")["ACL"] == acl(read: [mei.id], write: [mei.id]))
    }

    @Test func aRoleAndAModelOfUsersOnlyRead() async throws {
        let (editors, everything) = (try store(of: .role("Editors")), try await all())
        let open = try #require(try await editors.first(Essay.where { $0.title == "open" }))
        #expect(await code { _ = try await editors.save(Essay(objectId: "a", title: "x")) } == 119)
        #expect(await code { try await editors.update(Essay.self, id: open.objectId) { $0.price = 5 } } == 119)
        #expect(await code { try await editors.delete(open) } == 119)
        #expect(try await all() == everything)
        let users = try server.service.acting(as: .user(mei.id)).models(Essayist.self)
        #expect(await code { try await users.update(Essayist.self, id: mei.id) { $0.username = "x" } } == 119)
        #expect(await code { try await users.delete(Essayist.self, id: mei.id) } == 119)
        #expect(try await users.fetch(Essayist.self, id: mei.id)?.username == "mei")
    }

    // MARK: The store

    @Test func aFunctionReadsModelsAsItsCaller() async throws {
        let server = try TestServer.withUsers { options in
            options.code.function("titles") { call in
                let essays = try await call.asCaller.models(Essay.self).fetch(Essay.sorted { $0.title })
                return .array(essays.map { .string($0.title ?? "") })
            }
        }
        let mei = try await server.signUp("mei")
        _ = try await server.create(
            "Essay", ["title": "open", "price": 1, "owner": pointer("_User", mei.id)])
        _ = try await server.create("Essay", ["title": "hers", "ACL": acl(read: [mei.id])])
        #expect(try await server.send(as: mei, "POST", "/functions/titles", [:])["result"] == ["hers", "open"])
        #expect(try await server.send(as: nil, "POST", "/functions/titles", [:])["result"] == ["open"])
    }

    @Test func storesOfOtherModelsShareTheConnections() async throws {
        let server = try TestServer.withUsers { options in
            options.code.function("raise") { call in
                let (essays, users) = (try call.asMaster.models(Essay.self), try call.asMaster.models(Essayist.self))
                let id = call["id"]?.string ?? ""
                for _ in 0..<3 {
                    let username = try await users.fetch(Essayist.self, id: call.userID)?.username
                    let title = try await essays.fetch(Essay.self, id: id)?.title
                    guard username == "mei", title == "hers" else { return .array([]) }
                    try await essays.update(Essay.self, id: id) { $0.price = ($0.price ?? 0) + 1 }
                }
                return .double(try await essays.fetch(Essay.self, id: id)?.price ?? 0)
            }
        }
        let mei = try await server.signUp("mei")
        let id = try await server.create(
            "Essay", ["title": "hers", "price": 1, "owner": pointer("_User", mei.id), "ACL": acl(read: [mei.id])])
        let reply = try await server.send(as: mei, "POST", "/functions/raise", ["id": .string(id)])
        #expect(reply["result"]?.number == 4, "\(reply.json)")
        #expect(try await server.get("Essay", id)["price"]?.number == 4)
    }

    @Test(.timeLimit(.minutes(20))) func changesAreReportedAsThoseOfClasses() async throws {
        let topic = try await server.create("Topic", ["name": "art"])
        _ = try await server.create("Essay", ["topics": ["__op": "AddRelation", "objects": [pointer("Topic", topic)]]])
        let his = try server.service.acting(as: .user(sam.id)).models(EssayOnTopics.self)
        var feed = server.store.records.changes.makeAsyncIterator()
        _ = try await his.save(EssayOnTopics(objectId: "a", title: "x"))
        #expect(await feed.next().map { Array($0.keys(of: "Essay", .insert)) } == [KeyValue(.text("a"))])
        _ = try await his.update(EssayOnTopics.self, id: "a") { $0.topics.add(id: topic) }
        #expect(await feed.next().map { Array($0.keys(of: "Essay", .update)) } == [KeyValue(.text("a"))])
        #expect(try await his.delete(EssayOnTopics.self, id: "a").deletedCount == 1)
        #expect(await feed.next().map { Array($0.keys(of: "Essay", .delete)) } == [KeyValue(.text("a"))])
    }

    @Test func modelsThatDoNotFitAreRefused() async throws {
        let long = try server.service.acting(as: .nobody).models(LongEssay.self)
        let error = await failure { _ = try await long.fetch(LongEssay.all) }
        guard case .schemaMismatch(let problems)? = error as? RelataError else {
            Issue.record("\(error.map { "\($0)" } ?? "found")")
            return
        }
        #expect(problems.map(\.property) == ["pages"])
        // A number of the class isn't always a whole one.
        _ = try await server.create("Essay", ["title": "long", "pages": 1])
        #expect(await failure { _ = try await long.fetch(LongEssay.all) } != nil)
    }

    @Test func theStoreHoldsBackWhatNoConditionLimits() async throws {
        let hers = try store(of: .user(mei.id))
        #expect(isInvalidUse(await failure { _ = try await hers.rows("SELECT 1") }))
        #expect(isInvalidUse(await failure { _ = try await hers.check() }))
        #expect(isInvalidUse(await failure { try hers.close() }))
        #expect(try await hers.count(Essay.all) == 2)
    }
}
