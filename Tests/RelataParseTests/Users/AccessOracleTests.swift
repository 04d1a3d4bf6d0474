import Foundation
import RelataParse
import RelataTesting
import TestEngines
import Testing

/// Random lists, roles, class-level permissions and requests: the server must reply like a simple model of Parse's
/// rules, which checks each object separately.
@Suite(.onEveryEngine) struct AccessOracleTests {
    private static let rounds = ProcessInfo.processInfo.environment["RELATA_ACCESS_ROUNDS"].flatMap(Int.init) ?? 150

    @Test(arguments: 0..<4) func theServerAndTheOracleAgree(_ number: UInt64) async throws {
        let seed = UInt64.random(in: 0..<UInt64.max / 2) &+ number
        print("seed of the requests: \(seed)")
        var world = try await World(seed)
        for round in 0..<Self.rounds {
            let (request, expected, given) = try await world.step()
            #expect(given == expected, "seed \(seed), round \(round): \(request)")
            guard given == expected else { break }
        }
    }
}

/// The callers that may use an operation on the objects of the class.
private struct Grant {
    var principals: Set<String> = []
    var requiresAuthentication = false
    var isOwners = false
    var isReaders = false

    var json: JSONValue {
        var json = JSONObject(principals.sorted().map { ($0, true) })
        if requiresAuthentication { json["requiresAuthentication"] = true }
        let fields = (isOwners ? ["owner"] : []) + (isReaders ? ["readers"] : [])
        if !fields.isEmpty { json["pointerFields"] = .array(fields.map { .string($0) }) }
        return .object(json)
    }
}

private struct Note {
    var number: Int64
    /// Fields that only some callers get.
    var secret: Int64
    var owner: String?
    /// Users whom an array of pointers names.
    var readers: Set<String> = []
    /// The rights of users and roles; `nil` if everybody may do everything.
    var access: [String: (read: Bool, write: Bool)]?

    func allows(_ principals: Set<String>, _ right: ((read: Bool, write: Bool)) -> Bool) -> Bool {
        access.map { access in principals.contains { access[$0].map(right) ?? false } } ?? true
    }
}

/// The server, and the oracle's state.
private struct World {
    private enum Verdict: Equatable { case everything, some(owners: Bool, readers: Bool), refused(Int64) }

    private let server: TestServer
    private var random: SampleRandom
    private var people: [TestServer.Person?] = []
    private var roles: [String: (id: String, users: Set<String>, roles: Set<String>)] = [:]
    private var notes: [String: Note] = [:]
    /// The ids in the order of creation.
    private var ids: [String] = []
    private var grants: [String: Grant] = [:]
    private var readersAreOwners = false
    private var writersAreOwners = false
    /// Whether the secret is hidden, by the name that the rule is for.
    private var protections: [String: Bool] = [:]

    init(_ seed: UInt64) async throws {
        server = try TestServer.withUsers()
        random = SampleRandom(seed: seed)
        for name in ["mei", "sam", "lee"] { people.append(try await server.signUp(name)) }
        people.append(nil)
        for name in ["A", "B", "C"] { roles[name] = (try await server.makeRole(name), [], []) }
        let id = try await server.create(
            "Note",
            [
                "number": 0, "secret": 0, "owner": pointer("_User", users[0]),
                "readers": [pointer("_User", users[1])],
            ])
        (notes[id], ids) = (Note(number: 0, secret: 0, owner: users[0], readers: [users[1]]), [id])
        try await changePermissions()
    }

    private var users: [String] { people.compactMap { $0?.id } }

    // MARK: The oracle

    private func principals(_ person: TestServer.Person?) -> Set<String> {
        guard let person else { return ["*"] }
        var names = Set(roles.filter { $0.value.users.contains(person.id) }.keys)
        while case let more = Set(roles.filter { !$0.value.roles.isDisjoint(with: names) }.keys).subtracting(names),
            !more.isEmpty
        { names.formUnion(more) }
        return names.reduce(into: ["*", person.id]) { $0.insert("role:" + $1) }
    }

