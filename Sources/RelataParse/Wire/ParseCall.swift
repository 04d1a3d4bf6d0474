import Foundation

/// A parsed request: its caller, its operation and its parameters.
struct ParseCall: Sendable {
    enum Method: String, Sendable { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

    var method: Method
    /// The path's parts, decoded: `["classes", "Book", "x7Yz"]`.
    var path: [String]
    /// The body of a request that writes; for one that reads, its parameters, from the URL or the body.
    var body: JSONObject
    /// The parameters after the question mark of a request that writes.
    var parameters: JSONObject = [:]
    /// The sender of the request.
    var caller = Caller()
    /// Whether the request has the master key.
    var isMaster: Bool { caller.isMaster }
    /// Whether the store has files, whose addresses the server adds.
    var hasFiles = false
    /// The content type of an uploaded file, from its client.
    var contentType: String?
    /// The metadata and tags of an uploaded file, from header fields.
    var fileFields: [String: String] = [:]
    /// The app's installation that it comes from.
    var installationID: String?
    /// The address of the client, or of a proxy, if it is known.
    var peer: String?
    /// The accepted languages of the client's user, from `Accept-Language`.
    var language: String?
    /// The id of the request, so that a repeated request isn't done again.
    var requestID: String?
    /// The client's context for the app's code on the server.
    var context: JSONObject = [:]
    /// The class whose find hooks are called, of a request that finds objects.
    var hookedClass: String?
    /// The header fields of the request, and the members of the body that replace them.
    var headers: [String: String] = [:]
    /// Whether the client understands a field that an app unset while it was saved. Clients of typed languages don't;
    /// an unnamed client does.
    var tellsUnset = true

    /// Gives the call the rights of another caller.
    ///
    /// - Throws: ``ParseError`` 119 for a call that doesn't only read.
    mutating func read(as subject: AccessSubject) throws(ParseError) {
        guard !mayChange else { throw ParseError(.operationForbidden, "a view as another user is read-only") }
        caller = Caller(subject: subject)
    }

    /// Whether it may change something, because its method does, or because it signs in: that begins a session, and wrong
    /// passwords are counted.
    var mayChange: Bool { method != .get || path.first.map(UserRoute.signIns.contains) == true }

    /// The call in one line, for comparisons: `PUT /classes/Book/x7Yz`.
    var line: String { "\(method.rawValue) /\(path.joined(separator: "/"))" }

    /// The identity of equal requests: the line and a digest of the rest. Empty without a ``requestID``.
    private(set) var fingerprint = ""

