import RelataCore
import RelataRecords

/// The store as a caller's requests see it: permissions of classes and access lists apply, hooks are called, and
/// missing classes may be created.
///
/// Each call is one transaction. For several operations in one, send a batch (``send(_:_:_:)``), or use ``records``.
public struct CloudStore: Sendable {
    let service: ParseService
    let caller: Caller

    /// The store without a caller: everything can be read and written, several objects in one transaction. Hooks aren't
    /// called.
    public var records: RecordStore { service.store.records }

    /// The store with the rights of another caller: class permissions, access lists, protected fields and hooks apply,
    /// as they do to a request of that user.
    ///
    /// Each call looks up who that is, so it is refused once the user or the role is gone (101). A role only reads (119).
    public func acting(as subject: AccessSubject) -> CloudStore {
        CloudStore(service: service, caller: Caller(subject: subject))
    }

    /// The objects of a class that meet conditions.
    ///
    /// - Parameters:
    ///   - condition: Parse's `where`.
    ///   - order: The fields to sort by, separated by commas, with a `-` for descending.
    ///   - limit: The maximum number of objects; by default the same as for clients.
    ///   - skip: The number of objects to skip at the beginning.
    ///   - include: The pointers whose objects are included.
    ///   - keys: The fields in the reply; `nil` for all.
    /// - Throws: ``ParseError``, as a client would get it.
    public func find(
        _ className: String, where condition: JSONObject = [:], order: String? = nil, limit: Int? = nil,
        skip: Int? = nil, include: [String] = [], keys: [String]? = nil
    ) async throws -> [JSONObject] {
        var parameters: JSONObject = [:]
        if !condition.isEmpty { parameters["where"] = .object(condition) }
        parameters["order"] = order.map { .string($0) }
        parameters["limit"] = limit.map { .integer(Int64($0)) }
        parameters["skip"] = skip.map { .integer(Int64($0)) }
        if !include.isEmpty { parameters["include"] = .array(include.map { .string($0) }) }
        parameters["keys"] = keys.map { .array($0.map { .string($0) }) }
        let reply = try await send(.get, ["classes", className], parameters)
        return reply["results"]?.array?.compactMap(\.object) ?? []
    }

    /// The number of objects of a class that meet conditions.
    ///
    /// - Throws: ``ParseError``, as a client would get it.
    public func count(_ className: String, where condition: JSONObject = [:]) async throws -> Int {
        var parameters: JSONObject = ["count": 1, "limit": 0]
        if !condition.isEmpty { parameters["where"] = .object(condition) }
        return Int(try await send(.get, ["classes", className], parameters)["count"]?.integer ?? 0)
    }

    /// An object.
    ///
    /// - Throws: ``ParseError`` 101 if the caller sees no such object.
    public func get(_ className: String, _ id: String, include: [String] = []) async throws -> JSONObject {
        let parameters: JSONObject = include.isEmpty ? [:] : ["include": .array(include.map { .string($0) })]
        return try await send(.get, ["classes", className, id], parameters).object ?? [:]
    }

    /// Creates an object.
    ///
    /// - Returns: The object's id.
    /// - Throws: ``ParseError``, as a client would get it.
    @discardableResult
    public func create(_ className: String, _ fields: JSONObject) async throws -> String {
        try await send(.post, ["classes", className], fields)["objectId"]?.string ?? ""
    }

    /// Changes an object with values and operations, as clients send them.
    ///
    /// - Returns: The new values that the caller can't know, such as the sum after an increment.
    /// - Throws: ``ParseError``, as a client would get it; 101 if the caller sees no such object.
    @discardableResult
    public func update(_ className: String, _ id: String, _ fields: JSONObject) async throws -> JSONObject {
        try await send(.put, ["classes", className, id], fields).object ?? [:]
    }

    /// Deletes an object. The delete rules apply.
    ///
    /// - Throws: ``ParseError``, as a client would get it; 101 if the caller sees no such object.
    public func delete(_ className: String, _ id: String) async throws {
        _ = try await send(.delete, ["classes", className, id], [:])
    }

    /// The parameters of `/config` that the caller may read.
    ///
    /// - Throws: ``ParseError``, as a client would get it.
    public func config() async throws -> JSONObject {
        try await send(.get, ["config"], [:])["params"]?.object ?? [:]
    }

    /// Sends any request of the protocol: `send("POST", "/batch", ["transaction": true, "requests": [...]])`.
    ///
    /// - Returns: The reply.
    /// - Throws: ``ParseError``, as a client would get it.
    @discardableResult
    public func send(_ method: String, _ path: String, _ body: JSONObject = [:]) async throws -> JSONValue {
        guard let method = ParseCall.Method(rawValue: method) else {
            throw ParseError(.commandUnavailable, "there is no method \(method.prefix(32)) here", status: 405)
        }
        let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
        let parameters = try ParseCall.parameters(parts.count > 1 ? parts[1] : "")
        return try await send(method, try ParseCall.path(parts.first ?? ""), body, parameters)
    }

    private func send(
        _ method: ParseCall.Method, _ path: [String], _ body: JSONObject, _ parameters: JSONObject = [:]
    ) async throws -> JSONValue {
        var call = ParseCall(method: method, path: path, body: body, caller: caller)
        if case .role? = caller.subject, call.mayChange {
            throw ParseError.roleOnlyReads
        }
        if method == .get { call.body.merge(parameters) } else { call.parameters = parameters }
        try ParseService.checkPath(
            path, hasUsers: service.hasUsers, hasFiles: service.hasFiles, code: service.options.code)
        do {
            return try JSONParser.parse(try await service.answer(call).body)
        } catch {
            if error is CodeFailure || error is CancellationError { throw error }
            let parseError = ParseError(error)
            // The app's code gets the same error as a client; the log has the details.
            if parseError.status >= 500 { service.options.code.report?(error) }
            throw parseError
        }
    }
}
