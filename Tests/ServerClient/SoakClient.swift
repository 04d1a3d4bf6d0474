import Foundation
import Synchronization

/// The state that the clients of a soak test share.
public final class SoakState: Sendable {
    private let stop = Atomic(false)
    private let count = Atomic(0)
    private let retries = Atomic(0)
    private let found = Mutex<[String]>([])
    let port: Atomic<Int>
    /// The objects that many clients change at once.
    let counters: [String]
    let lists: [String]
    let shelves: [String]

    init(port: Int, counters: [String], lists: [String], shelves: [String]) {
        self.port = Atomic(port)
        self.counters = counters
        self.lists = lists
        self.shelves = shelves
    }

    var isStopping: Bool { stop.load(ordering: .relaxed) }
    func end() { stop.store(true, ordering: .relaxed) }
    func sent() { count.add(1, ordering: .relaxed) }
    func sentAgain() { retries.add(1, ordering: .relaxed) }
    var requests: Int { count.load(ordering: .relaxed) }
    var requestsSentAgain: Int { retries.load(ordering: .relaxed) }
    func fail(_ text: String) { found.withLock { if $0.count < 100 { $0.append(text) } } }
    var failures: [String] { found.withLock { $0 } }
}

/// One client of a soak test: sends random requests, and keeps a ledger of all acknowledged changes.
///
/// A request whose reply doesn't come is sent again with the same id until it is answered, as clients may. So the
/// ledger is exact, even if the server is killed in between.
final class SoakClient {
    private let number: Int
    private let state: SoakState
    private var random: SeededGenerator
    private var connection: ServerConnection?
    private var requestCount = 0
    /// The versions of the client's own books, by id.
    private(set) var books: [String: Int] = [:]
    /// Those of them that are on the client's shelf.
    private(set) var shelved: Set<String> = []
    private(set) var values: Set<String> = []
    private(set) var increments = 0

