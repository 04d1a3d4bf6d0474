import Synchronization

/// The queue of mails. The recipients are looked up here, after the reply, so that neither the reply nor its time
/// reveals whether an address is known.
final class MailQueue: Sendable {
    /// The maximum number of waiting mails.
    static let maximumWaiting = 1000

    /// Whether the mail server was out of reach when it was needed last.
    private final class Reach: Sendable {
        private let failing = Mutex(false)
        var isFailing: Bool { failing.withLock { $0 } }

        func note(isFailing: Bool) -> Bool {
            failing.withLock { failing in
                defer { failing = isFailing }
                return failing != isFailing
            }
        }
    }

    private let queue: DeliveryQueue<Mail>
    private let reach = Reach()

    /// - Parameters:
    ///   - lookUpLimit: The time limit for finding the recipient of a mail, which may involve the app's code.
    ///   - sendingLimit: The longest time for sending one.
    init(_ options: MailOptions, lookUpLimit: Duration = .seconds(10), sendingLimit: Duration = .seconds(120)) {
        let sender = options.sender
        queue = DeliveryQueue(
            .init(
                maximumWaiting: Self.maximumWaiting, width: options.width, retries: options.retries,
                preparingLimit: lookUpLimit, deliveryLimit: sendingLimit,
                report: options.report ?? { _ in }),
            isTemporary: Self.isTemporary,
            deliver: { [reach] mail in
                do {
                    try await sender.send(mail)
                    _ = reach.note(isFailing: false)
                } catch {
                    // A server that refuses one mail accepts others.
                    if Self.isTemporary(error) { _ = reach.note(isFailing: true) }
                    throw error
                }
            })
    }

    /// Whether the mail server was out of reach when it was needed last.
    var isFailing: Bool { reach.isFailing }

    private static func isTemporary(_ error: any Error) -> Bool { (error as? MailError)?.isTemporary ?? true }

    /// - Returns: Whether the state has changed.
    @discardableResult
    func note(isFailing: Bool) -> Bool { reach.note(isFailing: isFailing) }

    /// Adds a mail.
    ///
    /// - Parameter job: Looks up the mail to send; `nil` for none.
    /// - Throws: ``ParseError`` 155 if too many mails wait.
    func add(_ job: @escaping DeliveryQueue<Mail>.Job) throws(ParseError) {
        guard queue.add(job) else {
            throw ParseError(
                .requestLimitExceeded, "too many mails are waiting to be sent: try again", status: 503)
        }
    }
}
