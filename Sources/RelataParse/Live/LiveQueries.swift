import Foundation
import RelataCore
import RelataEngine
import RelataRecords
import Synchronization

/// Follows committed changes, and sends clients the events of their live queries.
///
/// All work is done in turns, one after the other. So a query begins at one state of the store, and gets all events
/// after this state.
actor LiveQueries {
    struct Client {
        let outbox: LiveOutbox
        /// The client's caller; `nil` until it has connected.
        var caller: Caller?
        /// The client's address.
        let address: String?
        /// The id of the app's installation.
        var installationID: String?
        /// The keys of one that may do more than clients: they are checked again when keys change.
        var keys: [String: String] = [:]
        /// The request numbers of the client's queries.
        var queries: Set<Int64> = []
    }

    private let store: ParseStore
    private let keys: ParseKeys
    let options: ParseService.Options
    private let budget: RequestBudget?
    let fileURLs: @Sendable () -> FileURLs?
    private var report: @Sendable (any Error) -> Void = { _ in }
    /// The service that calls the app's hooks. It has this object.
    private(set) weak var service: ParseService?

    private(set) var clients: [UInt64: Client] = [:]
    private var lastClient: UInt64 = 0
    /// Locked while the store is read. Only one turn at a time locks it, so nothing waits for the lock.
    let state: Mutex<LiveState>
    /// The events that wait for hooks.
    var held = HeldQueries()
    var lastHeld = 0
    private(set) var feed: Task<Void, Never>?
    private var lastTurn: Task<Void, Never>?
    private var isSweeping = false

    /// - Parameter fileURLs: The addresses of files; `nil` if there are no files.
    init(
        _ store: ParseStore, keys: ParseKeys, budget: RequestBudget?, options: ParseService.Options,
        fileURLs: @escaping @Sendable () -> FileURLs?
    ) {
        (self.store, self.keys, self.options, self.fileURLs) = (store, keys, options, fileURLs)
        self.budget = budget
        state = Mutex(LiveState(options: options))
    }

    // MARK: Turns

    /// Runs `body` after all earlier turns.
    func inTurn<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let before = lastTurn
        let task = Task {
            await before?.value
            return await body()
        }
        lastTurn = Task { _ = await task.value }
        return await task.value
    }

    /// Reads one state of the store.
    private func reading<Result: Sendable>(
        _ body: @Sendable (inout LiveState, LiveReader) throws -> Result
    ) async throws -> Result {
        let start = Date()
        return try await store.read(as: .master) { transaction in
            let reader = LiveReader(
                transaction: transaction, start: start, options: self.options, fileURLs: self.fileURLs())
            return try self.state.withLock { state in try body(&state, reader) }
        }
    }

    // MARK: Clients

    /// Adds a client.
    ///
    /// - Parameters:
    ///   - address: The client's address.
    ///   - service: The service of these queries.
    ///   - report: Called with errors whose details aren't sent to clients.
    func add(
        _ outbox: LiveOutbox, from address: String?, _ service: ParseService,
        _ report: @escaping @Sendable (any Error) -> Void
    ) -> UInt64 {
        self.service = service
        self.report = report
        lastClient += 1
        clients[lastClient] = Client(outbox: outbox, address: address)
        return lastClient
    }

    /// Removes a client that has disconnected.
    func remove(_ client: UInt64) async {
        await inTurn { await self.forget(client) }
    }

    private func forget(_ client: UInt64) {
        guard let known = clients.removeValue(forKey: client) else { return }
        known.outbox.close()
        for number in known.queries { drop(LiveQueryID(client: client, requestID: number)) }
        if known.queries.isEmpty { return }
        state.withLock { state in
            for number in known.queries { state.end(LiveQueryID(client: client, requestID: number)) }
        }
        sweepLater()
    }

    /// Whether a client has connected with valid keys.
    func isConnected(_ client: UInt64) -> Bool { clients[client]?.caller != nil }

    /// Handles a client's message.
    func receive(_ text: String, from client: UInt64) async {
        do throws(LiveProblem) {
            let request = Result { () throws(LiveProblem) in try LiveRequest(text) }
            try await take(try? request.get(), from: client)
            switch try request.get() {
            case .connect(let headers): try await connect(client, headers)
            case .subscribe(let query, let message, let isUpdate):
                try await subscribe(query, message, client, isUpdate: isUpdate)
            case .unsubscribe(let number): try await inTurn { await self.unsubscribe(number, client) }.get()
            }
        } catch {
            send(error.text, to: client)
        }
    }

    /// Takes a message from the client's budget: a query from that of its class.
    private func take(_ request: LiveRequest?, from client: UInt64) async throws(LiveProblem) {
        guard let budget, let known = clients[client] else { return }
        var caller = known.caller ?? Caller()
        var (paths, number) = ([["live"]], Int64?.none)
        switch request {
        case .subscribe(let query, _, _)?:
            if let token = query.sessionToken { caller.sessionToken = token }
            paths += CountedRequest("GET", ["classes", query.className]).paths
            number = query.requestID
        case .unsubscribe(let requestID)?: number = requestID
        case .connect, nil: break
        }
        do {
            try await budget.take(CountedRequest("GET", alternatives: paths), caller, known.address)
        } catch {
            throw problem(error, of: number)
        }
    }

    private func connect(_ client: UInt64, _ headers: [String: String]) async throws(LiveProblem) {
        guard let address = clients[client].map(\.address) else { return }
        guard let rights = try? keys.check(headers, from: address) else { throw Self.wrongKey }
        var caller = Caller(sessionToken: headers["x-parse-session-token"])
        caller.take(rights)
        if caller.sessionToken != nil {
            do {
                // The read itself throws for an unknown session.
                try await store.read(as: caller) { _ in }
            } catch {
                throw problem(error)
            }
        }
        let installationID = headers["x-parse-installation-id"]
        do {
            try await askToConnect(caller, installationID, from: address)
        } catch {
            throw problem(error)
        }
        guard let known = clients[client] else { return }
        guard known.caller == nil else { throw LiveProblem(code: 1, "the client is connected already") }
        // The keys may have changed while the session was looked for, and hooks were asked.
        guard (try? keys.check(headers, from: address)) == rights else { throw Self.wrongKey }
        clients[client]?.caller = caller
        clients[client]?.installationID = installationID
        if rights.isMaster { clients[client]?.keys = headers }
        send(message("connected", [:], to: client), to: client)
    }

    private static let wrongKey = LiveProblem(code: 4, "Key in request is not valid")

    /// Disconnects clients whose keys no longer allow what they did.
    func checkKeys() async {
        await inTurn { await self.dropWrongKeys() }
    }

    private func dropWrongKeys() {
        for (number, client) in clients where client.caller?.isMaster == true {
            var caller = Caller(sessionToken: client.caller?.sessionToken)
            if let rights = try? keys.check(client.keys, from: client.address) { caller.take(rights) }
            guard caller != client.caller else { continue }
            client.outbox.append(Self.wrongKey.text)
            forget(number)
        }
    }

    func problem(_ error: any Error, of requestID: Int64? = nil) -> LiveProblem {
        if let problem = error as? LiveProblem { return problem }
        return LiveProblem(ParseError(error, report: report), of: requestID)
    }

    // MARK: Queries

    static let unknownClient = LiveProblem(
        code: 2, "Can not find this client, make sure you connect to server before subscribing")

    /// Begins a live query.
    ///
    /// - Parameter hook: The webhook that was asked about the query; `nil` for none.
    /// - Returns: Whether the query has begun. If not, another webhook must be asked about it.
    func subscribe(
        _ query: LiveQuery, _ client: UInt64, isUpdate: Bool, after hook: Webhook?
    ) async -> Result<Bool, LiveProblem> {
        let number = query.requestID
        guard let known = clients[client], var caller = known.caller else { return .failure(Self.unknownClient) }
        let isKnown = known.queries.contains(number)
        guard isUpdate || !isKnown else {
            return .failure(LiveProblem(code: 1, "there is a live query \(number) already", of: number))
        }
        guard isKnown || known.queries.count < options.maximumLiveQueries else {
            let message = "a client has at most \(options.maximumLiveQueries) live queries"
            return .failure(LiveProblem(ParseError(.requestLimitExceeded, message), of: number))
        }
        if let token = query.sessionToken { caller.sessionToken = token }
        let (id, asked) = (LiveQueryID(client: client, requestID: number), caller)
        do {
            // Every later commit must be noticed.
            listen()
            var (news, found) = try await reading { state, reader in
                let news = try state.catchUp(query, reader)
                let found = Result {
                    try self.options.checkHooks(of: query, after: hook, in: reader.classes)
                    return try state.follow(id, query, as: asked, reader)
                }
                return (news, found)
            }
            // The replaced query's events are no longer of interest.
            if case .success = found { news.told[id] = nil }
            // Even if this query fails, the other queries get the events found for them.
            deliver(news)
            let start = try found.get()
            drop(id)
            clients[client]?.queries.insert(number)
            begin(id, query, start)
            sweepLater()
            return .success(true)
        } catch is HooksChanged {
            sweepLater()
            return .success(false)
        } catch {
            if state.withLock({ $0.failure != nil }) { lose(error) }
            sweepLater()
            return .failure(problem(error, of: number))
        }
    }

    /// Forgets a query and its events that wait for hooks.
    func remove(_ id: LiveQueryID) {
        drop(id)
        clients[id.client]?.queries.remove(id.requestID)
    }

    private func begin(_ id: LiveQueryID, _ query: LiveQuery, _ start: LiveStart) {
        var members: JSONObject = [
            "requestId": .integer(query.requestID), "position": .string(start.position.text),
        ]
        if query.after != nil { members["resumed"] = .bool(start.missed != nil) }
        send(message("subscribed", members, to: id.client), to: id.client)
        if let objects = start.objects {
            let text = message("results", ["requestId": .integer(query.requestID)], to: id.client)
            send(text.dropLast() + ",\"objects\":[\(objects.joined(separator: ","))]}", to: id.client)
        }
        if let missed = start.missed { tell(missed, to: id) }
    }

    private func unsubscribe(_ number: Int64, _ client: UInt64) -> Result<Void, LiveProblem> {
        guard clients[client]?.caller != nil else { return .failure(Self.unknownClient) }
        guard clients[client]?.queries.contains(number) == true else {
            return .failure(LiveProblem(code: 2, "there is no live query \(number) to unsubscribe from", of: number))
        }
        end(LiveQueryID(client: client, requestID: number))
        send(message("unsubscribed", ["requestId": .integer(number)], to: client), to: client)
        return .success(())
    }

    // MARK: Committed changes

    /// Starts to listen to committed changes, unless this is running already.
    private func listen() {
        guard feed == nil else { return }
        let changes = store.records.changes
        feed = Task { [weak self] in
            var iterator = changes.makeAsyncIterator()
            while let first = await iterator.next() {
                guard let self else { return }
                let waiting = iterator
                await self.inTurn {
                    // All changes up to this turn are combined, so that the read covers them.
                    var iterator = waiting
                    await self.tell(LiveChanges([first] + iterator.waiting()))
                }
            }
            if !Task.isCancelled { await self?.storeClosed() }
        }
    }

    private func storeClosed() {
        for client in clients.values { client.outbox.close() }
    }

    private func tell(_ changes: LiveChanges) async {
        guard state.withLock({ !$0.groups.isEmpty }) else { return }
        do {
            deliver(try await reading { state, reader in try state.step(changes, reader) })
        } catch {
            lose(error)
        }
    }

    private func deliver(_ news: LiveNews) {
        for (id, told) in news.told { tell(told, to: id) }
        for (id, error) in news.ended {
            remove(id)
            send(LiveProblem(error, of: id.requestID).text, to: id.client)
        }
        sweepLater()
    }

    /// Ends all queries after a failed read: a client must not believe that nothing happened.
    private func lose(_ error: any Error) {
        report(error)
        let problem = LiveProblem(
            code: 1, "the server could not read what changed: connect again, and fetch the objects anew",
            reconnects: true)
        state.withLock { $0 = LiveState(options: options) }
        for (number, client) in clients where !client.queries.isEmpty {
            client.outbox.append(problem.text)
            forget(number)
        }
    }

    // MARK: Idle groups

    /// Removes idle groups after the resume time.
    func sweepLater() {
        guard !isSweeping else { return }
        isSweeping = true
        Task { [weak self, time = options.liveResumeTime] in
            try? await Task.sleep(for: .seconds(time))
            await self?.sweepInTurn()
        }
    }

    private func sweepInTurn() async { await inTurn { await self.sweep() } }

    private func sweep() {
        isSweeping = false
        let (isWaiting, isEmpty) = state.withLock { state in (state.sweep(), state.groups.isEmpty) }
        if isWaiting { sweepLater() }
        guard isEmpty else { return }
        feed?.cancel()
        feed = nil
    }
}
