import RelataCore

// The app's hooks are called outside of turns: only the client that they are about waits for them.
extension LiveQueries {
    // MARK: Connections and queries

    /// Asks the app's hooks about a client that is about to connect.
    ///
    /// - Throws: the error that refuses the connection.
    func askToConnect(_ caller: Caller, _ installationID: String?, from address: String?) async throws {
        let connected = clients.values.filter { $0.caller != nil }
        let connection = CloudConnection(
            address: address, clients: connected.count, queries: connected.reduce(0) { $0 + $1.queries.count })
        try await service?.willConnect(connection, ParseCall(caller, installationID, from: address))
    }

    /// Begins a live query, after asking the app's hooks about it.
    func subscribe(
        _ query: LiveQuery, _ message: JSONObject, _ client: UInt64, isUpdate: Bool
    ) async throws(LiveProblem) {
        for _ in 0..<ParseService.attempts {
            guard let known = clients[client], var caller = known.caller, let service else {
                throw Self.unknownClient
            }
            if let token = query.sessionToken { caller.sessionToken = token }
            let hook = service.webhook(.beforeSubscribe, query.className)
            let asked: LiveQuery
            do {
                asked = try await service.asked(
                    query, message, hook, ParseCall(caller, known.installationID, from: known.address))
            } catch {
                throw problem(error, of: query.requestID)
            }
            let hasBegun = try await inTurn {
                await self.subscribe(asked, client, isUpdate: isUpdate, after: hook)
            }.get()
            if hasBegun { return }
        }
        throw LiveProblem(
            ParseError(.requestLimitExceeded, "the webhooks are being changed: try again"), of: query.requestID)
    }

    /// Ends a query, whose client has been told or will be.
    func end(_ id: LiveQueryID) {
        remove(id)
        state.withLock { $0.end(id) }
        sweepLater()
    }

    // MARK: Events

    /// Keeps the events of a query until the app's hooks have seen them.
    func hold(_ told: LiveNews.OfQuery, of id: LiveQueryID) {
        if held[id] == nil {
            guard let followed = state.withLock({ $0.queries[id] }) else { return }
            lastHeld += 1
            held[id] = HeldEvents(number: lastHeld, followed.query, followed.caller)
        }
        held[id]?.add(told)
        guard held.size(of: id.client) <= options.maximumLiveBacklog else {
            let message =
                "the server's code handles events too slowly: subscribe again, and fetch the objects again"
            end(id)
            send(LiveProblem(ParseError(.requestLimitExceeded, message), of: id.requestID).text, to: id.client)
            return
        }
        guard let number = held[id]?.number, held[id]?.work == nil else { return }
        held[id]?.work = Task { [weak self] in await self?.askAboutEvents(id, number) }
    }

    /// Forgets the events of a query that wait for hooks.
    func drop(_ id: LiveQueryID) {
        held[id]?.work?.cancel()
        held[id] = nil
    }

    /// The next event that waits for hooks, with what else they must know.
    ///
    /// The other events aren't a part of it: an event that is added while a copy of them exists has to copy them all.
    private func next(
        _ id: LiveQueryID, _ number: Int
    ) -> (event: HeldEvents.Event, query: LiveQuery, caller: Caller)? {
        guard held[id]?.number == number else { return nil }
        guard let event = held[id]?.next(), let held = held[id] else {
            held[id] = nil
            return nil
        }
        return (event, held.query, held.caller)
    }

    /// Asks the app's hooks about the waiting events of a query, one after the other, and sends them.
    private func askAboutEvents(_ id: LiveQueryID, _ number: Int) async {
        /// The caller as the hooks see it, for the events of one step.
        var known: (step: Int, sender: LiveSender)?
        while let (event, query, caller) = next(id, number), let client = clients[id.client], let service {
            let sender: LiveSender
            do {
                if let known, known.step == event.step {
                    sender = known.sender
                } else {
                    sender = try await service.sender(
                        ParseCall(caller, client.installationID, from: client.address))
                    known = (event.step, sender)
                }
            } catch {
                // For example, the session has ended.
                return await end(id, number, for: error)
            }
            do {
                let asked = try await service.asked(event.told, of: query, sender)
                send(asked, event, to: id, number)
            } catch let error as SlowHook {
                return await end(id, number, for: error)
            } catch {
                guard held[id]?.number == number else { return }
                send(problem(error, of: id.requestID).text, to: id.client)
            }
        }
    }

    private func send(
        _ asked: (seen: JSONObject, event: CloudEvent), _ event: HeldEvents.Event, to id: LiveQueryID, _ number: Int
    ) {
        guard let held = held[id], held.number == number, asked.event.isSent, !held.isOver(event) else { return }
        let object = held.mask?.shown(asked.event.object, insteadOf: asked.seen) ?? asked.seen
        var writer = JSONWriter()
        writer.write(.object(object))
        let bytes = fileURLs()?.adding(to: writer.bytes) ?? writer.bytes
        send(event.told.kind, LiveNews.ending(String(decoding: bytes, as: UTF8.self), event.position.text), to: id)
    }

    /// Ends a query about whose events hooks can't be asked.
    private func end(_ id: LiveQueryID, _ number: Int, for error: any Error) async {
        let problem = problem(error, of: id.requestID)
        await inTurn { await self.end(id, number, with: problem) }
    }

    private func end(_ id: LiveQueryID, _ number: Int, with problem: LiveProblem) {
        // Meanwhile it may have ended, or another query may have replaced it.
        guard held[id]?.number == number else { return }
        end(id)
        send(problem.text, to: id.client)
    }
}

extension ParseCall {
    /// A call of a client of live queries, for the app's hooks.
    init(_ caller: Caller, _ installationID: String?, from address: String?) {
        self.init(method: .get, path: ["live"], body: [:], caller: caller)
        self.installationID = installationID
        peer = address
    }
}
