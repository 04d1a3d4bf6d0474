/// Features of Parse that this server doesn't have, with the errors of Parse's own server for disabled features.
enum DisabledFeature {
    /// The error for a path of a missing feature; `nil` for any other path.
    ///
    /// - Parameter hasPush: Whether the app's code sends push notifications.
    static func error(for path: [String], hasPush: Bool = false) -> ParseError? {
        guard let first = path.first else { return nil }
        let message: String
        switch first {
        case _ where UserRoute.names.contains(first): return .usersAreOff
        case _ where UserRoute.mails[first] != nil: return mailIsOff
        case "upgradeToRevocableSession", "challenge": message = "\(first) is off"
        case "push" where hasPush: return nil
        case "push", "push_audiences": message = "push notifications are off"
        case "hooks": message = "hooks are off: this server calls no webhooks"
        case "files": return .filesAreOff
        case "apps", "validate_purchase", "graphql", "security", "scriptlog", "logs": message = "\(first) is off"
        default: return nil
        }
        return ParseError(.operationForbidden, message)
    }

    static let mailIsOff = ParseError(.operationForbidden, "mail is off: this server sends none")
    static let verificationIsOff = ParseError(.operationForbidden, "addresses aren't verified here")

    /// The error for a function that there isn't, in the words of Parse's own server.
    static func noFunction(_ name: String) -> ParseError {
        ParseError(.scriptFailed, "Invalid function: \"\(name.prefix(128))\"")
    }

    static let noJob = ParseError(.scriptFailed, "Invalid job.")

    /// The error for a class of a missing feature: `_User`.
    static func error(forClass name: String) -> ParseError? {
        guard name.utf8.first == UInt8(ascii: "_") else { return nil }
        return switch name {
        case _ where InternalClasses.ofClients.contains(name): nil
        case _ where ServiceClasses.visible.contains(name): nil
        case "_PushStatus", "_Audience": error(for: ["push"])
        case _ where name.hasPrefix("_"):
            ParseError(.operationForbidden, "the class \(name.prefix(64)) belongs to a feature that is off")
        default: nil
        }
    }
}

extension ParseError {
    /// The error of requests for users in a store without users.
    static let usersAreOff = ParseError(.operationForbidden, "users are off")
}
