import Foundation
import Synchronization

/// A server under full load of mixed requests, which is stopped and killed in between: acknowledged writes must be
/// stored afterwards, and its memory must not grow.
public struct Soak {
    /// The duration, and the numbers of clients and restarts.
    public struct Plan: Sendable {
        public var seconds = 600.0
        public var clients = 64
        /// The numbers of times that the server is stopped, and killed, in the first part of the time.
        public var stops = 6
        public var kills = 6
        /// The part of the time in which that happens.
        public var restartingPart = 0.4
        /// The number of idle connections held at the end; fewer if the system doesn't allow that many.
        public var idleConnections = 0

        public init() {}
    }

    /// The outcome.
    public struct Outcome: Sendable {
        public var requests = 0
        public var requestsSentAgain = 0
        public var rate = 0.0
        /// The megabytes of memory, second by second after the last restart.
        public var memory: [Double] = []
        /// The number of idle connections held, the megabytes of memory with them, and the seconds that requests took
        /// meanwhile.
        public var idle: (connections: Int, memory: Double, times: [Double])?
        /// The errors.
        public var failures: [String] = []
    }

    private let plan: Plan
    private let server: ServedFile
    private let say: (String) -> Void

    /// - Parameters:
    ///   - tool: The command `relata`.
    ///   - folder: The folder for the file.
    ///   - say: Called with the progress.
    public init(_ plan: Plan, tool: URL, folder: String, say: @escaping (String) -> Void = { _ in }) {
        self.plan = plan
        self.say = say
        server = ServedFile(
            tool: tool, path: folder + "/soak.sqlite",
            options: [
                "--app-id", "soak", "--client-key", "soak", "--master-key", "soak master", "--log-level", "error",
                "--idle-timeout", "600",
            ])
    }

    public func run() throws -> Outcome {
        var outcome = Outcome()
        try server.start()
        let state = try prepare()
        let clients = (0..<plan.clients).map { SoakClient($0, state) }
        let group = DispatchGroup()
        let begin = Date()
        for client in clients {
            group.enter()
            let work = UncheckedBox(client)
            let thread = Thread {
                work.value.run()
                group.leave()
            }
            thread.start()
        }
        try restart(until: begin.addingTimeInterval(plan.seconds * plan.restartingPart), &outcome)
        let end = begin.addingTimeInterval(plan.seconds)
        while Date() < end {
            usleep(1_000_000)
            if let memory = server.residentMegabytes() { outcome.memory.append(memory) }
            if outcome.memory.count % 30 == 0 { say("\(state.requests) requests, \(Int(outcome.memory.last ?? 0)) MB") }
        }
        outcome.requests = state.requests
        outcome.requestsSentAgain = state.requestsSentAgain
        outcome.rate = Double(state.requests) / Date().timeIntervalSince(begin)
        state.end()
        if group.wait(timeout: .now() + 120) == .timedOut { state.fail("clients didn't come to their end") }
        if state.failures.isEmpty { try verify(clients, state) }
        outcome.failures += state.failures
        if plan.idleConnections > 0 { try holdIdle(&outcome) }
        if let status = server.stop() {
            if status != 0 { outcome.failures.append("the server ended with \(status): \(server.printed)") }
        } else {
            outcome.failures.append("the server didn't stop")
        }
        outcome.failures += memoryFailures(outcome.memory)
        return outcome
    }

