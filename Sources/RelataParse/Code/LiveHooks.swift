import RelataCore

/// The hooks of live queries.
struct LiveHooks: Sendable {
    typealias OfConnections = @Sendable (CloudConnection, CloudCall) async throws -> Void
    typealias OfQueries = @Sendable (inout CloudSubscription, CloudCall) async throws -> Void
    typealias OfEvents = @Sendable (inout CloudEvent, CloudCall) async throws -> Void

    var beforeConnect: [OfConnections] = []
    /// By class.
    var beforeSubscribe: [String: [OfQueries]] = [:]
    /// By class.
    var afterEvent: [String: [OfEvents]] = [:]
}

/// A client that is about to connect for live queries.
public struct CloudConnection: Sendable {
    /// The client's address, or a proxy's; `nil` if it is unknown.
    public let address: String?
    /// The number of connected clients of this process.
    public let clients: Int
    /// The number of their live queries.
    public let queries: Int
}

/// A live query that is about to begin, or to replace another.
public struct CloudSubscription: Sendable {
    /// The class.
    public let className: String
    /// The client's number for the query.
    public let requestID: Int64
    /// The conditions, Parse's `where`.
    public var conditions: JSONObject
    /// The pointers whose objects events show, `*` for those of all; `nil` for none.
    public var include: [String]?
    /// The fields that events show; `nil` for all.
    public var keys: [String]?
    /// The fields that events don't show; `nil` for none.
    public var excludedKeys: [String]?
    /// The fields whose changes are reported; `nil` for all.
    public var watch: [String]?
    /// Whether the objects that meet the conditions are sent first.
    public var wantsObjects: Bool

    /// - Throws: ``ParseError`` for invalid values.
    init(_ message: JSONObject, of query: LiveQuery) throws(ParseError) {
        let call = ParseCall(method: .get, path: [], body: message["query"]?.object ?? [:])
        className = query.className
        requestID = query.requestID
        conditions = call.body["where"]?.object ?? [:]
        include = try call.flag("includeAll") ? ["*"] : call.names("include")
        // `fields` is the older name of `keys`. A text without names asks for none.
        let name = call.body["keys"].map { !$0.isNull } == true ? "keys" : "fields"
        keys = try call.names(name) ?? (call.body[name]?.string == nil ? nil : [])
        excludedKeys = try call.names("excludeKeys")
        watch = try call.names("watch")
        wantsObjects = query.wantsObjects
    }

    /// The client's message with this query.
    func applied(to message: JSONObject) -> JSONObject {
        var query = message["query"]?.object ?? [:]
        func set(_ name: String, _ names: [String]?) {
            query[name] = names.map { names in .array(names.map { .string($0) }) }
        }
        query["where"] = .object(conditions)
        query["includeAll"] = nil
        query["fields"] = nil
        set("include", include)
        set("keys", keys)
        set("excludeKeys", excludedKeys)
        set("watch", watch)
        query["results"] = .bool(wantsObjects)
        var message = message
        message["query"] = .object(query)
        return message
    }
}

/// An event that is about to be sent to a client of a live query.
public struct CloudEvent: Sendable {
    /// The kinds of events.
    public enum Kind: String, Hashable, Sendable {
        /// A new object meets the conditions.
        case create
        /// An object that was there meets the conditions now.
        case enter
        /// A changed object meets the conditions as before.
        case update
        /// The object doesn't meet the conditions any more, or the client may not see it any more.
        case leave
        /// The object was deleted.
        case delete
    }

    /// The kind of the event.
    public let kind: Kind
    /// The class.
    public let className: String
    /// The client's number for the query.
    public let requestID: Int64
    /// The object as the client sees it. A deleted object, and one that the client may not see any more, has only its
    /// class and id.
    ///
    /// Changes are sent, but not stored. The class, the id and the dates stay as they are, and fields that are hidden
    /// from the client, or that the query leaves out, aren't sent.
    public var object: JSONObject
    /// Whether the event is sent.
    public var isSent = true
}

extension CloudCode {
    /// Calls `body` with each client that is about to connect for live queries, once its keys and its session were
    /// checked. An error refuses the connection, as in a function.
    public mutating func beforeConnect(
        _ body: @escaping @Sendable (CloudConnection, CloudCall) async throws -> Void
    ) {
        live.beforeConnect.append(body)
    }

    /// Calls `body` with each live query of a class that is about to begin, to resume after an interruption, or to
    /// replace another. `body` may change the query. Its error refuses the query, as in a function.
    public mutating func beforeSubscribe(
        _ className: String, _ body: @escaping @Sendable (inout CloudSubscription, CloudCall) async throws -> Void
    ) {
        live.beforeSubscribe[className, default: []].append(body)
    }

    /// Calls `body` with each event of a class, for each live query that gets the event. `body` may change the object
    /// that is sent, or keep the event back. If it throws, the client gets the error instead of the event.
    ///
    /// The events of a query wait for each other; other queries don't wait for them. The objects that a client asks for
    /// at the start of a query aren't events.
    public mutating func afterEvent(
        _ className: String, _ body: @escaping @Sendable (inout CloudEvent, CloudCall) async throws -> Void
    ) {
        live.afterEvent[className, default: []].append(body)
    }
}

/// A hook of live queries took too long.
struct SlowHook: Error, CustomStringConvertible {
    let name: String
    let seconds: Double

    var description: String { "\(name) took longer than \(seconds) seconds" }

    /// The error for clients.
    var parseError: ParseError {
        ParseError(.timeout, "the server's code took longer than \(seconds) seconds: try again", status: 503)
    }
}
