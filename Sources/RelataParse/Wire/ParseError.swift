import RelataCore

/// An error as Parse's clients know it: a code, a message and the status of the reply.
public struct ParseError: Error, Hashable, Sendable {
    /// Parse's codes, by the names that its SDKs give them.
    public enum Code: Int, Hashable, Sendable {
        /// An error that has no other code.
        case otherCause = -1
        /// The server failed. Its log has the details.
        case internalServerError = 1
        /// The object doesn't exist, or the caller has no access to it.
        case objectNotFound = 101
        /// The query is invalid.
        case invalidQuery = 102
        /// The name of the class is invalid, taken or unknown.
        case invalidClassName = 103
        /// The object's id is missing.
        case missingObjectID = 104
        /// The name isn't valid for a field.
        case invalidKeyName = 105
        /// The pointer is invalid.
        case invalidPointer = 106
        /// The body isn't JSON, or not of the expected shape.
        case invalidJSON = 107
        /// The server doesn't support the operation.
        case commandUnavailable = 108
        /// The value isn't of the field's type.
        case incorrectType = 111
        /// The push notification can't be sent as it is asked for.
        case pushMisconfigured = 115
        /// The object, or the reply, is too large.
        case objectTooLarge = 116
        /// The caller has no permission for the operation.
        case operationForbidden = 119
        /// The name of a key within an object is invalid.
        case invalidNestedKey = 121
        /// The name of the file is invalid.
        case invalidFileName = 122
        /// The ACL is invalid.
        case invalidACL = 123
        /// The request took too long.
        case timeout = 124
        /// The email address is invalid.
        case invalidEmailAddress = 125
        /// The file can't be saved.
        case fileSaveError = 130
        /// The installation's id is invalid, or another installation has it.
        case invalidInstallationID = 132
        /// A required field has no value.
        case missingRequiredField = 135
        /// The field can't be changed.
        case changedImmutableField = 136
        /// Another object has the same value in a unique field.
        case duplicateValue = 137
        /// The name of the role is invalid.
        case invalidRoleName = 139
        /// A function of the server failed or doesn't exist.
        case scriptFailed = 141
        /// A value breaks a rule of its field.
        case validationError = 142
        /// The webhook can't be registered, or doesn't exist.
        case webhookError = 143
        /// The file can't be deleted.
        case fileDeleteError = 153
        /// The caller sends too many requests.
        case requestLimitExceeded = 155
        /// A request with the same id was received already.
        case duplicateRequest = 159
        /// The username is missing or empty.
        case usernameMissing = 200
        /// The password is missing or empty.
        case passwordMissing = 201
        /// Another user has the username.
        case usernameTaken = 202
        /// Another user has the email address.
        case emailTaken = 203
        /// The email address is missing.
        case emailMissing = 204
        /// No user has the email address, or it isn't verified.
        case emailNotFound = 205
        /// The request needs the session of the user.
        case sessionMissing = 206
        /// Another user is linked with the account.
        case accountAlreadyLinked = 208
        /// The session no longer exists, or has expired.
        case invalidSessionToken = 209
        /// The service to sign in with isn't supported.
        case unsupportedService = 252
        /// The class has objects.
        case classNotEmpty = 255
    }

    /// The error, for programs.
    public let code: Code
    /// The error, for people.
    public let message: String
    /// The HTTP status of the reply.
    public let status: Int

    /// An error; by default the status is the one that Parse gives the code.
    public init(_ code: Code, _ message: String, status: Int? = nil) {
        self.code = code
        self.message = message
        self.status = status ?? Self.status(of: code)
    }

    private static func status(of code: Code) -> Int {
        switch code {
        case .internalServerError, .otherCause: 500
        case .objectNotFound: 404
        default: 400
        }
    }

    /// The error for a reply that would be too large.
    static func replyTooLarge(_ limit: Int) -> ParseError {
        ParseError(
            .objectTooLarge,
            "the reply would be larger than \(limit) bytes: ask for fewer objects (limit), fields (keys) or includes")
    }

    /// The error for a request without the required keys.
    public static let unauthorized = ParseError(.operationForbidden, "unauthorized", status: 403)

