import Foundation

/// The keys that clients must send. The caller decides how they are stored: they are only compared.
public struct ParseKeys: Sendable {
    /// The id that every request carries.
    public var applicationID: String
    /// Whether a text is the client key; `nil` if clients need none.
    public var isClientKey: (@Sendable (String) -> Bool)?
    /// Whether a text is the master key; `nil` if there is none.
    public var isMasterKey: (@Sendable (String) -> Bool)?

    /// Keys and how they are recognised.
    public init(
        applicationID: String, isClientKey: (@Sendable (String) -> Bool)? = nil,
        isMasterKey: (@Sendable (String) -> Bool)? = nil
    ) {
        self.applicationID = applicationID
        self.isClientKey = isClientKey
        self.isMasterKey = isMasterKey
    }

    /// Whether the master key is among the header fields.
    ///
    /// - Throws: ``ParseError/unauthorized`` for a wrong application id or client key.
    func check(_ headers: [String: String]) throws(ParseError) -> Bool {
        guard let isMaster = try isMaster(headers) else { throw .unauthorized }
        return isMaster
    }

    /// Checks the keys in header fields; `nil` if the body may have the missing ones.
    ///
    /// - Throws: ``ParseError/unauthorized`` if one of them is wrong, regardless of the body.
    func isMaster(_ headers: [String: String]) throws(ParseError) -> Bool? {
        var headers = headers
        if let credentials = headers["authorization"] { try read(credentials, into: &headers) }
        let id = headers["x-parse-application-id"]
        guard id == nil || id == applicationID else { throw .unauthorized }
        if let key = headers["x-parse-master-key"] {
            guard isMasterKey?(key) == true else { throw .unauthorized }
            return id == nil ? nil : true
        }
        guard let isClientKey else { return id == nil ? nil : false }
        let names = [
            "x-parse-client-key", "x-parse-javascript-key", "x-parse-rest-api-key", "x-parse-windows-key",
        ]
        let keys = names.compactMap { headers[$0] }
        guard keys.isEmpty || keys.contains(where: isClientKey) else { throw .unauthorized }
        return id == nil || keys.isEmpty ? nil : false
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
