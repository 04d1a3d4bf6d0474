/// The queue of mails. The recipients are looked up here, after the reply, so that neither the reply nor its time
/// reveals whether an address is known.
final class MailQueue: Sendable {
    /// How many wait at most.
    static let maximumWaiting = 1000

    private let queue: DeliveryQueue<Mail>

    init(_ options: MailOptions) {
        let sender = options.sender
        queue = DeliveryQueue(
            .init(
                maximumWaiting: Self.maximumWaiting, width: options.width, retries: options.retries,
                report: options.report ?? { _ in }),
            isTemporary: { ($0 as? MailError)?.isTemporary ?? true }, deliver: { try await sender.send($0) })
    }

    /// Adds a mail.
    ///
    /// - Parameter job: Looks up the mail to send; `nil` for none.
    /// - Throws: ``ParseError`` 155 if too many mails wait.
    func add(_ job: @escaping DeliveryQueue<Mail>.Job) throws(ParseError) {
        guard queue.add(job) else {
            throw ParseError(
                .requestLimitExceeded, "too many mails are to be sent at the moment: try again", status: 503)
        }
    }
}
