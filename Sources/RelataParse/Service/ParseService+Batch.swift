import RelataCore
import RelataSQLite

extension ParseService {
    /// Answers a batch: `{"requests": [{"method": "POST", "path": "/parse/classes/Book", "body": {…}}, …]}`.
    ///
    /// Objects are written in one transaction. With `"transaction": true` all of them are, or none; else each stands for
    /// itself. An object that points at another new one of the batch is written after it.
    func batch(_ call: ParseCall) async throws -> WireReply {
        guard call.method == .post else { throw ParseError(.commandUnavailable, "a batch is posted", status: 405) }
        guard let requests = call.body["requests"]?.array else {
            throw ParseError(.invalidJSON, "requests must be an array")
        }
        guard requests.count <= options.maximumBatch else {
            throw ParseError(
                .invalidJSON, "a batch holds \(options.maximumBatch) requests at most, and this has \(requests.count)")
        }
        let isAtomic = call.body["transaction"] == true
        var reader = BatchReader(call, mount: try ParseCall.path(options.mount))
        let routes = requests.map { request -> Result<ObjectRoute, ParseError> in
            do throws(ParseError) { return .success(try reader.route(request)) } catch { return .failure(error) }
        }
        if isAtomic { for route in routes { _ = try route.get() } }
        let options = options
        let writes = routes.compactMap { route -> ObjectWrite? in
            if case .success(.write(let write)) = route { write } else { nil }
        }
        guard !writes.isEmpty else {
            return try await store.read { transaction in
                let writer = BatchWriter(transaction: transaction, options: options)
                var size = 0
                let results = try routes.map { route in
                    let result = Result { try Self.run(try route.get(), writer) }.mapError { ParseError($0) }
                    try Self.count(result, in: &size, options)
                    return result
                }
                return Self.reply(results)
            }
        }
        let order = BatchOrder.places(routes)
        return try await writing(writes, call, isAtomic: isAtomic) { writer in
            var results: [Result<WireReply, ParseError>?] = Array(repeating: nil, count: routes.count)
            var size = 0
            for place in order {
                switch routes[place] {
                case .failure(let error): results[place] = .failure(error)
                case .success(let route) where isAtomic: results[place] = .success(try Self.run(route, writer))
                case .success(let route): results[place] = try writer.alone(route) { try Self.run(route, writer) }
                }
                if let result = results[place] { try Self.count(result, in: &size, options) }
            }
            return Self.reply(results.compactMap(\.self))
        }
    }

    /// - Throws: ``ParseError`` 116 where the replies so far are more than one may be.
    private static func count(
        _ result: Result<WireReply, ParseError>, in size: inout Int, _ options: Options
    ) throws(ParseError) {
        if case .success(let reply) = result { size += reply.body.count }
        guard size <= options.maximumReply else { throw .replyTooLarge(options.maximumReply) }
    }

    private static func run(_ route: ObjectRoute, _ writer: BatchWriter) throws -> WireReply {
        switch route {
        case .read(let read): try read.run(in: writer.transaction, writer.options)
        case .write(let write): try writer.run(write)
        }
    }

    private static func reply(_ results: [Result<WireReply, ParseError>]) -> WireReply {
        var writer = JSONWriter(capacity: results.count * 96)
        writer.append("[")
        for (index, result) in results.enumerated() {
            if index > 0 { writer.append(",") }
            switch result {
            case .success(let reply):
                writer.append("{\"success\":")
                writer.append(json: reply.body)
            case .failure(let error):
                writer.append("{\"error\":")
                writer.append(json: WireReply(error).body)
            }
            writer.append("}")
        }
        writer.append("]")
        return WireReply(body: writer.bytes)
    }
}

/// Reads the requests of a batch.
private struct BatchReader {
    private let batch: ParseCall
    private let mount: [String]
    /// The path that was read last: most of a batch's have the same.
    private var last: (target: Substring, path: [String]) = ("", [])

    init(_ batch: ParseCall, mount: [String]) {
        self.batch = batch
        self.mount = mount
    }

    mutating func route(_ request: JSONValue) throws(ParseError) -> ObjectRoute {
        guard let members = request.object, let name = members["method"]?.string,
            let method = ParseCall.Method(rawValue: name) ?? ParseCall.Method(rawValue: name.uppercased()),
            let target = members["path"]?.string
        else { throw ParseError(.invalidJSON, "a request of a batch needs a method and a path") }
        let end = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        let path = try path(target[..<(end ?? target.endIndex)])
        guard path.first != "batch" else { throw ParseError(.invalidJSON, "a batch can't hold another") }
        let given = members["body"]
        guard given == nil || given?.isNull == true || given?.object != nil else {
            throw ParseError(.invalidJSON, "the body of a request must be an object")
        }
        var body = given?.object ?? [:]
        var parameters: JSONObject = [:]
        if let end { parameters = try ParseCall.parameters(String(target[target.utf8.index(after: end)...])) }
        if method == .get {
            body.merge(parameters)
            parameters = [:]
        }
        return try ObjectRoute(
            ParseCall(method: method, path: path, body: body, parameters: parameters, isMaster: batch.isMaster))
    }

    /// The decoded parts of a path, below the mount.
    private mutating func path(_ target: Substring) throws(ParseError) -> [String] {
        // By their bytes: texts that Swift takes for equal may be different ids.
        if target.utf8.elementsEqual(last.target.utf8) { return last.path }
        var path = try ParseCall.path(String(target))
        if path.starts(with: mount) { path.removeFirst(mount.count) }
        last = (target, path)
        return path
    }
}
