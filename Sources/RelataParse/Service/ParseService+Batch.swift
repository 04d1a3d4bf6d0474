import RelataCore
import RelataEngine

extension ParseService {
    /// Answers a batch: `{"requests": [{"method": "POST", "path": "/parse/classes/Book", "body": {…}}, …]}`.
    ///
    /// Objects are written in one transaction. With `"transaction": true`, all of them are written or none; otherwise,
    /// each succeeds or fails by itself. An object that points at another new one of the batch is written after it, and
    /// with `"transaction": true` they may point at each other. ``BatchPlaceholders`` stand for ids that the database
    /// assigns.
    func batch(_ call: ParseCall) async throws -> WireReply {
        guard call.method == .post else { throw ParseError(.commandUnavailable, "a batch needs POST", status: 405) }
        guard let requests = call.body["requests"]?.array else {
            throw ParseError(.invalidJSON, "requests must be an array")
        }
        if let maximum = options.maximumBatch, requests.count > maximum {
            throw ParseError(
                .invalidJSON, "a batch has at most \(maximum) requests, and this one has \(requests.count)")
        }
        let isAtomic = call.body["transaction"] == true
        let expectations = try BatchExpectation.list(call)
        var reader = BatchReader(
            call, mount: try ParseCall.path(options.mount), prohibited: options.prohibitedNames,
            hasPush: options.code.sendPush != nil)
        let given = requests.map { request -> Result<ObjectRoute, ParseError> in
            do throws(ParseError) {
                let route = try reader.route(request)
                try checkIsFoundInBatches(route)
                return .success(route)
            } catch {
                return .failure(error)
            }
        }
        if isAtomic { for route in given { _ = try route.get() } }
        if call.caller.isReadOnly, given.contains(where: \.isWrite) {
            throw ParseError.readOnlyMasterKey("a batch that writes")
        }
        let placeholders = try BatchPlaceholders(requests, given, isAtomic: isAtomic)
        let options = options
        let reply = try await asking(given, call, isAtomic: isAtomic) { transaction in
            for expectation in expectations { try expectation.check(in: transaction) }
            if isAtomic { try transaction.checkMayBeDone(given, options) }
        } body: { routes, asked in
            try await batch(routes, placeholders, asked, expectations, call, isAtomic: isAtomic)
        }
        return reply.isRepeated ? try await completed(reply, given, call.caller) : reply
    }

    /// Answers a batch whose requests are read.
    private func batch(
        _ routes: [Result<ObjectRoute, ParseError>], _ placeholders: BatchPlaceholders, _ asked: AskedWrites,
        _ expectations: [BatchExpectation], _ call: ParseCall, isAtomic: Bool
    ) async throws -> WireReply {
        let options = options
        let writes = routes.compactMap { route -> ObjectWrite? in
            if case .success(.write(let write)) = route { write } else { nil }
        }
        guard !writes.isEmpty else {
            return try await store.read(as: call.caller) { transaction in
                for expectation in expectations { try expectation.check(in: transaction) }
                let writer = BatchWriter(transaction: transaction, options: options)
                var replies = BatchReplies(routes.count, limit: options.maximumReply)
                for (place, route) in routes.enumerated() {
                    try replies.append(at: place) { json in
                        do {
                            _ = try writer.run(try route.get(), into: &json)
                            return nil
                        } catch {
                            return ParseError(error)
                        }
                    }
                }
                var reply = replies.reply
                reply.isOfRead = true
                return reply
            }
        }
        let (order, hasCircle) = BatchOrder.places(routes, named: placeholders.places)
        // An object gets its id when it is written: objects with placeholders are written one after another.
        let runs =
            placeholders.isEmpty
            ? BatchOrder.runs(order, of: routes) : order.map { BatchOrder.Run(places: [$0]) }
        let named = Set(placeholders.places.keys)
        return try await writing(writes, call, asked, isAtomic: isAtomic, named: named) { writer in
            var placeholders = placeholders
            for expectation in expectations { try expectation.check(in: writer.transaction) }
            var replies = BatchReplies(routes.count, limit: options.maximumReply)
            // Objects in a cycle exist once all of them are written.
            let wait = isAtomic && hasCircle ? try ForeignKeyWait(on: writer.transaction.connection) : nil
            for run in runs {
                let ids = try writer.createTogether(run)
                for (number, place) in run.places.enumerated() {
                    try replies.append(at: place) { json in
                        if let ids {
                            writer.tell(ids[number], into: &json)
                            return nil
                        }
                        switch routes[place] {
                        case .failure(let error): return error
                        case .success(let route) where isAtomic:
                            let id = try writer.run(try placeholders.replacing(in: route), into: &json)
                            if let id { placeholders.note(id, at: place) }
                        case .success(let route): return try writer.alone(route, into: &json)
                        }
                        return nil
                    }
                }
            }
            if let wait, try wait.findDangling() {
                for route in routes { try writer.transaction.checkTargets(BatchOrder.targets(of: route), named) }
                throw ParseError(.objectNotFound, "a pointer of the batch leads to no object", status: 400)
            }
            var reply = replies.reply
            if call.requestID != nil, writes.count < routes.count {
                reply.kept = replies.reply { !routes[$0].isRead }.body
            }
            return reply
        }
    }

