/// A call of a function: who calls it, with what, and by whose rights it may read and write.
public struct CloudCall: Sendable {
    /// The name that it was called by.
    public let name: String
    /// The parameters; where a rule gives one a default, with that.
    public internal(set) var parameters: JSONObject
    /// The caller's own user, with all fields; `nil` where nobody is signed in.
    public let user: JSONObject?
    /// The names of the roles that the user has, directly or by other roles.
    public let roles: Set<String>
    /// Whether the caller has the master key.
    public let isMaster: Bool
    /// The app's installation that calls.
    public let installationID: String?
    /// What the client sent along for the server's code: `X-Parse-Cloud-Context`, or `_context` in the body.
    public let context: JSONObject
    /// The header fields by their names in lower case: those that the protocol reads, but for keys and tokens, and those of
    /// ``CloudCode/headerNames``.
    public let headers: [String: String]
    /// What the client sends again if the reply is lost. The server keeps no replies of functions: one that must be done
    /// once can store this along.
    public let requestID: String?

    /// The store with the rights of the caller.
    public let asCaller: CloudStore
    /// The store with the rights of the master key.
    public let asMaster: CloudStore

    /// A parameter; `nil` where there is none.
    public subscript(name: String) -> JSONValue? { parameters[name] }

    /// The id of the caller's user.
    public var userID: String? { user?["objectId"]?.string }

    /// The parameters as a type of the app. Dates are Parse's, and `Data` is its `Bytes`.
    ///
    /// - Throws: ``ParseError`` 142 that names the parameter which isn't as the type wants it.
    public func decode<Parameters: Decodable>(_ type: Parameters.Type) throws -> Parameters {
        try CloudCoding.decode(type, from: parameters)
    }
}
