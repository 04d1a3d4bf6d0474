import RelataCore

// How a client's live queries begin and end.
extension LiveQueries {
    // MARK: Queries

    func unsubscribe(_ number: Int64, _ client: UInt64) -> Result<Void, LiveProblem> {
        guard clients[client]?.caller != nil else { return .failure(Self.unknownClient) }
        let id = LiveQueryID(client: client, requestID: number)
        guard queries[id] != nil else {
            return .failure(LiveProblem(code: 2, "there is no live query \(number) to unsubscribe from", of: number))
        }
        end(id)
        send(message("unsubscribed", ["requestId": .integer(number)], to: client), to: client)
        return .success(())
    }

    static let unknownClient = LiveProblem(
        code: 2, "Can not find this client, make sure you connect to server before subscribing")

    func subscribe(_ query: LiveQuery, _ client: UInt64, isUpdate: Bool) async -> Result<Void, LiveProblem> {
        guard let own = clients[client]?.caller else { return .failure(Self.unknownClient) }
        let id = LiveQueryID(client: client, requestID: query.requestID)
        let isKnown = queries[id] != nil
        guard isUpdate || !isKnown else {
            return .failure(
                LiveProblem(code: 1, "there is a live query \(query.requestID) already", of: query.requestID))
        }
        guard isKnown || (queriesOfClients[client]?.count ?? 0) < options.maximumLiveQueries else {
            return .failure(
                LiveProblem(
                    code: ParseError.Code.requestLimitExceeded.rawValue,
                    "a client has at most \(options.maximumLiveQueries) live queries", of: query.requestID))
        }
        var caller = own
        if let token = query.sessionToken { caller.sessionToken = token }
        do {
            // Whatever is committed from here on is told.
            listen()
            let start = try await start(query, caller)
            if isKnown { end(id) }
            guard clients[client] != nil else { return .success(()) }
            let resumed = enter(id, query, caller, start)
            var members: JSONObject = [
                "requestId": .integer(query.requestID), "position": .string(position(round)),
            ]
            if query.after != nil { members["resumed"] = .bool(resumed != nil) }
            send(message("subscribed", members, to: client), to: client)
            if let objects = start.objects, resumed == nil {
                let text = message("results", ["requestId": .integer(query.requestID)], to: client)
                send(text.dropLast() + ",\"objects\":[\(objects.joined(separator: ","))]}", to: client)
            }
            tell(resumed ?? [], to: id)
            return .success(())
        } catch {
            sweepLater()
            return .failure(problem(error, of: query.requestID))
        }
    }

    /// What a new query begins with.
    struct Start: Sendable {
        let known: KnownCaller
        let group: LiveGroup
        let objects: [String]?
        let missed: [LiveRound.Told]?
        let readers: [KeyValue: Set<String>]
    }

    func start(_ query: LiveQuery, _ caller: Caller) async throws -> Start {
        while true {
            switch try await found(query, caller) {
            case .start(let start): return start
            // Those who follow it already are told first what is another thing by now.
            case .outdated(let key): try await replace(key, LiveChanges([]))
            }
        }
    }

    private enum Finding: Sendable {
        case start(Start)
        /// There is such a group, of a class that is another now.
        case outdated(LiveGroup.Key)
    }

