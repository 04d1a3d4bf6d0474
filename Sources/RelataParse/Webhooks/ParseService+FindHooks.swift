import RelataCore

extension ParseService {
    /// Asks a webhook about a query. The reply may change members of the query.
    func ask(_ hook: Webhook, _ find: inout CloudFind, _ call: ParseCall, _ cloud: CloudCall) async throws {
        var members: JSONObject = [
            "className": .string(find.className), "query": find.json, "isGet": .bool(find.objectID != nil),
        ]
        members["objectId"] = find.objectID.map { .string($0) }
        members.merge(senderMembers(call, cloud))
        guard let query = try await ask(hook, members).object else { return }
        do throws(ParseError) {
            try find.take(query)
        } catch {
            throw invalidReply(of: hook, "the query in its reply is invalid: \(error.message)")
        }
    }

    /// Sends the objects that a query found to a webhook.
    ///
    /// - Returns: The objects in its reply.
    func ask(
        _ hook: Webhook, _ objects: [JSONObject], of className: String, _ call: ParseCall, _ cloud: CloudCall
    ) async throws -> [JSONObject] {
        var members: JSONObject = [
            "className": .string(className),
            "objects": .array(
                objects.map { object in
                    var object = object
                    object["className"] = .string(className)
                    return .object(object)
                }),
        ]
        members.merge(senderMembers(call, cloud))
        let success = try await ask(hook, members)
        guard let given = success.array else {
            if success.object == nil { return objects }
            throw invalidReply(of: hook, "its reply isn't an array of objects")
        }
        // The reply to a query contains no class, and gets the URLs of files later.
        var reader = FileURLReader(nil)
        return given.compactMap(\.object).map { object in
            reader.read(object.filter { $0.key != "className" })
        }
    }
}

extension CloudFind {
    /// The query in the form for webhooks.
    fileprivate var json: JSONValue {
        var json: JSONObject = ["className": .string(className), "where": .object(conditions)]
        json["limit"] = limit.map { .integer(Int64($0)) }
        json["skip"] = skip.map { .integer(Int64($0)) }
        for (name, names) in [("order", order), ("include", include), ("keys", keys), ("excludeKeys", excludedKeys)] {
            json[name] = names.map { .string($0.joined(separator: ",")) }
        }
        return .object(json)
    }

    /// Applies a webhook's changes to the query.
    fileprivate mutating func take(_ query: JSONObject) throws(ParseError) {
        var given = ParseCall(method: .get, path: [], body: query)
        given.body = query.filter {
            ["where", "limit", "skip", "order", "include", "keys", "excludeKeys"].contains($0.key)
        }
        let read = try CloudFind(className, objectID, given)
        if given.body["where"] != nil { conditions = read.conditions }
        if let new = read.order { order = new }
        if let new = read.limit { limit = new }
        if let new = read.skip { skip = new }
        if let new = read.include { include = new }
        if let new = read.keys { keys = new }
        if let new = read.excludedKeys { excludedKeys = new }
    }
}
