/// A call of a function: the caller, the parameters, and stores with the caller's rights and with all rights.
public struct CloudCall: Sendable {
    /// The name of the called function.
    public let name: String
    /// The parameters, including the default values of rules.
    public internal(set) var parameters: JSONObject
    /// The caller's user, with all fields; `nil` if nobody is signed in.
    public let user: JSONObject?
    /// The names of the user's roles, including those inherited from other roles.
    public let roles: Set<String>
    /// Whether the caller has the master key.
    public let isMaster: Bool
    /// The id of the calling app's installation.
    public let installationID: String?
    /// The client's data for the server's code: `X-Parse-Cloud-Context`, or `_context` in the body.
    public let context: JSONObject
    /// The header fields by their names in lower case: those that the protocol reads, except keys and tokens, and those
    /// in ``CloudCode/headerNames``.
    public let headers: [String: String]
    /// The request's id, which the client sends again if the reply is lost. The server doesn't store the replies of
    /// functions. A function that must run only once can store this id with its result.
    public let requestID: String?

    /// The store with the rights of the caller.
    public let asCaller: CloudStore
    /// The store with the rights of the master key.
    public let asMaster: CloudStore

    /// A parameter; `nil` if it is missing.
    public subscript(name: String) -> JSONValue? { parameters[name] }

    /// The id of the caller's user.
    public var userID: String? { user?["objectId"]?.string }

    /// The parameters as a type of the app. Dates have Parse's format, and `Data` is its `Bytes`.
    ///
    /// - Throws: ``ParseError`` 142 that names the parameter which doesn't match the type.
    public func decode<Parameters: Decodable>(_ type: Parameters.Type) throws -> Parameters {
        try CloudCoding.decode(type, from: parameters)
    }
}
