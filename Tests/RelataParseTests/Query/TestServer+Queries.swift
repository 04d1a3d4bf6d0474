import RelataParse
import Testing

extension TestServer {
    /// Saves objects of a class, and returns their ids.
    @discardableResult
    func save(_ className: String, _ objects: JSONValue...) async throws -> [String] {
        var ids: [String] = []
        for object in objects { ids.append(try await create(className, object)) }
        return ids
    }

    /// The reply to a query with parameters in JSON.
    func query(
        _ className: String, _ condition: JSONValue = [:], _ options: JSONObject = [:]
    ) async throws -> Reply {
        var body = options
        body["where"] = condition
        body["_method"] = "GET"
        return try await send("POST", "/classes/\(className)", .object(body), isMaster: false)
    }

    /// The objects that a query finds.
    func find(_ className: String, _ condition: JSONValue, _ options: JSONObject = [:]) async throws
        -> [JSONValue]
    {
        let reply = try await query(className, condition, options)
        return try #require(reply["results"]?.array, "\(reply.json)")
    }

    /// A field of the found objects, sorted by that field unless the options contain another order.
    func values(
        of field: String, _ className: String, _ condition: JSONValue = [:], _ options: JSONObject = [:]
    ) async throws -> [JSONValue] {
        var options = options
        if options["order"] == nil { options["order"] = .string(field) }
        return try await find(className, condition, options).map { $0[field] ?? .null }
    }

    /// The names of the found objects, in order.
    func names(
        _ className: String, _ condition: JSONValue = [:], _ options: JSONObject = [:]
    ) async throws -> [String] {
        try await values(of: "name", className, condition, options).map { $0.string ?? "?" }
    }

    /// The error of a query.
    func error(
        _ className: String, _ condition: JSONValue = [:], _ options: JSONObject = [:]
    ) async throws -> (code: Int64, message: String) {
        let reply = try await query(className, condition, options)
        try #require(reply.status >= 400, "\(JSONWriter.text(condition)) \(options): \(reply.json)")
        return (try #require(reply.code), try #require(reply["error"]?.string))
    }

    /// The results of a pipeline.
    func aggregate(_ className: String, _ pipeline: JSONValue) async throws -> [JSONValue] {
        let reply = try await send("POST", "/aggregate/\(className)", ["pipeline": pipeline, "_method": "GET"])
        return try #require(reply["results"]?.array, "\(reply.json)")
    }
}

extension SQLStatements {
    /// The queries that `body` ran, without those for the server's own purposes.
    func queries(_ body: () async throws -> Void) async throws -> [String] {
        removeAll()
        try await body()
        return all.filter { $0.hasPrefix("SELECT") }
    }
}

func date(_ iso: String) -> JSONValue { ["__type": "Date", "iso": .string(iso)] }

func place(_ latitude: Double, _ longitude: Double) -> JSONValue {
    ["__type": "GeoPoint", "latitude": JSONValue(number: latitude), "longitude": JSONValue(number: longitude)]
}

func adding(_ objects: JSONValue...) -> JSONValue { ["__op": "AddRelation", "objects": .array(objects)] }
