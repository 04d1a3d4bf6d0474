import Foundation
import Relata
import RelataParse
import TestEngines
import Testing

@Model struct Letter {
    let id: Relata.ID<Letter>
    var title: String
    var note: String?
    var tags: [String] = ["new"]
    var pages: Int = 1
    var isRead: Bool = false
    var answer: ToOne<Letter>?
    @Attribute(.createdAt) var made: Date
    @Attribute(.updatedAt) var changed: Date
    @Attribute(.revision) var version: Int
}

@Model struct Postcard {
    let id: Int?
    var text: String
    @Attribute(.createdAt) var createdAt: Date = .distantPast
    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
}

/// Replies contain the values that an app's hooks changed, because clients can't know them.
@Suite(.onEveryEngine) struct HookReplyTests {
    @Test func stampsWithAnInitialValueAreInTheReplyOnce() async throws {
        let server = TestServer(try ParseStore.serving(try Store.make(for: Postcard.self)))
        // Reading the reply throws if a member occurs twice.
        let reply = try await server.send("POST", "/classes/Postcard", ["text": "Hello"])
        #expect(reply.status == 201 && reply["objectId"] != nil)
        let told = try #require(reply["createdAt"]?.string)
        let id = try #require(reply["objectId"]?.string)
        #expect(try await server.get("Postcard", id)["createdAt"] == .string(told))
        let post: JSONValue = ["method": "POST", "path": "/parse/classes/Postcard", "body": ["text": "Again"]]
        #expect(try await server.send("POST", "/batch", ["requests": [post]]).json.array?.count == 1)
    }

    private func server(_ change: @escaping @Sendable (inout Letter) -> Void = { _ in }) throws -> TestServer {
        TestServer(
            try ParseStore.serving(try Store.make(for: Letter.self)) { hooks in
                hooks.beforeSave(Letter.self) { letter, _ in change(&letter) }
            })
    }

    private func names(_ reply: TestServer.Reply) -> Set<String> { Set((reply.json.object ?? [:]).keys) }

    @Test func theReplyContainsAHooksChangesAndNothingElse() async throws {
        let server = try server {
            $0.title = $0.title.uppercased()
            $0.note = $0.title == "GONE" ? nil : $0.note
        }
        let created = try await server.send("POST", "/classes/Letter", ["title": "a", "note": "n", "pages": 3])
        #expect(created.status == 201 && created["title"] == "A", "\(created.json)")
        // Defaults and the revision are new to the client, too.
        #expect(names(created) == ["objectId", "createdAt", "title", "tags", "isRead", "version"])
        #expect(created["tags"] == ["new"] && created["isRead"] == false)
        let id = try #require(created["objectId"]?.string)
        let stored = try await server.get("Letter", id)
        #expect(stored["createdAt"] == created["createdAt"] && stored["updatedAt"] == created["createdAt"])
        #expect(stored["version"] == created["version"])

        let same = try await server.send("PUT", "/classes/Letter/\(id)", ["title": "B", "pages": 4])
        #expect(names(same) == ["updatedAt", "version"])
        let changed = try await server.send(
            "PUT", "/classes/Letter/\(id)", ["title": "c", "pages": ["__op": "Increment", "amount": 1]])
        #expect(names(changed) == ["updatedAt", "version", "title", "pages"])
        #expect(changed["title"] == "C" && changed["pages"] == 5)
        let now = try await server.get("Letter", id)
        #expect(now["updatedAt"] == changed["updatedAt"] && now["version"] == changed["version"])
    }

    @Test func theReplyContainsAHooksChangesOfResults() async throws {
        let server = try server { $0.pages = min($0.pages, 5) }
        let id = try await server.create("Letter", ["title": "a", "pages": 4])
        let reply = try await server.send(
            "PUT", "/classes/Letter/\(id)", ["pages": ["__op": "Increment", "amount": 10]])
        #expect(reply["pages"] == 5)
        #expect(try await server.get("Letter", id)["pages"] == 5)
    }

    @Test func fieldsUnsetByAHookAreInRepliesToSupportingClients() async throws {
        let server = try server {
            if $0.title == "unset" { $0.note = nil }
            if $0.title == "alone" { $0.answer = nil }
        }
        let target = try await server.create("Letter", ["title": "t"])
        let unset: JSONValue = ["__op": "Delete"]
        for (version, told) in [(nil, unset), ("js4.0.1", unset), ("swift6.1.0", nil), ("js1.8.9", nil)]
            as [(String?, JSONValue?)]
        {
            let headers = version.map { ["x-parse-client-version": $0] } ?? [:]
            let body: JSONValue = ["title": "unset", "note": "n"]
            let reply = try await server.send("POST", "/classes/Letter", body, headers: headers)
            #expect(reply["note"] == told, "\(version ?? "none")")
            let alone = try await server.send(
                "POST", "/classes/Letter", ["title": "alone", "answer": pointer("Letter", target)], headers: headers)
            #expect(alone["answer"] == told, "\(version ?? "none")")
        }
        let batch = try await server.send(
            "POST", "/batch",
            [
                "_ClientVersion": "swift6.1.0",
                "requests": [["method": "POST", "path": "/classes/Letter", "body": ["title": "unset", "note": "n"]]],
            ])
        #expect(batch.json.array?[0]["success"]?["objectId"] != nil && batch.json.array?[0]["success"]?["note"] == nil)
    }
}
