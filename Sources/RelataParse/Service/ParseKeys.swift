/// What a client must know to be answered. How the keys are kept is the caller's affair: they are only compared.
public struct ParseKeys: Sendable {
    /// The id that every request carries.
    public var applicationID: String
    /// Whether a text is the key of clients; `nil` where they need none.
    public var isClientKey: (@Sendable (String) -> Bool)?
    /// Whether a text is the master key; `nil` where there is none.
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
    /// - Throws: ``ParseError/unauthorized`` where the application's id or the client's key isn't right.
    func check(_ headers: [String: String]) throws(ParseError) -> Bool {
        guard headers["x-parse-application-id"] == applicationID else { throw .unauthorized }
        if let key = headers["x-parse-master-key"] {
            guard isMasterKey?(key) == true else { throw .unauthorized }
            return true
        }
        guard let isClientKey else { return false }
        for name in ["x-parse-client-key", "x-parse-javascript-key", "x-parse-rest-api-key"] {
            if let key = headers[name], isClientKey(key) { return false }
        }
        throw .unauthorized
    }
}
