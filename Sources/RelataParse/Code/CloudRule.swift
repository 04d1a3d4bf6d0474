/// A rule that is checked before a function runs.
///
/// The master key meets every rule about callers. Rules about parameters apply to it, too.
public struct CloudRule: Sendable {
    /// The type of a parameter.
    public enum Kind: Hashable, Sendable {
        /// A JSON type, or Parse's date.
        case string, number, boolean, array, object, date
        /// A pointer to an object of a class.
        case pointer(to: String)

        fileprivate var name: String {
            switch self {
            case .string: "string"
            case .number: "number"
            case .boolean: "boolean"
            case .array: "array"
            case .object: "object"
            case .date: "date"
            case .pointer(let className): "pointer to \(className)"
            }
        }

        fileprivate func holds(_ value: JSONValue) -> Bool {
            switch self {
            case .string: value.string != nil
            case .number: value.number != nil
            case .boolean: value.bool != nil
            case .array: value.array != nil
            case .object: value.object != nil && value["__type"] == nil
            case .date: value["__type"] == "Date" && FieldDecoder.microseconds(value) != nil
            case .pointer(let className): Pointer(value)?.className == className
            }
        }
    }

    /// Checks a call, and may set default values of parameters.
    ///
    /// - Throws: ``ParseError`` 142.
    let check: @Sendable (inout CloudCall) throws(ParseError) -> Void

    private init(_ check: @escaping @Sendable (inout CloudCall) throws(ParseError) -> Void) { self.check = check }

    /// The error for a broken rule, with the text of Parse Server.
    static func refusal(_ reason: String) -> ParseError {
        ParseError(.validationError, "Validation failed. \(reason)")
    }

    // MARK: Callers

    /// The caller is signed in.
    public static let user = CloudRule { (call) throws(ParseError) in
        guard call.isMaster || call.user != nil else { throw refusal("Please login to continue.") }
    }

    /// The caller has the master key.
    public static let master = CloudRule { (call) throws(ParseError) in
        guard call.isMaster else { throw refusal("Master key is required to complete this request.") }
    }

    /// The caller has one of these roles, directly or inherited from other roles.
    public static func anyRole(_ names: String...) -> CloudRule {
        CloudRule { (call) throws(ParseError) in
            guard call.isMaster || names.contains(where: call.roles.contains) else {
                throw refusal("User does not match the required roles.")
            }
        }
    }

    /// The caller has all of these roles, directly or inherited from other roles.
    public static func allRoles(_ names: String...) -> CloudRule {
        CloudRule { (call) throws(ParseError) in
            guard call.isMaster || names.allSatisfy(call.roles.contains) else {
                throw refusal("User does not match all the required roles.")
            }
        }
    }

    /// The caller is signed in, and these fields of the user have values.
    public static func userFields(_ names: String...) -> CloudRule {
        CloudRule { (call) throws(ParseError) in
            if call.isMaster { return }
            guard let user = call.user else { throw refusal("Please login to continue.") }
            if let missing = names.first(where: { user[$0]?.isNull ?? true }) {
                throw refusal("Please set data for \(missing) on your account.")
            }
        }
    }

    // MARK: Parameters

    /// A parameter has a value.
    ///
    /// - Parameters:
    ///   - kind: The type of the value; `nil` for any.
    ///   - isGood: Whether a value is allowed.
    public static func required(
        _ name: String, _ kind: Kind? = nil, where isGood: (@Sendable (JSONValue) -> Bool)? = nil
    ) -> CloudRule {
        CloudRule { (call) throws(ParseError) in
            guard let value = call.parameters[name], !value.isNull else {
                throw refusal("Please specify data for \(name).")
            }
            try check(value, name, kind, isGood)
        }
    }

    /// A parameter is optional.
    ///
    /// - Parameters:
    ///   - kind: The type of the value; `nil` for any.
    ///   - value: The default value.
    ///   - isGood: Whether a caller's value is allowed.
    public static func optional(
        _ name: String, _ kind: Kind? = nil, default value: JSONValue? = nil,
        where isGood: (@Sendable (JSONValue) -> Bool)? = nil
    ) -> CloudRule {
        CloudRule { (call) throws(ParseError) in
            guard let given = call.parameters[name], !given.isNull else {
                if let value { call.parameters[name] = value }
                return
            }
            try check(given, name, kind, isGood)
        }
    }

    private static func check(
        _ value: JSONValue, _ name: String, _ kind: Kind?, _ isGood: (@Sendable (JSONValue) -> Bool)?
    ) throws(ParseError) {
        if let kind, !kind.holds(value) { throw refusal("Invalid type for \(name). Expected: \(kind.name)") }
        if let isGood, !isGood(value) { throw refusal("Invalid value for \(name).") }
    }
}