    private func makeFingerprint() -> String {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        // Rights and replies depend on the user.
        for part in [body, parameters, caller.sessionToken.map { ["_SessionToken": .string($0)] } ?? [:]] {
            // FNV-1a: it must be the same in every process, and a collision has no benefit for an attacker.
            for byte in JSONWriter.canonicalText(.object(part)).utf8 {
                digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3
            }
        }
        // The stored identity is short, regardless of the path's length.
        guard line.utf8.count > 256 else { return "\(line) \(String(digest, radix: 16))" }
        for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return "\(method.rawValue) \(String(digest, radix: 16))"
    }
}

extension ParseCall {
    /// Parses a request. The body is last: a request with wrong keys or an unknown path is refused before.
    ///
    /// - Parameters:
    ///   - hasUsers: Whether there are users.
    ///   - hasFiles: Whether there are files.
    ///   - signing: Signs the addresses of files.
    ///   - code: The existing functions and jobs.
    /// - Throws: ``ParseError`` 403 for keys that aren't right, and the error of an unknown path; 107 for a body or
    ///   parameter that isn't JSON.
    init(
        _ request: WireRequest, keys: ParseKeys, limit: Int = .max, hasUsers: Bool = false, hasFiles: Bool = false,
        signing: FileSigning? = nil, code: CloudCode = CloudCode()
    ) throws(ParseError) {
        let path = try Self.path(request.path)
        var headers = request.headers
        let isForm = Self.isForm(request)
        if !request.body.isEmpty, try keys.rights(headers) == nil {
            guard request.body.count <= limit else { throw Self.tooLargeWithoutKeys(limit) }
            let form = isForm ? (try? Self.parameters(String(decoding: request.body, as: UTF8.self))) : nil
            let given =
                isForm
                ? Self.fieldsForHeaders.reduce(into: [:]) { $0[$1.value] = form?[$1.key]?.string }
                : BodyKeys.fields(of: request.body, Self.fieldsForHeaders) ?? [:]
            headers.merge(given) { own, _ in own }
        }
        var rights = try keys.check(headers, from: request.address)
        try ParseService.checkPath(path, hasUsers: hasUsers, hasFiles: hasFiles, code: code)
        var body: JSONObject = [:]
        if isForm {
            body = try Self.parameters(String(decoding: request.body, as: UTF8.self))
        } else if !request.body.isEmpty {
            guard case .object(let members) = try JSONParser.parse(request.body) else {
                throw ParseError(.invalidJSON, "the body must be a JSON object")
            }
            body = members
        }
        // Clients behind proxies and in browsers send everything as the body of a POST.
        var named = headers["x-http-method-override"]
        var claimedType: String?
        var context: JSONValue?
        if body.keys.contains(where: { $0.utf8.first == UInt8(ascii: "_") }) {
            for (name, header) in Self.fieldsForHeaders {
                if let text = body[name]?.string, headers[header] == nil { headers[header] = text }
            }
            rights = try keys.check(headers, from: request.address)
            if let method = body["_method"], !method.isNull {
                guard let name = method.string else {
                    throw ParseError(.invalidJSON, "_method must be a method's name")
                }
                named = name
            }
            claimedType = body["_ContentType"]?.string
            context = body["_context"]
            body = body.filter { !Self.isAside($0.key) }
        }
        let name = request.method == "POST" ? named?.uppercased() ?? "POST" : request.method
        guard let method = Method(rawValue: name) else {
            throw ParseError(.commandUnavailable, "there is no method \(name.prefix(32)) here", status: 405)
        }
        caller.take(rights)
        self.hasFiles = hasFiles
        self.context = try Self.context(context ?? .null, headers)
        // Behind an escape, the type of a file looks like something else.
        let mayHoldFiles = FileURLs.mayHoldFiles(request.body) || request.body.contains(UInt8(ascii: "\\"))
        if hasFiles, mayHoldFiles || !self.context.isEmpty {
            var reader = FileURLReader(caller.isMaster ? nil : signing)
            body = reader.read(body)
            self.context = reader.read(self.context)
            caller.unprovenFiles = reader.unproven
        }
        self.method = method
        self.path = path
        contentType = claimedType ?? headers["content-type"]
        for name in ["metadata", "tags"] { fileFields[name] = headers["x-parse-file-" + name] }
        let parameters = try Self.parameters(request.query)
        if method == .get {
            self.body = body.merging(parameters)
        } else {
            self.body = body
            self.parameters = parameters
        }
        tellsUnset = headers["x-parse-client-version"].map { Self.tellsUnset($0) } ?? true
        takeSender(headers, at: request.address)
        if let token = headers["x-parse-session-token"], !token.isEmpty {
            guard hasUsers else {
                throw ParseError(.invalidSessionToken, "Invalid session token: this server has no users")
            }
            caller.sessionToken = token
        }
        if method != .get, let id = headers["x-parse-request-id"], !id.isEmpty {
            guard id.utf8.count <= 128 else {
                throw ParseError(.invalidQuery, "X-Parse-Request-Id is longer than 128 bytes")
            }
            // Without this check, all bytes that aren't text would read alike, and two ids could be equal.
            guard !id.contains("\u{FFFD}") else { throw ParseError(.invalidQuery, "X-Parse-Request-Id isn't UTF-8") }
            requestID = id
            fingerprint = makeFingerprint()
        }
        try checkMayBeReadOnly()
    }

    /// Takes the facts about the sender that the app's code can read.
    mutating func takeSender(_ headers: [String: String], at address: String?) {
        installationID = headers["x-parse-installation-id"]
        language = headers["accept-language"]
        peer = address
        self.headers = headers
    }

