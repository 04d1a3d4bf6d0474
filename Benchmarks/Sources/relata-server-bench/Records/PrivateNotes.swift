#if Server
import BenchmarkReport
import Foundation
import RelataParse
import RelataServer

/// A file with users, notes that only their users may read, and the same number of notes that everybody may read. Made
/// over the protocol, in batches.
struct PrivateNotes: Sendable {
    /// Some of the users, who are signed in.
    struct Reader: Sendable {
        let id: String
        let token: String
    }

    let path: String
    let readers: [Reader]
    /// The ids of notes, one of each reader in turn; and of open notes.
    let privateNotes: [String]
    let openNotes: [String]
    /// The number of notes of a user.
    let notesOfUser: Int

    private static let batchSize = 1000
    private static let maximumReaders = 100
    private static let maximumIDs = 10_000

    init(_ path: String, notes: Int, users count: Int) async throws {
        let start = Clock.now
        let store = try ParseStore.open(path)
        var options = ParseService.Options()
        options.secrets = UnusedPasswords()
        let service = ParseService(
            store, keys: ParseKeys(applicationID: SampleLibrary.applicationID), options: options)
        @Sendable func post(_ path: String, _ body: String) async throws -> JSONValue {
            let reply = await service.respond(
                to: WireRequest(
                    method: "POST", path: path, headers: ["x-parse-application-id": SampleLibrary.applicationID],
                    body: Array(body.utf8)))
            guard reply.status < 300 else {
                throw Failure("\(path) failed: \(String(decoding: reply.body.prefix(1000), as: UTF8.self))")
            }
            return try JSONParser.parse(reply.body)
        }
        var users: [Reader] = []
        for number in 0..<count {
            let reply = try await post("/users", #"{"username": "reader\#(number)", "password": "never used"}"#)
            guard let id = reply["objectId"]?.string, let token = reply["sessionToken"]?.string else {
                throw Failure("no user was made")
            }
            users.append(Reader(id: id, token: token))
        }
        let readers = Array(users.prefix(Self.maximumReaders))
        func make(_ className: String, list: (Int) -> String) async throws -> [String] {
            var ids: [String] = []
            for start in stride(from: 0, to: notes, by: Self.batchSize) {
                let numbers = start..<min(start + Self.batchSize, notes)
                let requests = numbers.map { number in
                    #"{"method": "POST", "path": "/parse/classes/\#(className)", "body": {"title": "Note \#(number)", "text": "What to think of on day \#(number % 365)", "stars": \#(number % 5)\#(list(number))}}"#
                }
                let reply = try await post("/batch", #"{"requests": [\#(requests.joined(separator: ","))]}"#)
                for (number, part) in zip(numbers, reply.array ?? []) {
                    guard let id = part["success"]?["objectId"]?.string else { throw Failure("no note was made") }
                    if number % count < readers.count, ids.count < Self.maximumIDs { ids.append(id) }
                }
            }
            return ids
        }
        privateNotes = try await make("Note") { number in
            #", "ACL": {"\#(users[number % count].id)": {"read": true, "write": true}}"#
        }
        openNotes = try await make("OpenNote") { _ in "" }
        try store.close()
        self.path = path
        self.readers = readers
        notesOfUser = notes / count
        Report.say(
            String(
                format: "  %d notes of %d users, and as many open ones, made in %.0f s", notes, count,
                Clock.now - start))
    }

    // MARK: Requests

    /// A note of the requesting user, by its id.
    var get: HTTPCall {
        HTTPCall(
            paths: privateNotes.map { "/parse/classes/Note/\($0)" }, headers: SampleLibrary.headers,
            sessions: readers.map(\.token))
    }

    /// An open note by its id, without a user.
    var getOpen: HTTPCall {
        HTTPCall(paths: openNotes.map { "/parse/classes/OpenNote/\($0)" }, headers: SampleLibrary.headers)
    }

    /// The notes of the requesting user.
    var find: HTTPCall {
        HTTPCall(
            paths: ["/parse/classes/Note?limit=100"], headers: SampleLibrary.headers, sessions: readers.map(\.token))
    }

    /// The same number of open notes.
    var findOpen: HTTPCall { HTTPCall(paths: ["/parse/classes/OpenNote?limit=100"], headers: SampleLibrary.headers) }
}

/// Passwords of users who never sign in: hashing ten thousand would take longer than everything else. Tokens are stored
/// as the server stores them.
private struct UnusedPasswords: SecretHashing {
    private let secrets = ScryptSecrets(cost: 10)

    func hash(of password: String) async throws -> String { "none" }
    func matches(_ password: String, _ hash: String) async throws -> Bool { false }
    func digest(of text: String) -> [UInt8] { secrets.digest(of: text) }
}
#endif