    /// - Throws: ``ParseError`` 119 for a request that the app's code has a say in: it isn't asked within a transaction.
    private func checkIsFoundInBatches(_ route: ObjectRoute) throws(ParseError) {
        if options.code.finds.isEmpty { return }
        guard case .read(let read) = route else { return }
        try read.checkIsFoundAlone(in: store.currentClasses) { options.code.finds[$0] != nil }
    }

    /// A stored reply. Its reads are repeated.
    private func completed(
        _ kept: WireReply, _ routes: [Result<ObjectRoute, ParseError>], _ caller: Caller
    ) async throws -> WireReply {
        guard routes.contains(where: \.isRead), let parts = try JSONParser.parse(kept.body).array,
            parts.count == routes.count
        else { return kept }
        let options = options
        return try await store.read(as: caller) { transaction in
            let writer = BatchWriter(transaction: transaction, options: options)
            var replies = BatchReplies(routes.count, limit: options.maximumReply)
            for (place, route) in routes.enumerated() {
                guard route.isRead else {
                    try replies.append(parts[place], at: place)
                    continue
                }
                try replies.append(at: place) { json in
                    do {
                        _ = try writer.run(try route.get(), into: &json)
                        return nil
                    } catch {
                        return ParseError(error)
                    }
                }
            }
            return replies.reply
        }
    }
}

extension Result<ObjectRoute, ParseError> {
    /// Whether it only reads.
    fileprivate var isRead: Bool { if case .success(.read) = self { true } else { false } }
    /// Whether it writes an object.
    fileprivate var isWrite: Bool { if case .success(.write) = self { true } else { false } }
}

extension ParseTransaction {
    /// Makes the checks of an atomic batch that webhooks can't affect: if it is refused anyway, no webhook is called.
    ///
    /// - Throws: ``ParseError`` for an object that the class doesn't allow the caller, for one of a class that isn't made,
    ///   for too many new classes, and for a read that webhooks have a say in.
    fileprivate func checkMayBeDone(
        _ routes: [Result<ObjectRoute, ParseError>], _ options: ParseService.Options
    ) throws {
        var made: Set<String> = []
        for route in routes {
            switch try route.get() {
            case .read(let read):
                try read.checkIsFoundAlone(in: storedClasses) { options.asksHooks(toFind: $0, in: storedClasses) }
            case .write(.create(let name, let body)): if try classForNew(name, body) == nil { made.insert(name) }
            case .write(.update(let name, _, _)):
                if let parseClass = try writable(name) { try check(.update, on: parseClass) }
            case .write(.delete(let name, _)):
                if let parseClass = try writable(name) { try check(.delete, on: parseClass) }
            }
        }
        try ParseService.checkCount(ofNew: made)
    }
}

/// The replies to the requests of a batch.
private struct BatchReplies {
    /// In the order in which they were written.
    private var json: JSONWriter
    /// Their positions in the order of the requests.
    private var ranges: [Range<Int>]
    private let limit: Int

    init(_ count: Int, limit: Int) {
        json = JSONWriter(capacity: count * 96)
        ranges = Array(repeating: 0..<0, count: count)
        self.limit = limit
    }

