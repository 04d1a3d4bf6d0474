import RelataCore

/// An error as Parse's clients know it: a code, a message and the status of the reply.
public struct ParseError: Error, Hashable, Sendable {
    /// Parse's codes, by the names that its SDKs give them.
    public enum Code: Int, Hashable, Sendable {
        case otherCause = -1
        case internalServerError = 1
        case objectNotFound = 101
        case invalidQuery = 102
        case invalidClassName = 103
        case missingObjectID = 104
        case invalidKeyName = 105
        case invalidPointer = 106
        case invalidJSON = 107
        case commandUnavailable = 108
        case incorrectType = 111
        case objectTooLarge = 116
        case operationForbidden = 119
        case invalidNestedKey = 121
        case invalidFileName = 122
        case invalidACL = 123
        case timeout = 124
        case invalidEmailAddress = 125
        case fileSaveError = 130
        case missingRequiredField = 135
        case changedImmutableField = 136
        case duplicateValue = 137
        case invalidRoleName = 139
        case scriptFailed = 141
        case validationError = 142
        case fileDeleteError = 153
        case requestLimitExceeded = 155
        case duplicateRequest = 159
        case usernameMissing = 200
        case passwordMissing = 201
        case usernameTaken = 202
        case emailTaken = 203
        case emailMissing = 204
        case emailNotFound = 205
        case sessionMissing = 206
        case accountAlreadyLinked = 208
        case invalidSessionToken = 209
        case unsupportedService = 252
        case classNotEmpty = 255
    }

    /// What went wrong, for programs.
    public let code: Code
    /// What went wrong, for people.
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

    /// What a request gets whose reply would be too large.
    static func replyTooLarge(_ limit: Int) -> ParseError {
        ParseError(
            .objectTooLarge,
            "the reply would be larger than \(limit) bytes: ask for fewer objects (limit), fields (keys) or includes")
    }

    /// What a request without the keys it needs gets.
    public static let unauthorized = ParseError(.operationForbidden, "unauthorized", status: 403)

    /// What a request gets that only the master key may send.
    static let masterKeyRequired = ParseError(
        .operationForbidden, "unauthorized: master key is required", status: 403)
}

extension ParseError: CustomStringConvertible {
    /// `101: Object not found.`
    public var description: String { "\(code.rawValue): \(message)" }
}

extension ParseError {
    /// What an error of the store means to a client. What it shouldn't know, such as SQL and paths, is left out: the log
    /// has it.
    public init(_ error: any Error) {
        if let error = error as? ParseError {
            self = error
            return
        }
        if error is CancellationError || (error as? RelataError)?.isInterruption == true {
            self.init(.timeout, "the request took too long, or nobody waits for it any more", status: 503)
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
        // Two who sign up at once may both have found the name free.
        case .uniqueViolation(InternalClasses.user, ["_usernameKey"]): self = .usernameIsTaken
        case .uniqueViolation(InternalClasses.user, ["_emailKey"]): self = .emailIsTaken
        case .uniqueViolation(InternalClasses.user, ["_anonymousKey"]): self = .providerIsTaken
        case .uniqueViolation:
            self.init(
                .duplicateValue, "A duplicate value for a field with unique values was provided: \(error.description)")
        case .deleteDenied: self.init(.operationForbidden, error.description)
        case .requiredReference, .validation: self.init(.validationError, error.description)
        case .conflict: self.init(.operationForbidden, error.description, status: 409)
        case .invalidUse(let message): self.init(.invalidQuery, message)
        case .predicateFormat: self.init(.invalidQuery, error.description)
        case .schemaMismatch(let problems):
            // What is to be done about it is said to whoever writes models: a client has none.
            let facts = problems.map { problem in
                let fact = problem.message.split(separator: ": ", maxSplits: 1).first.map(String.init)
                return "\(problem.entity)\(problem.property.map { ".\($0)" } ?? ""): \(fact ?? problem.message)"
            }
            self.init(.classNotEmpty, "the classes can't be so: \(facts.joined(separator: "; "))")
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