    private func verdict(_ operation: String, _ person: TestServer.Person?) -> Verdict {
        let grant = grants[operation] ?? Grant()
        if !grant.principals.isDisjoint(with: principals(person)) { return .everything }
        if grant.requiresAuthentication, person != nil { return .everything }
        let isReading = ["find", "count", "get"].contains(operation)
        let isOwners = isReading ? readersAreOwners : writersAreOwners && operation != "create"
        if grant.isOwners || isOwners || grant.isReaders {
            return .some(owners: grant.isOwners || isOwners, readers: grant.isReaders)
        }
        return .refused(grant.requiresAuthentication ? 101 : 119)
    }

    private func may(_ verdict: Verdict, _ note: Note, _ person: TestServer.Person?) -> Bool {
        switch verdict {
        case .everything: return true
        case .refused: return false
        case .some(let owners, let readers):
            guard let person else { return false }
            return owners && note.owner == person.id || readers && note.readers.contains(person.id)
        }
    }

    /// The secret as a caller gets it: hidden where each list that concerns the caller and the object names it, and
    /// one of them concerns all objects.
    private func secret(of note: Note, _ person: TestServer.Person?) -> Int64? {
        let who = principals(person)
        let lists = protections.filter { name, _ in
            switch name {
            case "authenticated": person != nil
            case "userField:owner": person != nil && note.owner == person?.id
            case "userField:readers": person.map { note.readers.contains($0.id) } ?? false
            default: who.contains(name)
            }
        }
        let isGeneral = lists.keys.contains { !$0.hasPrefix("userField:") }
        return isGeneral && lists.values.allSatisfy(\.self) ? nil : note.secret
    }

    private func text(_ id: String, _ note: Note, _ person: TestServer.Person?) -> String {
        "\(id) \(note.number) \(secret(of: note, person).map { "\($0)" } ?? "-")"
    }

    // MARK: A step

    /// Sends a request, or changes permissions.
    ///
    /// - Returns: The request, and the replies of the oracle and of the server, in short.
    mutating func step() async throws -> (request: String, expected: String, given: String) {
        let person = people[Int.random(in: 0..<people.count, using: &random)]
        let name = person.flatMap { users.firstIndex(of: $0.id) }.map { "user \($0)" } ?? "nobody"
        let id = ids[Int.random(in: 0..<ids.count, using: &random)]
        switch Int.random(in: 0..<14, using: &random) {
        case 0..<4: return try await find(person, "find by \(name)")
        case 4: return try await count(person, "count by \(name)")
        case 5, 6: return try await get(id, person, "get by \(name)")
        case 7, 8: return try await update(id, person, "update by \(name)")
        case 9: return try await delete(id, person, "delete by \(name)")
        case 10, 11: return try await create(person, "create by \(name)")
        case 12: try await changeRoles()
        default: try await changePermissions()
        }
        return ("a change of rights", "", "")
    }

    private mutating func find(
        _ person: TestServer.Person?, _ request: String
    ) async throws -> (String, String, String) {
        let (least, limit, skip) = (
            Int64.random(in: 0..<4, using: &random), Int.random(in: 1..<6, using: &random),
            Int.random(in: 0..<3, using: &random)
        )
        let asks = Int.random(in: 0..<2, using: &random) == 0 ? "number" : "secret"
        let asked: JSONValue = [asks: ["$gte": .integer(least)]]
        let condition =
            JSONWriter.text(asked).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let reply = try await server.send(
            as: person, "GET",
            "/classes/Note?order=-number,createdAt,objectId&limit=\(limit)&skip=\(skip)&where=\(condition)")
        let given = reply.code.map { "\($0)" } ?? reply.results.map { text($0) }.joined(separator: " ")
        let verdict = verdict("find", person)
        if case .refused(let code) = verdict { return (request, "\(code)", given) }
        let who = principals(person)
        let seen = ids.filter { id in
            guard let note = notes[id] else { return false }
            let asked = asks == "number" ? note.number : secret(of: note, person) ?? -1
            return asked >= least && note.allows(who) { $0.read } && may(verdict, note, person)
        }
        let sorted = seen.sorted { (notes[$0]?.number ?? 0, order($1)) > (notes[$1]?.number ?? 0, order($0)) }
        let page = sorted.dropFirst(skip).prefix(limit)
        return (
            "\(request) \(asks)",
            page.map { id in notes[id].map { text(id, $0, person) } ?? "" }.joined(separator: " "),
            given
        )
    }

