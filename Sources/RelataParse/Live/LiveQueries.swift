import Foundation
import RelataCore
import RelataEngine
import RelataRecords

/// Follows what is committed, and tells clients what became of the objects of their live queries.
///
/// All work is done in turns, one after the other: so a query begins at one state of the store, and is told of all that
/// comes after it.
actor LiveQueries {
    struct Client {
        let outbox: LiveOutbox
        /// Who it is; `nil` until it has said so.
        var caller: Caller?
    }

    struct Followed {
        let query: LiveQuery
        let caller: Caller
        var group: LiveGroup.Key
        var audience: LiveGroup.Audience.Key
    }

    let store: ParseStore
    let keys: ParseKeys
    let options: ParseService.Options
    var report: @Sendable (any Error) -> Void = { _ in }

    var clients: [UInt64: Client] = [:]
    var lastClient: UInt64 = 0
    var queries: [LiveQueryID: Followed] = [:]
    var queriesOfClients: [UInt64: Set<Int64>] = [:]
    var groups: [LiveGroup.Key: LiveGroup] = [:]
    /// The callers of queries, and of how many each is.
    var callers: [Caller: (known: KnownCaller, count: Int)] = [:]
    /// Who may read by access lists that were seen.
    var readers: [KeyValue: Set<String>] = [:]
    var round = 0
    /// Tells the rounds of this process from those of others.
    let epoch = String(UInt64.random(in: 1 ... .max), radix: 36)
    var feed: Task<Void, Never>?
    var lastTurn: Task<Void, Never>?
    var isSweeping = false

    init(_ store: ParseStore, keys: ParseKeys, options: ParseService.Options) {
        (self.store, self.keys, self.options) = (store, keys, options)
    }

    /// For how long what happened is kept for those who come back.
    var resumeTime: Duration { .seconds(options.liveResumeTime) }

    // MARK: Turns

    /// Runs `body` when all that was asked before is done.
    func inTurn<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let before = lastTurn
        let task = Task {
            await before?.value
            return await body()
        }
        lastTurn = Task { _ = await task.value }
        return await task.value
    }

    func reading<Result: Sendable>(
        _ body: @Sendable (LiveReader) throws -> Result
    ) async throws -> Result {
        try await store.read(as: .master) { try body(LiveReader(transaction: $0, options: self.options)) }
    }

    // MARK: Clients

    /// A new client.
    ///
    /// - Parameter report: Called with what went wrong where the clients are told no details.
    func add(_ outbox: LiveOutbox, _ report: @escaping @Sendable (any Error) -> Void) -> UInt64 {
        self.report = report
        lastClient += 1
        clients[lastClient] = Client(outbox: outbox)
        return lastClient
    }

    /// The client is gone.
    func remove(_ client: UInt64) async {
        await inTurn { await self.forget(client) }
    }

    func forget(_ client: UInt64) {
        for number in queriesOfClients[client] ?? [] { end(LiveQueryID(client: client, requestID: number)) }
        clients.removeValue(forKey: client)?.outbox.close()
        queriesOfClients[client] = nil
    }

    /// Whether a client said who it is.
    func isConnected(_ client: UInt64) -> Bool { clients[client]?.caller != nil }

    /// What a client says.
    func receive(_ text: String, from client: UInt64) async {
        do throws(LiveProblem) {
            switch try LiveRequest(text) {
            case .connect(let headers): try await connect(client, headers)
            case .subscribe(let query, let isUpdate):
                try await inTurn { await self.subscribe(query, client, isUpdate: isUpdate) }.get()
            case .unsubscribe(let number): try await inTurn { await self.unsubscribe(number, client) }.get()
            }
        } catch {
            send(error.text, to: client)
        }
    }

    func send(_ message: String, to client: UInt64) {
        // A client that takes nothing is let go when its socket has ended.
        clients[client]?.outbox.append(message)
    }

    func message(_ operation: String, _ members: JSONObject, to client: UInt64) -> String {
        var message: JSONObject = ["op": .string(operation), "clientId": .string(String(client, radix: 36))]
        for (name, value) in members { message[name] = value }
        return JSONWriter.text(.object(message))
    }

    func connect(_ client: UInt64, _ headers: [String: String]) async throws(LiveProblem) {
        guard let isMaster = try? keys.check(headers) else {
            throw LiveProblem(code: 4, "Key in request is not valid")
        }
        let caller = Caller(isMaster: isMaster, sessionToken: headers["x-parse-session-token"])
        if caller.sessionToken != nil {
            do {
                _ = try await reading { try $0.known(caller) }
            } catch {
                throw problem(error)
            }
        }
        guard let known = clients[client] else { return }
        guard known.caller == nil else { throw LiveProblem(code: 1, "the client is connected already") }
        clients[client]?.caller = caller
        send(message("connected", [:], to: client), to: client)
    }

    func problem(_ error: any Error, of requestID: Int64? = nil) -> LiveProblem {
        let parseError = ParseError(error)
        if parseError.status >= 500, !(error is CancellationError) { report(error) }
        return LiveProblem(parseError, of: requestID)
    }

    // MARK: Groups that nobody follows

    /// Forgets, after a while, what nobody came back for.
    func sweepLater() {
        guard !isSweeping else { return }
        isSweeping = true
        let time = resumeTime
        Task { [weak self] in
            try? await Task.sleep(for: time)
            await self?.sweepInTurn()
        }
    }

    func sweepInTurn() async { await inTurn { await self.sweep() } }

    func sweep() {
        isSweeping = false
        let now = ContinuousClock.now
        groups = groups.filter { _, group in group.idleSince.map { now - $0 < resumeTime } ?? true }
        if groups.contains(where: { $0.value.idleSince != nil }) { sweepLater() }
        guard groups.isEmpty else { return }
        feed?.cancel()
        feed = nil
        readers = [:]
    }
}
