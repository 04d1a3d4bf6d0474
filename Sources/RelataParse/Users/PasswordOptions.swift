import Foundation
import RelataCore

/// The rules for users' passwords.
///
/// ```swift
/// options.passwords.pattern = "^.{12,}$"
/// options.passwords.history = 5
/// ```
public struct PasswordOptions: Sendable {
    /// A regular expression that must match a part of a password; `nil` for none.
    public var pattern: String?
    /// Returns whether a password is good; `nil` if all are.
    public var isGood: (@Sendable (String) -> Bool)?
    /// The error message for a password that isn't good.
    public var advice: String?
    /// Whether a password may contain the user's name.
    public var mayContainUsername = true
    /// The number of seconds after which a password expires; `nil` for never.
    public var maximumAge: Double?
    /// The number of last passwords, including the current one, that a new password must differ from: at most 20.
    public var history = 0

    /// The defaults: any password.
    public init() {}

    /// Whether the server stores the times and hashes of passwords.
    var areRemembered: Bool { maximumAge != nil || history > 0 }

    /// Checks the options.
    ///
    /// - Throws: `RelataError` that describes the invalid value.
    public func check() throws(RelataError) {
        if let pattern {
            do {
                _ = try NSRegularExpression(pattern: pattern)
            } catch {
                throw .invalidUse("passwords.pattern isn't a regular expression: \(pattern)")
            }
        }
        if let maximumAge, !(maximumAge > 0 && maximumAge <= 100 * 365 * 86_400) {
            throw .invalidUse("passwords.maximumAge is \(maximumAge): it must be above 0, and at most a hundred years")
        }
        guard (0...20).contains(history) else {
            throw .invalidUse("passwords.history is \(history): it must be 0 to 20")
        }
    }

    static let containsUsername = ParseError(.validationError, "Password cannot contain your username.")

    /// The error for a password that the user had before.
    static func wasUsed(_ count: Int) -> ParseError {
        ParseError(.validationError, "New password should not be the same as last \(count) passwords.")
    }

    /// Checks the rules that need only the password and the user's name.
    ///
    /// - Throws: ``ParseError`` 142 that describes the violated rule.
    func check(_ password: String, of username: String?) throws {
        var isAllowed = isGood?(password) ?? true
        if let pattern {
            let expression = try NSRegularExpression(pattern: pattern)
            let range = NSRange(password.startIndex..., in: password)
            isAllowed = isAllowed && expression.firstMatch(in: password, range: range) != nil
        }
        guard isAllowed else {
            throw ParseError(
                .validationError, advice ?? "Password does not meet the Password Policy requirements.")
        }
        if !mayContainUsername, let username, !username.isEmpty,
            UserFields.key(password).contains(UserFields.key(username))
        {
            throw advice.map { ParseError(.validationError, $0) } ?? Self.containsUsername
        }
    }
}