    init(_ number: Int, _ state: SoakState) {
        self.number = number
        self.state = state
        random = SeededGenerator(seed: UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
    }

    var counter: String { state.counters[number % state.counters.count] }
    var list: String { state.lists[number % state.lists.count] }
    var shelf: String { state.shelves[number % state.shelves.count] }

    /// Works until it is stopped.
    func run() {
        do {
            while !state.isStopping { try step() }
            try verify()
        } catch {
            state.fail("client \(number): \(error)")
        }
    }

    private func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<30: try read()
        case ..<38: try find()
        case ..<40: _ = try expect(200, "GET", "/classes/SoakBook?limit=0&count=1&where=%7B%22owner%22%3A\(number)%7D")
        case ..<55: try create()
        case ..<70: try update()
        case ..<80: try increment()
        case ..<88: try changeValues()
        case ..<96: try shelve()
        default: try batch()
        }
    }

    // MARK: Steps

    private func read() throws {
        guard let (id, version) = books.randomElement(using: &random) else { return }
        let book = try expect(200, "GET", "/classes/SoakBook/\(id)")
        if book["version"] as? Int != version { state.fail("\(id) has another version than was acknowledged: \(book)") }
    }

    private func find() throws {
        let reply = try expect(
            200, "GET", "/classes/SoakBook?limit=20&order=-version&include=shelf&where=%7B%22owner%22%3A\(number)%7D")
        let count = (reply["results"] as? [Any])?.count
        if count != min(20, books.count) {
            state.fail("\(count ?? -1) of the \(books.count) books of \(number) were found")
        }
    }

    private func create() throws {
        if books.count >= 100 { return try delete() }
        let reply = try expect(201, "POST", "/classes/SoakBook", book)
        if let id = reply["objectId"] as? String { books[id] = 0 } else { state.fail("a new book has no id: \(reply)") }
    }

    private var book: String {
        """
        {"title": "Book of \(number)", "owner": \(number), "version": 0, \
        "shelf": {"__type": "Pointer", "className": "SoakShelf", "objectId": "\(shelf)"}}
        """
    }

    private func delete() throws {
        guard let id = books.keys.randomElement(using: &random) else { return }
        _ = try expect(200, "DELETE", "/classes/SoakBook/\(id)")
        books[id] = nil
        shelved.remove(id)
        _ = try expect(404, "GET", "/classes/SoakBook/\(id)")
    }

    private func update() throws {
        guard let (id, version) = books.randomElement(using: &random) else { return }
        _ = try expect(200, "PUT", "/classes/SoakBook/\(id)", "{\"version\": \(version + 1)}")
        books[id] = version + 1
    }

    private func increment() throws {
        _ = try expect(
            200, "PUT", "/classes/SoakCounter/\(counter)", #"{"count": {"__op": "Increment", "amount": 1}}"#)
        increments += 1
    }

    private func changeValues() throws {
        let value = "\(number)-\(Int.random(in: 0..<20, using: &random))"
        let isAdded = Int.random(in: 0..<4, using: &random) > 0
        _ = try expect(
            200, "PUT", "/classes/SoakList/\(list)",
            #"{"values": {"__op": "\#(isAdded ? "AddUnique" : "Remove")", "objects": ["\#(value)"]}}"#)
        if isAdded { values.insert(value) } else { values.remove(value) }
    }

    private func shelve() throws {
        guard let id = books.keys.randomElement(using: &random) else { return }
        let isAdded = !shelved.contains(id)
        _ = try expect(
            200, "PUT", "/classes/SoakShelf/\(shelf)",
            """
            {"books": {"__op": "\(isAdded ? "AddRelation" : "RemoveRelation")", "objects": \
            [{"__type": "Pointer", "className": "SoakBook", "objectId": "\(id)"}]}}
            """)
        if isAdded { shelved.insert(id) } else { shelved.remove(id) }
    }

    private func batch() throws {
        guard books.count < 95 else { return }
        let request = #"{"method": "POST", "path": "/parse/classes/SoakBook", "body": \#(book)}"#
        let requests = Array(repeating: request, count: 5).joined(separator: ", ")
        let reply = try send("POST", "/batch", #"{"transaction": true, "requests": [\#(requests)]}"#)
        let results = try JSONSerialization.jsonObject(with: Data(reply.body)) as? [[String: [String: Any]]] ?? []
        let ids = results.compactMap { $0["success"]?["objectId"] as? String }
        if ids.count != 5 { state.fail("a batch of five made \(ids.count): \(reply.text)") }
        for id in ids { books[id] = 0 }
    }

    /// Reads back all of its own.
    private func verify() throws {
        for (id, version) in books {
            let book = try expect(200, "GET", "/classes/SoakBook/\(id)")
            if book["version"] as? Int != version { state.fail("\(id) isn't as it was acknowledged: \(book)") }
        }
    }

    // MARK: Sending

    private func expect(_ status: Int, _ method: String, _ path: String, _ body: String = "") throws -> [String: Any] {
        let reply = try send(method, path, body)
        if reply.status != status { state.fail("\(method) \(path) \(body): \(reply.status) \(reply.text)") }
        return try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any] ?? [:]
    }

    private func send(_ method: String, _ path: String, _ body: String) throws -> ServerReplyText {
        requestCount += 1
        var headers = SoakClient.headers
        if method != "GET" { headers["X-Parse-Request-Id"] = "soak-\(getpid())-\(number)-\(requestCount)" }
        let end = Date().addingTimeInterval(60)
        while true {
            do {
                let connection = try connection ?? ServerConnection(port: state.port.load(ordering: .relaxed))
                self.connection = connection
                let reply = try connection.request(method, "/parse" + path, headers: headers, body: Array(body.utf8))
                if reply.headers["connection"] == "close" { self.connection = nil }
                // The server is stopping or busy, and did nothing.
                guard reply.status == 503 else {
                    state.sent()
                    return reply
                }
            } catch let failure as ServerConnection.Failure where Date() >= end {
                throw failure
            } catch is ServerConnection.Failure {
                connection = nil
            }
            state.sentAgain()
            usleep(20_000)
        }
    }

    static let headers = ["X-Parse-Application-Id": "soak", "X-Parse-Client-Key": "soak"]
}

/// The same numbers for the same seed.
private struct SeededGenerator: RandomNumberGenerator {
    private var value: UInt64

    init(seed: UInt64) { value = seed }

    mutating func next() -> UInt64 {
        value &+= 0x9E37_79B9_7F4A_7C15
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
