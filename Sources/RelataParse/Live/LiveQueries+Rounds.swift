import Foundation
import RelataCore
import RelataRecords

// What clients are told of what was committed.
extension LiveQueries {
    // MARK: Rounds

    /// Listens to what is committed, if nobody did.
    func listen() {
        guard feed == nil else { return }
        // What happened since the last one isn't known.
        round += 1
        let changes = store.records.changes
        feed = Task { [weak self] in
            var iterator = changes.makeAsyncIterator()
            while let first = await iterator.next() {
                let sets = [first] + iterator.waiting()
                guard let self else { return }
                await self.inTurn { await self.tell(LiveChanges(sets)) }
            }
            if !Task.isCancelled { await self?.storeClosed() }
        }
    }

    func storeClosed() {
        for client in clients.values { client.outbox.close() }
    }

    func tell(_ changes: LiveChanges) async {
        guard !groups.isEmpty else { return }
        round += 1
        let time = ContinuousClock.now
        do {
            let (answers, known) = try await ask(changes, time)
            try await apply(answers, changes, time)
            try await apply(known, changes)
        } catch {
            // Nobody may believe that nothing happened.
            report(error)
            lose("the server could not read what changed: connect again, and fetch the objects anew")
        }
    }

    typealias Known = [Caller: Result<KnownCaller, ParseError>]

    /// Finds out what became of the objects of all queries, and who the callers are whose rights may be others.
    func ask(
        _ changes: LiveChanges, _ time: ContinuousClock.Instant
    ) async throws -> ([LiveRound.Answer], Known) {
        let stale = staleCallers(changes)
        let questions = questions(changes)
        let start = LiveRound(round, time, readers: readers)
        let (answers, readers, known) = try await reading { reader in
            var round = start
            var known: Known = [:]
            for caller in stale { known[caller] = try Self.known(caller, reader) }
            let asked = questions.map { question in
                var question = question
                for case .success(let caller) in known.values { question.group.renew(caller, LiveRights(caller)) }
                return question
            }
            return (try round.answers(asked, reader), round.readers, known)
        }
        self.readers = readers.count > Self.maximumReaders ? [:] : readers
        return (answers, known)
    }

    static let maximumReaders = 100_000

    static func known(_ caller: Caller, _ reader: LiveReader) throws -> Result<KnownCaller, ParseError> {
        do {
            return .success(try reader.known(caller))
        } catch let error as ParseError where error.code == .invalidSessionToken {
            return .failure(error)
        }
    }

    /// The callers whose rights may be others now.
    func staleCallers(_ changes: LiveChanges) -> [Caller] {
        let (sessions, roles, lists) = (
            changes.classes[InternalClasses.session], changes.classes[InternalClasses.role],
            changes.classes[InternalClasses.accessEntry]
        )
        guard sessions != nil || roles != nil || lists != nil else { return [] }
        let ended = Set(
            (sessions?.objects ?? [:]).filter { !$0.value.isInserted || $0.value.isDeleted }.map(\.key))
        let named = Set((lists?.objects ?? [:]).keys.compactMap { $0.values.last?.description })
        return callers.filter { caller, entry in
            if caller.isMaster && caller.sessionToken == nil { return false }
            if lists?.isUnknown == true || !named.isDisjoint(with: entry.known.principals) { return true }
            guard let session = entry.known.session else { return false }
            return roles != nil || sessions?.isUnknown == true || ended.contains(KeyValue(.text(session.id)))
        }.map(\.key)
    }

    func questions(_ changes: LiveChanges) -> [LiveRound.Question] {
        groups.values.compactMap { group in
            let own = changes.classes[group.key.className]
            let isAboutAll = own?.isUnknown == true || group.others.contains { changes.classes[$0] != nil }
            guard own != nil || isAboutAll else { return nil }
            return LiveRound.Question(group: group, changed: own?.objects ?? [:], isAboutAll: isAboutAll)
        }
    }

    func apply(_ answers: [LiveRound.Answer], _ changes: LiveChanges, _ now: ContinuousClock.Instant) async throws {
        for answer in answers where !answer.isOutdated {
            for step in answer.past { groups[answer.key]?.matched[step.key] = step.after }
            groups[answer.key]?.remember(answer.past, now: now, for: resumeTime)
            for (key, told) in answer.told {
                for id in groups[answer.key]?.audiences[key]?.queries ?? [] { tell(told, to: id) }
            }
        }
        for answer in answers where answer.isOutdated { try await replace(answer.key, changes) }
    }

    func tell(_ told: [LiveRound.Told], to id: LiveQueryID) {
        guard !told.isEmpty, let outbox = clients[id.client]?.outbox, let followed = queries[id] else { return }
        if let end = callers[followed.caller]?.known.session?.end, end <= Date() {
            refuse(id, .sessionIsOver)
            return
        }
        let middle =
            "\",\"clientId\":\"\(String(id.client, radix: 36))\",\"requestId\":\(id.requestID),"
            + "\"position\":\"\(position(round))\",\"object\":"
        for event in told {
            guard outbox.append("{\"op\":\"" + event.kind.rawValue + middle + event.object + "}") else { return }
        }
    }

    /// Ends a query that its client may not have any more.
    func refuse(_ id: LiveQueryID, _ error: ParseError) {
        send(LiveProblem(error, of: id.requestID).text, to: id.client)
        end(id)
    }

    func lose(_ reason: String) {
        for (number, client) in clients where queriesOfClients[number]?.isEmpty == false {
            client.outbox.append(LiveProblem(code: 1, reason, reconnects: true).text)
            forget(number)
        }
        groups = [:]
    }
}