    private func found(_ query: LiveQuery, _ caller: Caller) async throws -> Finding {
        let (groups, round) = (groups, round)
        let reading = LiveRound(round, .now, readers: readers)
        let (resumedRound, maximum) = (resumedRound(query), options.maximumLiveObjects)
        let others = groups.values.reduce(0) { $0 + $1.matched.count }
        return try await self.reading { reader in
            var reading = reading
            let known = try reader.known(caller)
            var found = try reader.group(of: query.className, query.condition, as: known)
            var group: LiveGroup
            // What happened while nobody followed is known to nobody.
            var since: Int?
            if let there = groups[found.key], there.isTheSame(in: found.classes) {
                (group, since) = (there, resumedRound)
            } else {
                guard groups[found.key] == nil else { return .outdated(found.key) }
                found = try reader.filled(found, as: known)
                guard found.matched.count + others <= maximum else {
                    throw ParseError(
                        .requestLimitExceeded,
                        "all live queries follow \(maximum) objects at most, and this one would have them be more")
                }
                group = LiveGroup(found, as: known, round: round)
            }
            let key = LiveGroup.Audience.Key(query, as: known)
            let name = group.key.className
            let isShared = group.key.rights == nil
            var (objects, missed): ([String]?, [LiveRound.Told]?)
            if let since, group.firstRound <= since + 1 {
                let past = Self.combined(group.past.filter { $0.round > since })
                try reading.know(past, reader)
                let events = reading.events(past, for: key)
                let content = LiveReader.Content(name, key, known, isShared: false)
                missed = try reading.told(events, content, as: known, reader)
            } else if query.wantsObjects {
                let seen = try reading.seen(group, by: key.rights, reader).keys.sorted {
                    $0.description < $1.description
                }
                let content = LiveReader.Content(name, key, known, isShared: isShared)
                let shown = try reader.objects(seen, content, as: known)
                guard shown.values.reduce(0, { $0 + $1.utf8.count }) <= reader.options.maximumReply else {
                    throw ParseError.replyTooLarge(reader.options.maximumReply)
                }
                objects = seen.compactMap { shown[$0] }
            }
            return .start(
                Start(known: known, group: group, objects: objects, missed: missed, readers: reading.readers))
        }
    }

    /// What became of objects over several rounds, as one step each.
    static func combined(_ past: [LiveGroup.Past]) -> [LiveGroup.Past] {
        var combined: [KeyValue: LiveGroup.Past] = [:]
        for step in past {
            guard let first = combined[step.key] else {
                combined[step.key] = step
                continue
            }
            var change = step.change
            change.isInserted = first.change.isInserted || step.change.isInserted
            change.fields = first.change.fields.flatMap { fields in step.change.fields.map(fields.union) }
            combined[step.key] = LiveGroup.Past(
                round: step.round, time: step.time, key: step.key, before: first.before, after: step.after,
                change: change)
        }
        return combined.values.sorted { ($0.round, $0.change.order) < ($1.round, $1.change.order) }
    }

    func position(_ round: Int) -> String { "\(epoch)-\(round)" }

    /// The round after which a client goes on; `nil` where it begins, or was told by another process.
    func resumedRound(_ query: LiveQuery) -> Int? {
        guard let parts = query.after?.split(separator: "-"), parts.count == 2, parts[0] == epoch else { return nil }
        return Int(parts[1]).flatMap { $0 <= round ? $0 : nil }
    }

    /// - Returns: What the client missed; `nil` where it begins anew.
    func enter(
        _ id: LiveQueryID, _ query: LiveQuery, _ caller: Caller, _ start: Start
    ) -> [LiveRound.Told]? {
        readers.merge(start.readers) { _, new in new }
        let key = LiveGroup.Audience.Key(query, as: start.known)
        if groups[start.group.key] == nil { groups[start.group.key] = start.group }
        groups[start.group.key]?.idleSince = nil
        groups[start.group.key]?.audiences[key, default: LiveGroup.Audience(known: start.known)].queries.insert(id)
        queries[id] = Followed(query: query, caller: caller, group: start.group.key, audience: key)
        queriesOfClients[id.client, default: []].insert(id.requestID)
        // What others of its queries see is another thing only once they are read anew.
        callers[caller, default: (start.known, 0)].count += 1
        return start.missed
    }

    func end(_ id: LiveQueryID) {
        guard let followed = queries.removeValue(forKey: id) else { return }
        queriesOfClients[id.client]?.remove(id.requestID)
        if let count = callers[followed.caller]?.count {
            if count > 1 { callers[followed.caller]?.count = count - 1 } else { callers[followed.caller] = nil }
        }
        groups[followed.group]?.audiences[followed.audience]?.queries.remove(id)
        if groups[followed.group]?.audiences[followed.audience]?.queries.isEmpty == true {
            groups[followed.group]?.audiences[followed.audience] = nil
        }
        if groups[followed.group]?.audiences.isEmpty == true {
            groups[followed.group]?.idleSince = .now
            sweepLater()
        }
    }
}
