import RelataCore

/// What a client says over the socket of live queries, in Parse's own protocol.
enum LiveRequest: Sendable {
    /// Says who it is; comes first.
    case connect(headers: [String: String])
    /// Begins a live query, or, where there is one by that number, replaces it.
    case subscribe(LiveQuery, isUpdate: Bool)
    case unsubscribe(requestID: Int64)

    private static let keyFields = [
        "applicationId": "x-parse-application-id", "clientKey": "x-parse-client-key",
        "javascriptKey": "x-parse-javascript-key", "restAPIKey": "x-parse-rest-api-key",
        "windowsKey": "x-parse-windows-key", "masterKey": "x-parse-master-key",
        "maintenanceKey": "x-parse-maintenance-key",
        "sessionToken": "x-parse-session-token", "installationId": "x-parse-installation-id",
    ]

    /// Reads a message.
    ///
    /// - Throws: ``LiveProblem`` for what is none.
    init(_ text: String) throws(LiveProblem) {
        let json: JSONValue
        do {
            json = try JSONParser.parse(text)
        } catch {
            throw LiveProblem(code: 1, "the message is no JSON: \(error.message)")
        }
        guard let message = json.object else { throw LiveProblem(code: 1, "a message must be a JSON object") }
        switch message["op"]?.string {
        case "connect":
            var headers: [String: String] = [:]
            for (field, header) in Self.keyFields {
                guard let value = message[field], !value.isNull else { continue }
                guard let text = value.string else { throw LiveProblem(code: 1, "\(field) must be a text") }
                if !text.isEmpty { headers[header] = text }
            }
            self = .connect(headers: headers)
        case "subscribe": self = .subscribe(try LiveQuery(message), isUpdate: false)
        case "update": self = .subscribe(try LiveQuery(message), isUpdate: true)
        case "unsubscribe": self = .unsubscribe(requestID: try Self.requestID(message))
        default: throw LiveProblem(code: 3, "Get unknown operation")
        }
    }

    fileprivate static func requestID(_ message: JSONObject) throws(LiveProblem) -> Int64 {
        guard let number = message["requestId"]?.integer else {
            throw LiveProblem(code: 1, "requestId must be a whole number")
        }
        return number
    }
}

/// A live query as a client asks for it.
struct LiveQuery: Hashable, Sendable {
    /// The number by which the client knows it.
    let requestID: Int64
    let className: String
    /// The conditions, as JSON with its members in order: equal conditions are one text.
    let condition: String
    /// What events show of the objects.
    let selection: Selection
    /// The fields of which an update must have written one; `nil` for any.
    let watch: Set<String>?
    /// The session of the query, where it has one of its own.
    let sessionToken: String?
    /// Whether the objects that meet the conditions are sent first.
    private(set) var wantsObjects: Bool
    /// The last position that the client has seen; `nil` where it begins.
    private(set) var after: String?

    fileprivate init(_ message: JSONObject) throws(LiveProblem) {
        requestID = try LiveRequest.requestID(message)
        do throws(ParseError) {
            guard let query = message["query"]?.object, let name = query["className"]?.string else {
                throw ParseError(.invalidQuery, "a live query needs a query with a className")
            }
            className = name
            for (name, advice) in Self.refused where query[name].map({ !$0.isNull }) == true {
                throw ParseError(.invalidQuery, "a live query can't have \(name): \(advice)")
            }
            let where_ = query["where"] ?? [:]
            guard where_.object != nil else { throw ParseError(.invalidQuery, "where must be a JSON object") }
            guard !where_.names("$relativeTime") else {
                throw ParseError(
                    .invalidQuery,
                    "a live query can't have $relativeTime: nothing tells when time alone changes the answer")
            }
            condition = JSONWriter.canonicalText(where_)
            var body = query
            // The older name.
            if query["keys"]?.isNull != false { body["keys"] = query["fields"] }
            let call = ParseCall(method: .get, path: [], body: body)
            selection = try Selection(call)
            guard !selection.showsScore else {
                throw ParseError(.invalidQuery, "a live query can't show $score")
            }
            watch = try call.names("watch").map { Set($0) }
            wantsObjects = try call.flag("results")
        } catch {
            throw LiveProblem(error, of: requestID)
        }
        sessionToken = message["sessionToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        after = message["after"]?.string
    }

    /// The same query without what it begins with.
    var following: LiveQuery {
        var query = self
        (query.wantsObjects, query.after) = (false, nil)
        return query
    }

    /// What a query has that isn't followed.
    private static let refused = [
        ("limit", "each object that meets the conditions is told of"), ("skip", "each object is told of"),
        ("count", "count the objects that were told"), ("order", "sort the objects that were told"),
        ("redirectClassNameForKey", "name the class itself"), ("predicate", "write the conditions as where"),
    ]
}

/// What a client is told that a message can't be followed.
struct LiveProblem: Error {
    let code: Int
    let message: String
    /// Whether it may help to connect again.
    let reconnects: Bool
    /// The query that it is about; `nil` for the whole connection.
    let requestID: Int64?

    init(code: Int, _ message: String, reconnects: Bool = false, of requestID: Int64? = nil) {
        (self.code, self.message, self.reconnects, self.requestID) = (code, message, reconnects, requestID)
    }

    init(_ error: ParseError, of requestID: Int64?) {
        self.init(code: error.code.rawValue, error.message, of: requestID)
    }

    /// The message: `{"op":"error","code":2,"error":"…","reconnect":false}`.
    var text: String {
        var json: JSONObject = [
            "op": "error", "code": .integer(Int64(code)), "error": .string(message), "reconnect": .bool(reconnects),
        ]
        if let requestID { json["requestId"] = .integer(requestID) }
        return JSONWriter.text(.object(json))
    }
}

extension JSONValue {
    /// Whether a member of that name stands anywhere in it.
    fileprivate func names(_ name: String) -> Bool {
        switch self {
        case .object(let members): members.contains { $0.key == name || $0.value.names(name) }
        case .array(let elements): elements.contains { $0.names(name) }
        default: false
        }
    }
}