    /// The error for a request that needs the master key.
    static let masterKeyRequired = ParseError(
        .operationForbidden, "unauthorized: master key is required", status: 403)
}

extension ParseError: CustomStringConvertible {
    /// `101: Object not found.`
    public var description: String { "\(code.rawValue): \(message)" }
}

extension ParseError {
    /// The error for a client, after reporting an error whose details the client doesn't get.
    init(_ error: any Error, report: (any Error) -> Void) {
        self.init(error)
        // A cancelled request isn't a failure, and a failed webhook has been reported.
        if error is CancellationError || error is FailedWebhook { return }
        if status >= 500 || error is CodeFailure { report(error) }
    }

    /// The error of the store, for clients. Details such as SQL and paths are left out: the log has them.
    public init(_ error: any Error) {
        if let error = error as? ParseError {
            self = error
            return
        }
        if error is CodeFailure {
            self.init(.scriptFailed, "Script failed. Unknown error.")
            return
        }
        if error is CancellationError || (error as? RelataError)?.isInterruption == true {
            self.init(.timeout, "the request took too long, or its client has disconnected", status: 503)
            return
        }
        if let error = error as? TooManyRequests {
            self = error.parseError
            return
        }
        if let error = error as? SlowHook {
            self = error.parseError
            return
        }
        if let error = error as? FailedSignIn {
            self = error.parseError
            return
        }
        if let error = error as? FileStorageError {
            self = error.parseError
            return
        }
        if let error = error as? FailedWebhook {
            self = error.parseError
            return
        }
        guard let error = error as? RelataError else {
            self.init(.internalServerError, "Internal server error.")
            return
        }
        if error.isNoSpaceLeft {
            self.init(
                .internalServerError, "the server's disk is full: nothing was written. Try again later", status: 503)
            return
        }
        if let message = error.refusalOfTable {
            self.init(.validationError, message)
            return
        }
        if error.isOverflow {
            self.init(.invalidQuery, "the query calculates a number that is too large")
            return
        }
        switch error {
        case .notFound: self.init(.objectNotFound, "Object not found.")
        case .invalidReference: self.init(.objectNotFound, error.description, status: 400)
        case .alreadyExists: self.init(.duplicateValue, error.description)
        // Two users who sign up at once may both have found the name free.
        case .uniqueViolation(InternalClasses.user, ["_usernameKey"]): self = .usernameIsTaken
        case .uniqueViolation(InternalClasses.user, ["_emailKey"]): self = .emailIsTaken
        case .uniqueViolation(InternalClasses.user, ["_anonymousKey"]), .uniqueViolation(AccountClasses.identity, _):
            self = .providerIsTaken
        case .uniqueViolation:
            self.init(
                .duplicateValue, "A duplicate value for a field with unique values was provided: \(error.description)")
        case .deleteDenied: self.init(.operationForbidden, error.description)
        case .requiredReference, .validation: self.init(.validationError, error.description)
        case .conflict: self.init(.operationForbidden, error.description, status: 409)
        case .invalidUse(let message): self.init(.invalidQuery, message)
        case .predicateFormat: self.init(.invalidQuery, error.description)
        case .schemaMismatch(let problems):
            // The remedy is meant for authors of models, not for clients.
            let facts = problems.map { problem in
                let fact = problem.message.split(separator: ": ", maxSplits: 1).first.map(String.init)
                return "\(problem.entity)\(problem.property.map { ".\($0)" } ?? ""): \(fact ?? problem.message)"
            }
            self.init(.classNotEmpty, "the classes would contradict themselves: \(facts.joined(separator: "; "))")
        case .busy: self.init(.requestLimitExceeded, "the store is busy: try again", status: 503)
        case .closed: self.init(.otherCause, "the server is stopping: try again", status: 503)
        case .readOnly: self.init(.operationForbidden, "the store can't be written")
        case .fileAccess(_, RelataError.hasMoved):
            self.init(.internalServerError, "the database's file \(RelataError.hasMoved)", status: 503)
        case .fileAccess:
            self.init(
                .internalServerError, "the database can't be used at the moment: the server's log says why", status: 503
            )
        case .notLoaded, .excluded, .corruptStore, .wrongKey, .notEncrypted, .database:
            self.init(.internalServerError, "Internal server error.")
        }
    }
}