    private func order(_ id: String) -> Int { ids.firstIndex(of: id) ?? 0 }

    private func text(_ json: JSONValue) -> String {
        "\(json["objectId"]?.string ?? "-") \(json["number"]?.integer ?? -1) "
            + (json["secret"]?.integer.map { "\($0)" } ?? "-")
    }

    private mutating func count(
        _ person: TestServer.Person?, _ request: String
    ) async throws -> (String, String, String) {
        let reply = try await server.send(as: person, "GET", "/classes/Note?count=1&limit=0")
        let given = "\(reply.code ?? reply["count"]?.integer ?? -1)"
        let verdict = verdict("count", person)
        if case .refused(let code) = verdict { return (request, "\(code)", given) }
        let who = principals(person)
        let count = notes.values.filter { $0.allows(who) { $0.read } && may(verdict, $0, person) }.count
        return (request, "\(count)", given)
    }

    private mutating func get(
        _ id: String, _ person: TestServer.Person?, _ request: String
    ) async throws -> (String, String, String) {
        let reply = try await server.send(as: person, "GET", "/classes/Note/\(id)")
        let given = reply.code.map { "\($0)" } ?? text(reply.json)
        let verdict = verdict("get", person)
        if case .refused(let code) = verdict { return (request, "\(code)", given) }
        let who = principals(person)
        guard let note = notes[id], note.allows(who, { $0.read }), may(verdict, note, person) else {
            return (request, "101", given)
        }
        return (request, text(id, note, person), given)
    }

    private mutating func update(
        _ id: String, _ person: TestServer.Person?, _ request: String
    ) async throws -> (String, String, String) {
        let number = Int64.random(in: 0..<6, using: &random)
        let reply = try await server.send(as: person, "PUT", "/classes/Note/\(id)", ["number": .integer(number)])
        let now = try await server.get("Note", id)
        let given = "\(reply.code ?? 0) \(now["number"]?.integer ?? -1)"
        let verdict = verdict("update", person)
        let who = principals(person)
        if case .refused(let code) = verdict {
            return (request, "\(code) \(notes[id]?.number ?? -1)", given)
        }
        guard let note = notes[id], note.allows(who, { $0.write }), may(verdict, note, person) else {
            return (request, "101 \(notes[id]?.number ?? -1)", given)
        }
        notes[id]?.number = number
        return (request, "0 \(number)", given)
    }

    private mutating func delete(
        _ id: String, _ person: TestServer.Person?, _ request: String
    ) async throws -> (String, String, String) {
        let reply = try await server.send(as: person, "DELETE", "/classes/Note/\(id)")
        let isThere = try await server.get("Note", id)["code"] == nil
        let given = "\(reply.code ?? 0) \(isThere)"
        let verdict = verdict("delete", person)
        let who = principals(person)
        if case .refused(let code) = verdict { return (request, "\(code) \(notes[id] != nil)", given) }
        guard let note = notes[id], note.allows(who, { $0.write }), may(verdict, note, person) else {
            return (request, "101 \(notes[id] != nil)", given)
        }
        notes[id] = nil
        return (request, "0 false", given)
    }

