import RelataCore

/// A request for objects of a class, before it is answered.
public struct CloudFind: Sendable {
    /// The class.
    public let className: String
    /// The id of the requested object; `nil` for a query.
    public let objectID: String?
    /// The conditions, Parse's `where`. Conditions that a hook adds also limit a request for one object.
    public var conditions: JSONObject
    /// The fields that the objects are ordered by, with a `-` for descending; `nil` for no order.
    public var order: [String]?
    /// The maximum number of objects; `nil` for the server's default.
    public var limit: Int?
    /// The number of objects to skip; `nil` for none.
    public var skip: Int?
    /// The pointers whose objects are included, `*` for all; `nil` for none.
    public var include: [String]?
    /// The fields in the reply; `nil` for all.
    public var keys: [String]?
    /// The fields that aren't shown; `nil` for none.
    public var excludedKeys: [String]?

    /// Reads the parameters of a request.
    ///
    /// - Throws: ``ParseError`` for invalid values.
    init(_ className: String, _ objectID: String?, _ call: ParseCall) throws(ParseError) {
        self.className = className
        self.objectID = objectID
        let condition = try call.json("where") ?? [:]
        guard let conditions = condition.object else {
            throw ParseError(.invalidQuery, "where must be a JSON object")
        }
        self.conditions = conditions
        order = try call.names("order")
        limit = try call.count("limit")
        skip = try call.count("skip")
        include = try call.flag("includeAll") ? ["*"] : call.names("include")
        // A text without names asks for none.
        keys = try call.names("keys") ?? (call.body["keys"]?.string == nil ? nil : [])
        excludedKeys = try call.names("excludeKeys")
    }

    /// The request with these parameters.
    func applied(to call: ParseCall) -> ParseCall {
        var call = call
        func set(_ name: String, _ names: [String]?) {
            call.body[name] = names.map { names in .array(names.map { .string($0) }) }
        }
        call.body["includeAll"] = nil
        set("include", include)
        set("keys", keys)
        set("excludeKeys", excludedKeys)
        guard objectID == nil else { return call }
        if !conditions.isEmpty || call.body["where"] != nil { call.body["where"] = .object(conditions) }
        set("order", order)
        call.body["limit"] = limit.map { .integer(Int64($0)) }
        call.body["skip"] = skip.map { .integer(Int64($0)) }
        return call
    }
}

extension CloudCode {
    /// The hooks of requests that find objects of a class.
    struct FindHooks: Sendable {
        var before: [@Sendable (inout CloudFind, CloudCall) async throws -> Void] = []
        var after: [@Sendable ([JSONObject], CloudCall) async throws -> [JSONObject]] = []
    }

    /// Calls `body` with each request of a client, or of the app's code, for objects of a class: queries, and requests
    /// for one object. `body` may change the request. Its error refuses the request, as in a function.
    ///
    /// It isn't called for objects that `include` adds, or that conditions on other classes use.
    public mutating func beforeFind(
        _ className: String, _ body: @escaping @Sendable (inout CloudFind, CloudCall) async throws -> Void
    ) {
        finds[className, default: FindHooks()].before.append(body)
    }

    /// Calls `body` with the objects that such a request found, and replies with those that it returns. If a request
    /// for one object returns none, the reply is that the object doesn't exist.
    public mutating func afterFind(
        _ className: String, _ body: @escaping @Sendable ([JSONObject], CloudCall) async throws -> [JSONObject]
    ) {
        finds[className, default: FindHooks()].after.append(body)
    }
}

extension ParseService {
    /// Answers a request for objects of a class, and calls the app's hooks.
    ///
    /// - Parameters:
    ///   - id: The id of the requested object; `nil` for a query.
    ///   - body: Answers the changed request. The second argument contains the conditions for a single object.
    func finding(
        _ className: String, _ id: String?, _ call: ParseCall,
        _ body: (ParseCall, JSONObject) async throws -> WireReply
    ) async throws -> WireReply {
        try await Self.retrying(HooksChanged.self, "the webhooks are being changed") {
            let target = try await found(className, call)
            var call = call
            call.hookedClass = target
            // Another process may have removed a webhook, which mustn't be asked any more.
            if options.webhooks != nil, store.currentClasses.webhooks.concernFinding(target) {
                _ = try await currentWebhooks()
            }
            let (before, after) = (webhook(.beforeFind, target), webhook(.afterFind, target))
            let reply = try await finding(className, target, id, call, before, after, body)
            // The reading may have shown that another process has changed a webhook.
            guard webhook(.beforeFind, target) == before, webhook(.afterFind, target) == after else {
                throw HooksChanged()
            }
            return reply
        }
    }

    private func finding(
        _ className: String, _ target: String, _ id: String?, _ call: ParseCall, _ before: Webhook?, _ after: Webhook?,
        _ body: (ParseCall, JSONObject) async throws -> WireReply
    ) async throws -> WireReply {
        let known = options.code.finds[target]
        guard known != nil || before != nil || after != nil else { return try await body(call, [:]) }
        let hooks = known ?? CloudCode.FindHooks()
        let cloud = try await cloudCall(className, call)
        var find = try CloudFind(target, id, call)
        try await CodeFailure.catching { for hook in hooks.before { try await hook(&find, cloud) } }
        if let before { try await ask(before, &find, call, cloud) }
        var reply = try await body(find.applied(to: call), id == nil ? [:] : find.conditions)
        guard !hooks.after.isEmpty || after != nil, try !QueryAdvice(call).isExplained,
            var json = try JSONParser.parse(reply.body).object
        else { return reply }
        var objects = id == nil ? json["results"]?.array?.compactMap(\.object) ?? [] : [json]
        try await CodeFailure.catching { for hook in hooks.after { objects = try await hook(objects, cloud) } }
        if let after { objects = try await ask(after, objects, of: target, call, cloud) }
        if id == nil {
            json["results"] = .array(objects.map { .object($0) })
        } else {
            guard let object = objects.first else { throw ParseError(.objectNotFound, "Object not found.") }
            json = object
        }
        var writer = JSONWriter()
        writer.write(.object(json))
        reply.body = writer.bytes
        return reply
    }

    /// The class whose objects are found: a query may ask for those that a field leads to.
    private func found(_ className: String, _ call: ParseCall) async throws -> String {
        guard !options.code.finds.isEmpty || options.webhooks != nil,
            let key = call.body["redirectClassNameForKey"]?.string
        else {
            return className
        }
        // Another server may have made the field just now.
        let classes = try await store.read(as: .master) { $0.storedClasses }
        return classes.target(of: key, in: className) ?? className
    }
}
