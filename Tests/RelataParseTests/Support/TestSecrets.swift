import RelataParse
import Synchronization
import Testing

/// Hashes at no cost. The real hashes are tested elsewhere.
final class TestSecrets: SecretHashing {
    /// The number of passwords that were hashed or compared.
    private let work = Mutex(0)

    var count: Int { work.withLock { $0 } }

    func hash(of password: String) async throws -> String {
        work.withLock { $0 += 1 }
        return "test$" + text(password)
    }

    func matches(_ password: String, _ hash: String) async throws -> Bool {
        work.withLock { $0 += 1 }
        return hash == "test$" + text(password)
    }

    func digest(of text: String) -> [UInt8] {
        // FNV-1a, twice: enough to distinguish the texts of a test.
        var digest: [UInt8] = []
        for start: UInt64 in [0xCBF2_9CE4_8422_2325, 0x9E37_79B9_7F4A_7C15] {
            var hash = start
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            withUnsafeBytes(of: hash.bigEndian) { digest += $0 }
        }
        return digest
    }

    private func text(_ password: String) -> String { digest(of: password).map { String($0, radix: 16) }.joined() }
}

extension TestServer {
    /// A server with users.
    static func withUsers(
        mode: ParseStore.Mode = .development, path: String? = nil, secrets: TestSecrets = TestSecrets(),
        trace: SQLStatements? = nil, _ configure: (inout ParseService.Options) -> Void = { _ in }
    ) throws -> TestServer {
        var options = ParseService.Options()
        options.secrets = secrets
        configure(&options)
        return try TestServer(mode: mode, path: path, trace: trace, options: options)
    }

    /// A signed-up user.
    struct Person: Sendable {
        let id: String
        let token: String

        var headers: [String: String] { ["x-parse-session-token": token] }
    }

    /// Signs a user up.
    func signUp(_ name: String, _ more: JSONObject = [:]) async throws -> Person {
        var body: JSONObject = ["username": .string(name), "password": .string("secret of \(name)")]
        body.merge(more)
        let reply = try await send("POST", "/users", .object(body), isMaster: false)
        guard reply.status == 201, let id = reply["objectId"]?.string, let token = reply["sessionToken"]?.string else {
            throw Refused(reply: "\(reply.json)")
        }
        return Person(id: id, token: token)
    }

    struct Refused: Error { let reply: String }

    /// A server with two users.
    static func withTwoUsers() async throws -> (server: TestServer, mei: Person, sam: Person) {
        let server = try withUsers()
        return (server, try await server.signUp("mei"), try await server.signUp("sam"))
    }

    /// Creates a role that everybody can read, and returns its id.
    @discardableResult
    func makeRole(_ name: String, users: [Person] = [], roles: [String] = []) async throws -> String {
        var body: JSONObject = ["name": .string(name), "ACL": acl(read: ["*"])]
        if !users.isEmpty {
            body["users"] = ["__op": "AddRelation", "objects": .array(users.map { pointer("_User", $0.id) })]
        }
        if !roles.isEmpty {
            body["roles"] = ["__op": "AddRelation", "objects": .array(roles.map { pointer("_Role", $0) })]
        }
        let reply = try await send("POST", "/roles", .object(body))
        return try #require(reply["objectId"]?.string, "\(reply.json)")
    }

    /// Allows everybody everything in a class, except for these permissions.
    func allow(_ changes: JSONObject, in className: String) async throws {
        var permissions: JSONObject = [:]
        for operation in ["find", "count", "get", "create", "update", "delete", "addField"] {
            permissions[operation] = ["*": true]
        }
        permissions.merge(changes)
        let reply = try await send(
            "PUT", "/schemas/\(className)", ["classLevelPermissions": .object(permissions)])
        try #require(reply.status == 200, "\(reply.json)")
    }

    /// Sends a request of a user, or of nobody.
    @discardableResult
    func send(
        as person: Person?, _ method: String, _ target: String, _ body: JSONValue? = nil
    ) async throws -> Reply {
        try await send(method, target, body, headers: person?.headers ?? [:], isMaster: false)
    }

    /// The titles that a user finds.
    func titles(as person: Person?, _ className: String, _ parameters: String = "") async throws -> [String] {
        let reply = try await send(as: person, "GET", "/classes/\(className)?order=title&\(parameters)")
        return reply.results.compactMap { $0["title"]?.string }
    }
}

/// An access list: the principals that may read, and those that may write.
func acl(read: [String] = [], write: [String] = []) -> JSONValue {
    var members: [String: JSONObject] = [:]
    for name in read { members[name, default: [:]]["read"] = true }
    for name in write { members[name, default: [:]]["write"] = true }
    return .object(JSONObject(members.sorted { $0.key < $1.key }.map { ($0.key, .object($0.value)) }))
}
