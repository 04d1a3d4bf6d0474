/// A mail to one person.
public struct Mail: Hashable, Sendable {
    /// The recipient: `mei@example.org`.
    public var address: String
    /// The subject.
    public var subject: String
    /// The content, as plain text.
    public var text: String

    /// A mail.
    public init(to address: String, subject: String, text: String) {
        self.address = address
        self.subject = subject
        self.text = text
    }
}

/// Sends mails: by SMTP, by the interface of a service, or to a test.
public protocol MailSender: Sendable {
    /// Sends a mail.
    ///
    /// - Throws: ``MailError`` if the mail wasn't accepted, or any other error.
    func send(_ mail: Mail) async throws

    /// Checks whether mails would be accepted, without sending one: for the health of the server. By default, it isn't
    /// known, and nothing is done.
    ///
    /// - Throws: The reason why they wouldn't.
    func probe() async throws
}

extension MailSender {
    /// Does nothing. Throws nothing.
    public func probe() async throws {}
}

/// Sends mails by a closure.
///
/// ```swift
/// let sender = MailClosure { mail in print(mail.text) }
/// ```
public struct MailClosure: MailSender {
    private let body: @Sendable (Mail) async throws -> Void

    /// A sender that calls a closure for each mail.
    public init(_ body: @escaping @Sendable (Mail) async throws -> Void) { self.body = body }

    /// Calls the closure.
    ///
    /// - Throws: The errors of the closure.
    public func send(_ mail: Mail) async throws { try await body(mail) }
}

/// The reason why a mail wasn't sent.
public struct MailError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error, for people.
    public let description: String
    /// Whether the same mail may be accepted later.
    public let isTemporary: Bool

    /// Creates an error.
    public init(_ description: String, isTemporary: Bool = false) {
        self.description = description
        self.isTemporary = isTemporary
    }
}
