import RelataCore

/// A client's message, in Parse's protocol of live queries.
enum LiveRequest: Sendable {
    /// Identifies the client. Must be the first message.
    case connect(headers: [String: String])
    /// Begins a live query. An update replaces the query with the same number.
    ///
    /// - Parameter message: The message itself, which hooks may change.
    case subscribe(LiveQuery, message: JSONObject, isUpdate: Bool)
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
    /// - Throws: ``LiveProblem`` for an invalid message.
    init(_ text: String) throws(LiveProblem) {
        let json: JSONValue
        do {
            json = try JSONParser.parse(text)
        } catch {
            throw LiveProblem(code: 1, "the message isn't JSON: \(error.message)")
        }
        guard let message = json.object else { throw LiveProblem(code: 1, "a message must be a JSON object") }
        switch message["op"]?.string {
        case "connect":
            var headers: [String: String] = [:]
            for (field, header) in Self.keyFields {
                if let text = try Self.text(field, message), !text.isEmpty { headers[header] = text }
            }
            self = .connect(headers: headers)
        case "subscribe": self = .subscribe(try LiveQuery(message), message: message, isUpdate: false)
        case "update": self = .subscribe(try LiveQuery(message), message: message, isUpdate: true)
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

    /// A member of a message that is a text; `nil` without it.
    fileprivate static func text(
        _ name: String, _ message: JSONObject, of requestID: Int64? = nil
    ) throws(LiveProblem) -> String? {
        guard let value = message[name], !value.isNull else { return nil }
        guard let text = value.string else { throw LiveProblem(code: 1, "\(name) must be text", of: requestID) }
        return text
    }
}

/// A live query as a client asks for it.
struct LiveQuery: Hashable, Sendable {
    /// The client's number for the query.
    let requestID: Int64
    let className: String
    /// The conditions as JSON with sorted members, so that equal conditions have equal texts.
    let condition: String
    /// The fields that events show.
    let selection: Selection
    /// The watched fields: an update is sent if it wrote one of them. `nil` for any field.
    let watch: Set<String>?
    /// The session of the query, if it differs from the client's.
    let sessionToken: String?
    /// Whether the matching objects are sent first.
    private(set) var wantsObjects: Bool
    /// The last position that the client received; `nil` if it doesn't resume.
    private(set) var after: String?

    /// Reads a client's message.
    ///
    /// - Throws: ``LiveProblem`` for an invalid query.
    init(_ message: JSONObject) throws(LiveProblem) {
        requestID = try LiveRequest.requestID(message)
        do throws(ParseError) {
            guard let query = message["query"]?.object, let name = query["className"]?.string else {
                throw ParseError(.invalidQuery, "a live query needs a query with a className")
            }
            className = name
            for (name, advice) in Self.refused where query[name].map({ !$0.isNull }) == true {
                throw ParseError(.invalidQuery, "a live query can't have \(name): \(advice)")
            }
            if let stray = message["results"], !stray.isNull {
                throw ParseError(.invalidQuery, "results belongs in the query")
            }
            let where_ = query["where"] ?? [:]
            guard where_.object != nil else { throw ParseError(.invalidQuery, "where must be a JSON object") }
            guard !where_.names("$relativeTime") else {
                throw ParseError(
                    .invalidQuery,
                    "a live query can't have $relativeTime: the server doesn't notice when the result changes only because time passes"
                )
            }
            condition = JSONWriter.canonicalText(where_)
            var body = query.filter { !$0.value.isNull }
            // `fields` is the older name of `keys`.
            if let fields = body.removeValue(forKey: "fields") {
                // A client may say it in both ways, for older and newer servers.
                guard body["keys"].map({ $0 == fields }) ?? true else {
                    throw ParseError(.invalidQuery, "keys and fields mean the same, but their values differ: send one")
                }
                body["keys"] = fields
            }
            let call = ParseCall(method: .get, path: [], body: body)
            try call.check(parameters: Self.parameters)
            selection = try Selection(call)
            guard !selection.showsScore else {
                throw ParseError(.invalidQuery, "a live query can't show $score")
            }
            watch = try call.names("watch").map { Set($0) }
            wantsObjects = try call.flag("results")
        } catch {
            throw LiveProblem(error, of: requestID)
        }
        let token = try LiveRequest.text("sessionToken", message, of: requestID)
        sessionToken = token?.isEmpty == true ? nil : token
        after = try LiveRequest.text("after", message, of: requestID)
    }

    /// The query without the options for its start.
    var following: LiveQuery {
        var query = self
        (query.wantsObjects, query.after) = (false, nil)
        return query
    }

    /// The members that a query may have. Each read is of the main database, whatever a client prefers.
    private static let parameters =
        [
            "className", "where", "watch", "results", "comment", "readPreference", "includeReadPreference",
            "subqueryReadPreference",
        ] + Selection.parameters

    /// The options of queries that live queries don't support.
    private static let refused = [
        ("limit", "every object that meets the conditions is reported"), ("skip", "every object is reported"),
        ("count", "count the reported objects"), ("order", "sort the reported objects"),
        ("redirectClassNameForKey", "name the class itself"), ("predicate", "write the conditions as where"),
        ("search", "write it as $text"),
        ("after", "it belongs beside the query"),
    ]
}

/// An error message to a client.
struct LiveProblem: Error {
    let code: Int
    let message: String
    /// Whether the client should connect again.
    let reconnects: Bool
    /// The query with the error; `nil` if the error is about the whole connection.
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
    /// Whether the value contains a member with this name, at any depth.
    fileprivate func names(_ name: String) -> Bool {
        switch self {
        case .object(let members): members.contains { $0.key == name || $0.value.names(name) }
        case .array(let elements): elements.contains { $0.names(name) }
        default: false
        }
    }
}
