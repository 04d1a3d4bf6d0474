import Foundation
import RelataCore

/// What a request says of a user: what every user has, and the fields of the app.
struct UserFields: Sendable {
    /// What is done to a field that may be unset.
    enum Change<Value: Hashable & Sendable>: Hashable, Sendable {
        case set(Value)
        case unset
    }

    private(set) var username: String?
    private(set) var password: String?
    private(set) var email: Change<String>?
    private(set) var isEmailVerified: Bool?
    /// What is said of other services, by their names: only claims, which nobody has vouched for. `nil` for one that is to go.
    private(set) var authData: [String: JSONObject?] = [:]
    /// All else.
    var body: ObjectBody

    /// The provider of users who give no name.
    static let anonymous = "anonymous"
    /// How long a name or an address may be, in bytes.
    private static let maximumName = 256
    /// How long a password may be: hashing a longer one would be work for nothing.
    static let maximumPassword = 1024

    /// Reads the body of a request.
    ///
    /// - Throws: ``ParseError`` 125 for what is no address, 252 for what names no provider, 111 for what isn't text,
    ///   and whatever is wrong with the other fields.
    init(_ body: JSONObject, isMaster: Bool) throws(ParseError) {
        var rest: [(String, JSONValue)] = []
        for (name, value) in body.members {
            switch name {
            case "username": username = try Self.text(value, name)
            case "password":
                password = try Self.text(value, name)
                guard (password?.utf8.count ?? 0) <= Self.maximumPassword else {
                    throw ParseError(.validationError, "a password has \(Self.maximumPassword) bytes at most")
                }
            case "email": email = try Self.email(value)
            case "emailVerified":
                // What clients send back of what they were told.
                if isMaster { isEmailVerified = value == true }
            case "authData": authData = try Self.authData(value)
            case "sessionToken": break
            default:
                // What a server must know of is told as a whole.
                if let whole = name.split(separator: ".").first, InternalClasses.userFields.contains(String(whole)) {
                    throw ParseError(
                        .invalidKeyName, "Invalid field name: \(name.prefix(128)): set \(whole) as a whole.")
                }
                rest.append((name, value))
            }
        }
        self.body = try ObjectBody(JSONObject(rest))
    }

    private static func text(_ value: JSONValue, _ field: String) throws(ParseError) -> String {
        guard let text = value.string, !text.utf8.contains(0) else {
            throw ParseError(
                .incorrectType,
                "schema mismatch for \(InternalClasses.user).\(field); expected String but got another type")
        }
        guard field == "password" || text.utf8.count <= maximumName else {
            throw ParseError(.validationError, "\(field) has \(maximumName) bytes at most")
        }
        return text
    }

    private static func email(_ value: JSONValue) throws(ParseError) -> Change<String> {
        if value.isNull || value == "" || value["__op"]?.string == "Delete" { return .unset }
        let address = try text(value, "email")
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        // In a mail's head, < and > would stand around another address.
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
            !address.contains(where: { $0.isWhitespace || $0 == "<" || $0 == ">" })
        else {
            throw ParseError(.invalidEmailAddress, "Email address format is invalid.")
        }
        return .set(address)
    }

    private static func authData(_ value: JSONValue) throws(ParseError) -> [String: JSONObject?] {
        if value.isNull { return [:] }
        guard let providers = value.object else { throw ParseError.providerIsUnknown }
        var read: [String: JSONObject?] = [:]
        for (provider, data) in providers {
            guard data.isNull || data.object != nil, ParseNames.canBeField(provider) else {
                throw ParseError.providerIsUnknown
            }
            read[provider] = .some(data.object)
        }
        return read
    }

    /// Whether somebody says to be known to a service: then neither a name nor a password is needed.
    var claimsIdentity: Bool { authData.values.contains { $0?.isEmpty == false } }

    /// What is the same for names that people take for the same.
    static func key(_ name: String) -> String {
        name.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCompatibilityMapping
    }

    /// The values of the columns that aren't fields of the app, by the names of the properties.
    ///
    /// - Parameters:
    ///   - hash: The hash of the password, if there is one.
    ///   - known: The user as it is; `nil` for a new one.
    func values(hash: String?, known: StoredUser? = nil) -> [String: Value] {
        var values: [String: Value] = [:]
        if let username {
            values["username"] = .text(username)
            values["_usernameKey"] = .text(Self.key(username))
        }
        switch email {
        case .set(let address)?:
            values["email"] = .text(address)
            let key = Self.key(address)
            values["_emailKey"] = .text(key)
            // Clients send back what they were told: the same address stays verified.
            if key != known?.emailKey { values["emailVerified"] = .integer(0) }
        case .unset?:
            for name in ["email", "_emailKey", "emailVerified"] { values[name] = .null }
        case nil: break
        }
        if let isEmailVerified { values["emailVerified"] = .integer(isEmailVerified ? 1 : 0) }
        if let hash { values["_password"] = .text(hash) }
        return values
    }
}
