import Foundation
import Synchronization
import TestEngines
import Testing

@testable import RelataParse

/// Secrets that know one hash of another server: the hash of `old secret`.
final class ForeignSecrets: SecretHashing {
    private let own = TestSecrets()
    /// The number of passwords compared with hashes of the other server, and with others, and the work of the former.
    let compared = Counts()

    final class Counts: Sendable {
        private let counts = Mutex((foreign: 0, own: 0, work: 0))

        func note(_ foreign: BcryptHash?) {
            counts.withLock { counts in
                guard let foreign else { return counts.own += 1 }
                counts.foreign += 1
                counts.work += 1 << foreign.cost
            }
        }

        func take() -> (foreign: Int, own: Int, work: Int) {
            counts.withLock { counts in
                defer { counts = (0, 0, 0) }
                return counts
            }
        }
    }

    static let hash = "$2b$10$abcdefghijklmnopqrstuu" + String(repeating: "a", count: 31)

    func hash(of password: String) async throws -> String { try await own.hash(of: password) }

    func matches(_ password: String, _ hash: String) async throws -> Bool {
        compared.note(BcryptHash(hash))
        return isForeign(hash)
            ? password == "old secret" && hash == Self.hash : try await own.matches(password, hash)
    }

    func digest(of text: String) -> [UInt8] { own.digest(of: text) }

    func isForeign(_ hash: String) -> Bool { BcryptHash(hash) != nil }
}

/// Users whose passwords another server kept.
@Suite(.onEveryEngine)
struct ImportedUserTests {
    private let secrets = ForeignSecrets()

    private func server() throws -> TestServer {
        var options = ParseService.Options()
        options.secrets = secrets
        return try TestServer(options: options)
    }

    private func signIn(_ server: TestServer, _ name: String, _ password: String) async throws -> Int {
        try await server.send(
            "POST", "/login", ["username": .string(name), "password": .string(password)], isMaster: false
        ).status
    }

    private func storedHash(_ server: TestServer, _ name: String) async throws -> String? {
        try await server.service.store.read(as: .master) { try $0.user("_usernameKey", name)?.hash }
    }