    private mutating func create(
        _ person: TestServer.Person?, _ request: String
    ) async throws -> (String, String, String) {
        var note = Note(
            number: Int64.random(in: 0..<6, using: &random), secret: Int64.random(in: 0..<6, using: &random))
        if Int.random(in: 0..<3, using: &random) > 0 { note.owner = users.randomElement(using: &random) }
        if Int.random(in: 0..<4, using: &random) > 0 { note.access = randomAccess() }
        note.readers = Set(users.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
        var body: JSONObject = ["number": .integer(note.number), "secret": .integer(note.secret)]
        if let owner = note.owner { body["owner"] = pointer("_User", owner) }
        if !note.readers.isEmpty { body["readers"] = .array(note.readers.sorted().map { pointer("_User", $0) }) }
        if let access = note.access {
            body["ACL"] = acl(
                read: access.filter { $0.value.read }.map(\.key), write: access.filter { $0.value.write }.map(\.key))
        }
        let reply = try await server.send(as: person, "POST", "/classes/Note", .object(body))
        let given = "\(reply.code ?? 0)"
        let verdict = verdict("create", person)
        if case .refused(let code) = verdict { return (request, "\(code)", given) }
        guard may(verdict, note, person) else { return (request, "119", given) }
        // Users see only themselves, and a caller can't point at an object that it doesn't see.
        guard note.owner == nil || note.owner == person?.id else { return (request, "101", given) }
        guard let id = reply["objectId"]?.string else { return (request, "0", given) }
        notes[id] = note
        ids.append(id)
        return (request, "0", given)
    }

    // MARK: Changes of rights

    private mutating func randomAccess() -> [String: (read: Bool, write: Bool)] {
        var access: [String: (read: Bool, write: Bool)] = [:]
        for name in ["*", "role:A", "role:B", "role:C"] + users where Int.random(in: 0..<4, using: &random) == 0 {
            access[name] = (Bool.random(using: &random), Bool.random(using: &random))
        }
        return access
    }

    private mutating func changeRoles() async throws {
        guard let (name, role) = roles.sorted(by: { $0.key < $1.key }).randomElement(using: &random) else { return }
        let isGiven = Bool.random(using: &random)
        let operation: JSONValue = isGiven ? "AddRelation" : "RemoveRelation"
        if Bool.random(using: &random), let user = users.randomElement(using: &random) {
            let change: JSONValue = ["__op": operation, "objects": [pointer("_User", user)]]
            try await server.send("PUT", "/roles/\(role.id)", ["users": change])
            if isGiven { roles[name]?.users.insert(user) } else { roles[name]?.users.remove(user) }
        } else if let (other, its) = roles.sorted(by: { $0.key < $1.key }).randomElement(using: &random) {
            let change: JSONValue = ["__op": operation, "objects": [pointer("_Role", its.id)]]
            try await server.send("PUT", "/roles/\(role.id)", ["roles": change])
            if isGiven { roles[name]?.roles.insert(other) } else { roles[name]?.roles.remove(other) }
        }
    }

    private mutating func changePermissions() async throws {
        var permissions: JSONObject = [:]
        for operation in ["find", "count", "get", "create", "update", "delete"] {
            var grant = Grant()
            if Bool.random(using: &random) {
                grant.principals = ["*"]
            } else {
                for name in ["role:A", "role:B"] + users where Int.random(in: 0..<3, using: &random) == 0 {
                    grant.principals.insert(name)
                }
                grant.requiresAuthentication = Int.random(in: 0..<4, using: &random) == 0
                grant.isOwners = Int.random(in: 0..<4, using: &random) == 0
                grant.isReaders = Int.random(in: 0..<4, using: &random) == 0
            }
            grants[operation] = grant
            permissions[operation] = grant.json
        }
        readersAreOwners = Int.random(in: 0..<5, using: &random) == 0
        writersAreOwners = Int.random(in: 0..<5, using: &random) == 0
        if readersAreOwners { permissions["readUserFields"] = ["owner"] }
        if writersAreOwners { permissions["writeUserFields"] = ["owner"] }
        protections = [:]
        for name in ["*", "authenticated", "role:A", users[0], "userField:owner", "userField:readers"]
        where Bool.random(using: &random) { protections[name] = Int.random(in: 0..<3, using: &random) > 0 }
        permissions["protectedFields"] = .object(
            JSONObject(protections.sorted { $0.key < $1.key }.map { ($0.key, $0.value ? ["secret"] : []) }))
        try await server.allow(permissions, in: "Note")
    }
}