    /// Writes the reply to one request: the output of `body`, or its error.
    ///
    /// - Throws: what `body` throws; ``ParseError`` 116 if the replies exceed the limit.
    mutating func append(at place: Int, _ body: (inout JSONWriter) throws -> ParseError?) throws {
        let start = json.bytes.count
        json.append("{\"success\":")
        if let error = try body(&json) {
            json.removeAll(after: start)
            json.append("{\"error\":")
            json.append(json: WireReply(error).body)
        }
        json.append("}")
        try end(place, start)
    }

    /// Appends the earlier reply to a repeated request.
    mutating func append(_ reply: JSONValue, at place: Int) throws {
        let start = json.bytes.count
        json.write(reply)
        try end(place, start)
    }

    private mutating func end(_ place: Int, _ start: Int) throws {
        ranges[place] = start..<json.bytes.count
        guard json.bytes.count <= limit else { throw ParseError.replyTooLarge(limit) }
    }

    /// The reply to the batch.
    var reply: WireReply { reply { _ in true } }

    /// The reply to the batch, with `null` in the places of some requests.
    func reply(_ isTold: (Int) -> Bool) -> WireReply {
        var reply = JSONWriter(capacity: json.bytes.count + ranges.count + 2)
        reply.append("[")
        json.bytes.withUnsafeBufferPointer { bytes in
            for (place, range) in ranges.enumerated() {
                if place > 0 { reply.append(",") }
                if isTold(place) {
                    reply.append(json: UnsafeBufferPointer(rebasing: bytes[range]))
                } else {
                    reply.append("null")
                }
            }
        }
        reply.append("]")
        return WireReply(body: reply.bytes)
    }
}

/// Reads the requests of a batch.
private struct BatchReader {
    private let batch: ParseCall
    private let mount: [String]
    private let prohibited: ProhibitedNames
    private let hasPush: Bool
    /// The last object that was written.
    private var written: ObjectBody?
    /// The last path without parameters that new objects were posted to, and their class.
    private var created: (target: String, className: String)?

    init(_ batch: ParseCall, mount: [String], prohibited: ProhibitedNames, hasPush: Bool) {
        self.batch = batch
        self.prohibited = prohibited
        self.hasPush = hasPush
        self.mount = mount
    }

    mutating func route(_ request: JSONValue) throws(ParseError) -> ObjectRoute {
        guard let members = request.object, let name = members["method"]?.string,
            let method = ParseCall.Method(rawValue: name) ?? ParseCall.Method(rawValue: name.uppercased()),
            let target = members["path"]?.string
        else { throw ParseError(.invalidJSON, "a request of a batch needs a method and a path") }
        // Most of a batch are new objects of one class. By their bytes: texts that Swift takes for equal may name
        // others.
        if let created, method == .post, target.hasSameBytes(as: created.target),
            case .object(let body) = members["body"]
        {
            try prohibited.check(body)
            let object = try ObjectBody(body, after: written)
            written = object
            return .write(.create(created.className, object))
        }
        var call = ParseCall(method: method, path: try path(target), body: [:], caller: batch.caller)
        switch members["body"] {
        case nil, .null: break
        case .object(let body): call.body = body
        default: throw ParseError(.invalidJSON, "the body of a request must be an object")
        }
        let end = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        if let end {
            let parameters = try ParseCall.parameters(String(target[target.utf8.index(after: end)...]))
            if method == .get { call.body.merge(parameters) } else { call.parameters = parameters }
        }
        let route = try ObjectRoute(call, after: written, prohibited: prohibited)
        if case .write(let write) = route, let body = write.body?.body { written = body }
        if case .write(.create(let name, _)) = route, end == nil { created = (target, name) }
        return route
    }

    /// The decoded parts of a path, below the mount.
    private func path(_ target: String) throws(ParseError) -> [String] {
        let path = try ParseCall.path(inBatch: target, below: mount)
        guard path.first != "batch" else { throw ParseError(.invalidJSON, "a batch can't contain another") }
        guard path.first == "classes" || DisabledFeature.error(for: path, hasPush: hasPush) != nil else {
            throw ParseError(
                .commandUnavailable,
                "a batch is for objects, at /classes, and not for /\((path.first ?? "").prefix(64)): send that by itself"
            )
        }
        return path
    }
}