    private func prepare() throws -> SoakState {
        let count = max(1, plan.clients / 8)
        let connection = try ServerConnection(port: server.port)
        func make(_ className: String, _ body: String) throws -> [String] {
            try (0..<count).map { _ in
                let reply = try connection.request(
                    "POST", "/parse/classes/\(className)", headers: SoakClient.headers, body: Array(body.utf8))
                let object = try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any]
                guard let id = object?["objectId"] as? String else {
                    throw ServedFile.Failure(description: "no \(className) was made: \(reply.text)")
                }
                return id
            }
        }
        return SoakState(
            port: server.port, counters: try make("SoakCounter", #"{"count": 0}"#),
            lists: try make("SoakList", #"{"values": []}"#), shelves: try make("SoakShelf", #"{"name": "Shelf"}"#))
    }

    /// Stops and kills the server in turns.
    private func restart(until end: Date, _ outcome: inout Outcome) throws {
        let times = plan.stops + plan.kills
        guard times > 0 else { return }
        let pause = max(0, end.timeIntervalSinceNow) / Double(times)
        var (stops, kills) = (plan.stops, plan.kills)
        while stops + kills > 0 {
            usleep(UInt32(pause * 1_000_000))
            if stops >= kills {
                stops -= 1
                let status = server.stop()
                if status != 0 {
                    outcome.failures.append("the server ended with \(status ?? -1) under load: \(server.printed)")
                }
            } else {
                kills -= 1
                server.kill()
            }
            try server.start()
        }
        say("stopped \(plan.stops) times and killed \(plan.kills) times under load")
    }

    /// Compares the values that many clients changed at once with the sum of the acknowledged changes.
    private func verify(_ clients: [SoakClient], _ state: SoakState) throws {
        let connection = try ServerConnection(port: server.port)
        func get(_ path: String) throws -> [String: Any] {
            let reply = try connection.request("GET", "/parse" + path, headers: SoakClient.headers)
            return try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any] ?? [:]
        }
        for id in state.counters {
            let expected = clients.filter { $0.counter == id }.reduce(0) { $0 + $1.increments }
            let count = try get("/classes/SoakCounter/\(id)")["count"] as? Int
            if count != expected { state.fail("a counter is \(count ?? -1) after \(expected) increments") }
        }
        for id in state.lists {
            let expected = clients.filter { $0.list == id }.reduce(into: Set<String>()) { $0.formUnion($1.values) }
            let values = try get("/classes/SoakList/\(id)")["values"] as? [String] ?? []
            if values.count != expected.count || Set(values) != expected {
                state.fail("a list has \(values.count) values, not the \(expected.count) that were added")
            }
        }
        for id in state.shelves {
            let expected = clients.filter { $0.shelf == id }.reduce(into: Set<String>()) { $0.formUnion($1.shelved) }
            let related = """
                {"$relatedTo": {"object": {"__type": "Pointer", "className": "SoakShelf", "objectId": "\(id)"}, \
                "key": "books"}}
                """
            let query = related.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let books = try get("/classes/SoakBook?limit=100000&keys=objectId&where=\(query)")["results"]
            let ids = (books as? [[String: Any]] ?? []).compactMap { $0["objectId"] as? String }
            if ids.count != expected.count || Set(ids) != expected {
                state.fail("a shelf has \(ids.count) books, not the \(expected.count) that were added")
            }
        }
    }

    /// Holds many idle connections: other requests must be answered as fast as without them.
    private func holdIdle(_ outcome: inout Outcome) throws {
        let count = IdleConnections.allowed(plan.idleConnections, ends: 1)
        if count < plan.idleConnections {
            say("the system allows \(count) connections, not \(plan.idleConnections): raise it by ulimit -n")
        }
        let idle = try IdleConnections(count, port: server.port, path: "/parse/health")
        let times = try idle.times(500)
        try idle.askAgain(100)
        outcome.idle = (idle.count, server.residentMegabytes() ?? 0, times)
        if times[times.count / 2] > 0.1 {
            outcome.failures.append("a request took \(times[times.count / 2]) s beside \(count) idle connections")
        }
    }

    /// Memory is flat if it isn't larger in the last third than in the one before, except for variations of the
    /// allocator.
    private func memoryFailures(_ memory: [Double]) -> [String] {
        guard memory.count >= 30 else { return [] }
        let third = memory.count / 3
        let before = memory[third..<2 * third].sorted()[third / 2]
        let after = memory.suffix(third).sorted()[third / 2]
        guard after > before * 1.1 + 5 else { return [] }
        return ["the server's memory grew from \(Int(before)) to \(Int(after)) MB"]
    }
}

/// Carries what only one thread touches at a time.
private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
