import Foundation

/// The keys that clients must send. The caller decides how they are stored: they are only compared.
public struct ParseKeys: Sendable {
    /// Whether a text is a key.
    public typealias Check = @Sendable (String) -> Bool

    /// The clients that may have their own key.
    public enum Client: String, CaseIterable, Sendable {
        /// Programs that call the REST API themselves.
        case rest = "x-parse-rest-api-key"
        /// Web pages.
        case javaScript = "x-parse-javascript-key"
        /// Programs on .NET.
        case dotNet = "x-parse-windows-key"
    }

    /// The keys that allow more than a client may.
    public enum Privilege: Sendable, CaseIterable {
        /// Everything.
        case master
        /// Reading everything.
        case readOnlyMaster
        /// Everything, and writing the fields that the server sets: the ids and times of objects, and hashes of
        /// passwords.
        case maintenance
    }

    /// The id that every request carries.
    public var applicationID: String
    /// Whether a text is the client key; `nil` if clients need none.
    public var isClientKey: Check?
    /// Clients with their own keys, for which the client key isn't valid.
    public var ownKeys: [Client: Check] = [:]
    /// Whether a text is the master key; `nil` if there is none.
    public var isMasterKey: Check?
    /// Whether a text is the master key that only reads; `nil` if there is none.
    public var isReadOnlyMasterKey: Check?
    /// Whether a text is the maintenance key; `nil` if there is none.
    public var isMaintenanceKey: Check?
    /// Whether a key may be used from the client's address; `nil` to admit any address.
    public var admits: (@Sendable (Privilege, _ address: String?) -> Bool)?

    /// Keys and how they are recognised.
    public init(
        applicationID: String, isClientKey: Check? = nil, isMasterKey: Check? = nil
    ) {
        self.applicationID = applicationID
        self.isClientKey = isClientKey
        self.isMasterKey = isMasterKey
    }

    /// The rights that the keys of a request give.
    enum Rights: Hashable, Sendable {
        case client
        case privileged(Privilege)

        /// Whether the rules for clients don't apply.
        var isMaster: Bool { self != .client }
    }

    /// The rights by the keys in header fields.
    ///
    /// - Parameter address: The client's.
    /// - Throws: ``ParseError/unauthorized`` for a wrong application id or key, and for a key from a wrong address.
    func check(_ headers: [String: String], from address: String?) throws(ParseError) -> Rights {
        guard let rights = try rights(headers) else { throw .unauthorized }
        if case .privileged(let privilege) = rights, let admits, !admits(privilege, address) {
            throw .unauthorized
        }
        return rights
    }

    /// The rights by the keys in header fields, wherever they come from; `nil` if the body may have the missing ones.
    ///
    /// - Throws: ``ParseError/unauthorized`` if one of them is wrong, regardless of the body.
    func rights(_ headers: [String: String]) throws(ParseError) -> Rights? {
        var headers = headers
        if let credentials = headers["authorization"] { try read(credentials, into: &headers) }
        let id = headers["x-parse-application-id"]
        guard id == nil || id == applicationID else { throw .unauthorized }
        if let privilege = try privilege(headers) { return id == nil ? nil : .privileged(privilege) }
        guard isClientKey != nil || !ownKeys.isEmpty else { return id == nil ? nil : .client }
        var isGiven = false
        var isRight = false
        for (client, key) in clientKeys(headers) {
            isGiven = true
            isRight = isRight || (client.flatMap { ownKeys[$0] } ?? isClientKey).map { $0(key) } == true
        }
        guard !isGiven || isRight else { throw .unauthorized }
        return id == nil || !isGiven ? nil : .client
    }

    /// - Throws: ``ParseError/unauthorized`` for a wrong one.
    private func privilege(_ headers: [String: String]) throws(ParseError) -> Privilege? {
        var privilege: Privilege?
        if let key = headers["x-parse-master-key"] {
            if isMasterKey?(key) == true {
                privilege = .master
            } else if isReadOnlyMasterKey?(key) == true {
                privilege = .readOnlyMaster
            } else {
                throw .unauthorized
            }
        }
        guard let key = headers["x-parse-maintenance-key"] else { return privilege }
        // A valid key doesn't make up for a wrong one, nor for the restrictions of another.
        guard isMaintenanceKey?(key) == true, privilege != .readOnlyMaster else { throw .unauthorized }
        return .maintenance
    }

    private func clientKeys(_ headers: [String: String]) -> [(client: Client?, key: String)] {
        var keys = Client.allCases.compactMap { client in
            headers[client.rawValue].map { (client: Optional(client), key: $0) }
        }
        if let key = headers["x-parse-client-key"] { keys.append((nil, key)) }
        return keys
    }

    /// HTTP Basic authentication: the user is the application's id, the password the master key, or `javascript-key=`
    /// and the client key. Credentials for another program, such as a proxy, are ignored.
    ///
    /// - Throws: ``ParseError/unauthorized`` if another field contradicts it.
    private func read(_ credentials: String, into headers: inout [String: String]) throws(ParseError) {
        let parts = credentials.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1])),
            let text = String(validating: data, as: UTF8.self)
        else { return }
        let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, pair[0] == applicationID else { return }
        func add(_ name: String, _ value: String) throws(ParseError) {
            guard (headers.updateValue(value, forKey: name) ?? value) == value else { throw .unauthorized }
        }
        try add("x-parse-application-id", applicationID)
        let prefix = "javascript-key="
        if pair[1].hasPrefix(prefix) {
            try add("x-parse-javascript-key", String(pair[1].dropFirst(prefix.count)))
        } else if !pair[1].isEmpty {
            try add("x-parse-master-key", String(pair[1]))
        }
    }
}

extension ParseError {
    /// The error for a change with the master key that only reads, in the words of Parse's own server.
    static func readOnlyMasterKey(_ what: String) -> ParseError {
        ParseError(
            .operationForbidden, "read-only masterKey isn't allowed to perform \(what.prefix(128)).",
            status: 403)
    }
}