    /// - Throws: ``ParseError`` 119 for a request that may change something, with the master key that only reads. The
    ///   requests of a batch are checked one by one.
    private func checkMayBeReadOnly() throws(ParseError) {
        guard caller.isReadOnly, mayChange, method != .post || path != ["batch"] else { return }
        throw .readOnlyMasterKey(line)
    }

    /// Whether a body is a form. JSON is recognised regardless of its content type: some programs send everything as a
    /// form.
    private static func isForm(_ request: WireRequest) -> Bool {
        let form = "application/x-www-form-urlencoded"
        guard let type = request.headers["content-type"], type.utf8.count >= form.utf8.count,
            type.lowercased().hasPrefix(form)
        else { return false }
        let first = request.body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first != nil && first != UInt8(ascii: "{")
    }

    /// The error for a body that exceeds the limit for clients without keys in header fields.
    static func tooLargeWithoutKeys(_ limit: Int) -> ParseError {
        ParseError(
            .objectTooLarge,
            "a body has at most \(limit) bytes if the header fields contain no keys: send the keys as header fields",
            status: 413)
    }

    /// Parse's JavaScript client learned it with version 1.9.
    private static func tellsUnset(_ version: String) -> Bool {
        let version = version.lowercased()
        guard version.hasPrefix("js") else { return false }
        return !version.dropFirst(2).split(separator: ".").compactMap { Int($0) }.lexicographicallyPrecedes([1, 9])
    }

    private static let fieldsForHeaders = [
        "_ApplicationId": "x-parse-application-id", "_ClientKey": "x-parse-client-key",
        "_JavaScriptKey": "x-parse-javascript-key", "_RESTAPIKey": "x-parse-rest-api-key",
        "_MasterKey": "x-parse-master-key", "_SessionToken": "x-parse-session-token",
        "_RequestId": "x-parse-request-id", "_ClientVersion": "x-parse-client-version",
        "_InstallationId": "x-parse-installation-id",
    ]
    private static let ignoredFields: Set = [
        "_method", "_ContentType", "_noBody", "_RevocableSession", "_context",
    ]

    /// The client's context for the app's code, as a member of the body or in a header field.
    ///
    /// - Throws: ``ParseError`` 107 for a value that isn't an object.
    static func context(_ given: JSONValue, _ headers: [String: String]) throws(ParseError) -> JSONObject {
        var given = given
        if given.isNull, let text = headers["x-parse-cloud-context"], !text.isEmpty {
            given = (try? JSONParser.parse(text)) ?? .string(text)
        }
        if given.isNull { return [:] }
        guard let context = given.object else { throw ParseError(.invalidJSON, "Invalid object for context.") }
        return context
    }

    /// The header fields that only the server may see.
    static let secretHeaders: Set = [
        "x-parse-client-key", "x-parse-javascript-key", "x-parse-rest-api-key", "x-parse-windows-key",
        "x-parse-master-key", "x-parse-maintenance-key", "x-parse-session-token", "authorization",
    ]

    /// Whether a member of a body isn't a parameter of the request.
    private static func isAside(_ name: String) -> Bool {
        name.utf8.first == UInt8(ascii: "_") && (fieldsForHeaders[name] != nil || ignoredFields.contains(name))
    }

    /// The decoded parts of a path.
    static func path(_ text: String) throws(ParseError) -> [String] {
        var parts: [String] = []
        for part in text.split(separator: "/") {
            guard let plain = decoded(part), !plain.utf8.contains(0) else {
                throw ParseError(.invalidQuery, "the path isn't validly percent-encoded")
            }
            parts.append(plain)
        }
        return parts
    }

    /// The decoded parts of the path of a batch's request, without its parameters, and below the mount.
    static func path(inBatch target: String, below mount: [String]) throws(ParseError) -> [String] {
        let path = try Self.path(target.withoutParameters)
        return path.starts(with: mount) ? Array(path.dropFirst(mount.count)) : path
    }