    @Test func anOldPasswordSignsInAndGetsANewHash() async throws {
        let server = try server()
        try await server.service.makeImportedUsers()
        let has = try await server.service.importUser([
            "objectId": "old1", "username": "mei", "_hashed_password": .string(ForeignSecrets.hash),
            "createdAt": "2019-01-02T03:04:05.678Z", "updatedAt": "2020-01-02T03:04:05.678Z",
        ])
        #expect(has)
        #expect(try await storedHash(server, "mei") == ForeignSecrets.hash)
        #expect(try await signIn(server, "mei", "wrong") == 404)
        #expect(try await storedHash(server, "mei") == ForeignSecrets.hash)
        #expect(try await signIn(server, "mei", "old secret") == 200)
        #expect(try await storedHash(server, "mei")?.hasPrefix("test$") == true)
        // Nothing about the user is new for clients.
        let user = try await server.get("_User", "old1")
        #expect(
            user["createdAt"] == "2019-01-02T03:04:05.678Z"
                && user["updatedAt"] == "2020-01-02T03:04:05.678Z")
        #expect(try await signIn(server, "mei", "old secret") == 200)
        #expect(try await signIn(server, "mei", "wrong") == 404)
        for reply in [user, try await server.send("GET", "/users").json] {
            #expect(!JSONWriter.text(reply).contains("$2b$"))
        }
    }

    @Test func concurrentSignInsByAnOldPasswordSucceed() async throws {
        let server = try server()
        try await server.service.makeImportedUsers()
        _ = try await server.service.importUser([
            "objectId": "old1", "username": "mei", "_hashed_password": .string(ForeignSecrets.hash),
        ])
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await self.signIn(server, "mei", "old secret") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 8))
        #expect(try await storedHash(server, "mei")?.hasPrefix("test$") == true)
    }

    @Test func signInsTakeEqualWorkForEveryName() async throws {
        let server = try server()
        _ = try await server.signUp("sam")
        _ = try await signIn(server, "nobody", "wrong")
        _ = secrets.compared.take()
        for name in ["sam", "nobody"] {
            _ = try await signIn(server, name, "wrong")
            #expect(secrets.compared.take() == (0, 1, 0))
        }
        try await server.service.makeImportedUsers()
        _ = try await server.service.importUser([
            "objectId": "old1", "username": "mei", "_hashed_password": .string(ForeignSecrets.hash),
        ])
        for name in ["mei", "sam", "nobody"] {
            _ = try await signIn(server, name, "wrong")
            #expect(secrets.compared.take() == (1, 1, 1 << 10), "\(name)")
        }
        #expect(try await signIn(server, "mei", "old secret") == 200)
        _ = secrets.compared.take()
        for name in ["mei", "sam", "nobody"] {
            _ = try await signIn(server, name, "wrong")
            #expect(secrets.compared.take() == (0, 1, 0), "\(name)")
        }
    }

    @Test func allHashesTakeTheWorkOfTheHighestCost() async throws {
        let server = try server()
        try await server.service.makeImportedUsers()
        _ = try await server.signUp("sam")
        for (id, cost) in [("old1", "10"), ("old2", "12"), ("old3", "04")] {
            let isKept = try await server.service.importUser([
                "objectId": .string(id), "username": .string("cost" + cost),
                "_hashed_password": .string("$2b$\(cost)$" + ForeignSecrets.hash.dropFirst(7)),
            ])
            #expect(isKept)
        }
        for name in ["cost10", "cost12", "cost04", "sam", "nobody"] {
            _ = secrets.compared.take()
            #expect(try await signIn(server, name, "wrong") == 404)
            let compared = secrets.compared.take()
            #expect(compared.work == 1 << 12, "\(name)")
            #expect(compared.own == 1, "\(name)")
        }
        // The hash with the highest cost no longer exists.
        #expect(try await server.send("PUT", "/users/old2", ["password": "new secret"]).status == 200)
        for name in ["cost10", "cost12", "cost04", "nobody"] {
            _ = secrets.compared.take()
            #expect(try await signIn(server, name, "wrong") == 404)
            #expect(secrets.compared.take().work == 1 << 10, "\(name)")
        }
        #expect(try await signIn(server, "cost10", "old secret") == 200)
    }

    @Test func hashesWithExcessiveCostNeedANewPassword() async throws {
        let server = try server()
        try await server.service.makeImportedUsers()
        let isKept = try await server.service.importUser([
            "objectId": "old1", "username": "mei",
            "_hashed_password": .string("$2b$13$" + ForeignSecrets.hash.dropFirst(7)),
        ])
        #expect(!isKept)
        #expect(try await server.service.store.read(as: .master) { try $0.importedCost() } == nil)
        #expect(try await storedHash(server, "mei") == nil)
    }

    @Test func aNewPasswordReplacesTheOldHash() async throws {
        let server = try server()
        try await server.service.makeImportedUsers()
        _ = try await server.service.importUser([
            "objectId": "old1", "username": "mei", "_hashed_password": .string(ForeignSecrets.hash),
        ])
        #expect(try await server.send("PUT", "/users/old1", ["password": "new secret"]).status == 200)
        #expect(try await signIn(server, "mei", "old secret") == 404)
        #expect(try await signIn(server, "mei", "new secret") == 200)
        #expect(try await server.service.store.read(as: .master) { try $0.importedCost() } == nil)
    }

    @Test func clientsCannotSendAHash() async throws {
        let server = try server()
        let body: JSONValue = [
            "username": "mei", "password": "x", "_hashed_password": .string(ForeignSecrets.hash),
        ]
        for isMaster in [true, false] {
            let reply = try await server.send("POST", "/users", body, isMaster: isMaster)
            #expect(reply.status == 400, "\(reply.json)")
        }
        #expect(try await storedHash(server, "mei") == nil)
    }

    @Test func otherHashesAreNotBcrypt() {
        #expect(BcryptHash(ForeignSecrets.hash)?.cost == 10)
        for text in [
            "", "secret", "$2b$10$short", "$2x$10$" + String(repeating: "a", count: 53),
            "$2b$31$" + String(repeating: "a", count: 53), "$2b$13$" + String(repeating: "a", count: 53),
            "$2b$3$" + String(repeating: "a", count: 53),
            "$2b$10$" + String(repeating: "a", count: 54),
            "$2b$10$" + String(repeating: "ä", count: 26) + "a",
            "2b$10$" + String(repeating: "a", count: 53), "$2b$10$" + String(repeating: "$", count: 53),
        ] {
            #expect(BcryptHash(text) == nil, "\(text)")
        }
        #expect(BcryptHash(BcryptHash.decoy(cost: 4))?.cost == 4)
        #expect(BcryptHash(BcryptHash.decoy(cost: 12))?.cost == 12)
    }
}
