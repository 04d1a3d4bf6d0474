import Foundation
import RelataCore

/// A user's values in a request: the fields of every user, and those of the app.
struct UserFields: Sendable {
    /// The change of an optional field.
    enum Change<Value: Hashable & Sendable>: Hashable, Sendable {
        case set(Value)
        case unset
    }

    private(set) var username: String?
    private(set) var password: String?
    private(set) var email: Change<String>?
    private(set) var isEmailVerified: Bool?
    /// The claimed identities, by the services' names, not verified yet. `nil` for an identity to remove.
    private(set) var authData: [String: JSONObject?] = [:]
    /// All other fields.
    var body: ObjectBody

    /// The provider of anonymous users, who give no name.
    static let anonymous = "anonymous"
    /// The maximum length of a name or an address, in bytes.
    private static let maximumName = 256
    /// The maximum length of a password, in bytes: hashing a longer one would waste time.
    static let maximumPassword = 1024

    /// Reads the body of a request.
    ///
    /// - Throws: ``ParseError`` 125 for an invalid address, 252 for invalid `authData`, 111 for a value that isn't
    ///   text, 142 for one that is too long, and the errors of other fields.
    init(_ body: JSONObject, isMaster: Bool) throws(ParseError) {
        var rest: [(String, JSONValue)] = []
        for (name, value) in body.members {
            switch name {
            case "username": username = try Self.text(value, name)
            case "password":
                password = try Self.text(value, name)
                guard (password?.utf8.count ?? 0) <= Self.maximumPassword else {
                    throw ParseError(.validationError, "a password may have at most \(Self.maximumPassword) bytes")
                }
            case "email": email = try Self.email(value)
            case "emailVerified":
                // Clients send back the value that they received.
                if isMaster { isEmailVerified = value == true }
            case "authData": authData = try Self.authData(value)
            case "sessionToken": break
            default:
                // The server's own fields can't be set in part.
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
        guard let text = value.string else {
            throw ParseError(
                .incorrectType,
                "schema mismatch for \(InternalClasses.user).\(field); expected String but got another type")
        }
        guard !text.utf8.contains(0) else {
            throw ParseError(.incorrectType, "\(field) contains U+0000: leave it out")
        }
        guard field == "password" || text.utf8.count <= maximumName else {
            throw ParseError(.validationError, "\(field) may have at most \(maximumName) bytes")
        }
        return text
    }

    private static func email(_ value: JSONValue) throws(ParseError) -> Change<String> {
        if value.isNull || value == "" || value["__op"]?.string == "Delete" { return .unset }
        let address = try text(value, "email")
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        // In a mail's header, < and > would enclose another address.
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

    /// Whether the request claims an identity: then it needs no name and no password.
    var claimsIdentity: Bool { authData.values.contains { $0?.isEmpty == false } }

    /// The normalized name, which is equal for names that people consider equal.
    static func key(_ name: String) -> String {
        name.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCompatibilityMapping
    }

    /// The values of the server's own columns, by the names of the properties.
    ///
    /// - Parameters:
    ///   - hash: The hash of the password, if there is one.
    ///   - known: The stored user; `nil` for a new one.
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
            // Clients send back the address that they received: if it is unchanged, it stays verified.
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