    /// The parameters of a URL. Each is text; its meaning depends on the parameter.
    static func parameters(_ query: String) throws(ParseError) -> JSONObject {
        var parameters: JSONObject = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decodedWord(parts[0]), let value = decodedWord(parts.count > 1 ? parts[1] : "") else {
                throw ParseError(.invalidQuery, "the parameter \(pair.prefix(64)) isn't validly percent-encoded")
            }
            guard parameters.append(name, .string(value)) else {
                throw ParseError(.invalidQuery, "the parameter \(name.prefix(64)) is given twice")
            }
        }
        return parameters
    }

    private static func decodedWord(_ text: Substring) -> String? {
        text.utf8.contains(UInt8(ascii: "+")) ? decoded(text.replacing("+", with: " ")) : decoded(text)
    }

    private static func decoded(_ text: Substring) -> String? {
        text.utf8.contains(UInt8(ascii: "%")) ? String(text).removingPercentEncoding : String(text)
    }
}

// MARK: Parameters

extension ParseCall {
    /// A parameter that is JSON, as a value or as text.
    ///
    /// - Throws: ``ParseError`` 107 for text that isn't JSON.
    func json(_ name: String) throws(ParseError) -> JSONValue? {
        guard let value = body[name] ?? parameters[name], !value.isNull else { return nil }
        guard case .string(let text) = value else { return value }
        if text.isEmpty { return nil }
        let parsed = try JSONParser.parse(text)
        guard hasFiles else { return parsed }
        var reader = FileURLReader(nil)
        return reader.read(parsed)
    }

    /// A parameter that is a list of names: an array, the text of one, or names separated by commas; `nil` for none.
    func names(_ name: String) throws(ParseError) -> [String]? {
        guard var value = body[name] ?? parameters[name], !value.isNull else { return nil }
        if case .string(let text) = value {
            let text = text.trimmingSpaces
            if text.isEmpty { return nil }
            guard text.hasPrefix("[") || text.hasPrefix("\"") else {
                return text.split(separator: ",").map(\.trimmingSpaces).filter { !$0.isEmpty }
            }
            value = try JSONParser.parse(text)
        }
        if case .string(let text) = value { return [text] }
        guard let elements = value.array else {
            throw ParseError(.invalidQuery, "\(name) must be a list of names")
        }
        var names: [String] = []
        for element in elements {
            guard let text = element.string else {
                throw ParseError(.invalidQuery, "\(name) must be a list of names")
            }
            names += text.split(separator: ",").map(\.trimmingSpaces)
        }
        return names.filter { !$0.isEmpty }
    }

    /// A parameter that is a whole number, at least 0.
    func count(_ name: String) throws(ParseError) -> Int? {
        guard let value = body[name] ?? parameters[name], !value.isNull, value != "" else { return nil }
        let number = value.integer ?? value.string.flatMap { Int64($0) }
        guard let number, number >= 0, let count = Int(exactly: number) else {
            throw ParseError(.invalidQuery, "\(name) must be a whole number, at least 0")
        }
        return count
    }

    /// A parameter that is on or off: true, false, 1 or 0; one that is only named is on.
    ///
    /// - Throws: ``ParseError`` 102 for anything else, which may have been meant to be on.
    func flag(_ name: String) throws(ParseError) -> Bool {
        switch body[name] ?? parameters[name] {
        case nil, .null: return false
        case .bool(let value): return value
        case .integer(1): return true
        case .integer(0): return false
        case .string(let text) where ["", "1", "true"].contains(text.lowercased()): return true
        case .string(let text) where ["0", "false"].contains(text.lowercased()): return false
        default: throw ParseError(.invalidQuery, "\(name) must be true or false")
        }
    }
}

extension StringProtocol {
    /// The text without white space at its ends.
    var trimmingSpaces: String {
        var text = Substring(self)
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text.drop(while: \.isWhitespace))
    }
}

extension ParseError {
    /// The error for a method that a path doesn't have.
    static func impossible(_ call: ParseCall) -> ParseError {
        ParseError(.commandUnavailable, "\(call.line.prefix(128)) isn't possible", status: 405)
    }
}
