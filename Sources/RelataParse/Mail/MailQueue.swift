import Foundation
import Synchronization

/// The queue of mails. The recipients are looked up here, after the reply, so that neither the reply nor its time
/// reveals whether an address is known.
final class MailQueue: Sendable {
    /// Looks up the mail to send; `nil` for none.
    typealias Job = @Sendable () async throws -> Mail?

    /// A mail that waits for its turn.
    private struct Waiting {
        let job: Job
        /// How often it couldn't be sent.
        var failures = 0
    }

    private struct State {
        var waiting: [Waiting] = []
        /// How many wait for a while before they are tried again.
        var resting = 0
        /// Whether somebody takes what waits, one after another.
        var isBusy = false
        /// How many mails are being sent.
        var sending = 0
        var forRoom: [CheckedContinuation<Void, Never>] = []
        /// Whether the mail server was out of reach when it was needed last.
        var isFailing = false
    }

    /// How many wait at most.
    static let maximumWaiting = 1000

    private let sender: any MailSender
    private let retries: [Double]
    private let width: Int
    private let report: @Sendable (any Error) -> Void
    private let state = Mutex(State())

    init(_ options: MailOptions) {
        sender = options.sender
        retries = options.retries
        width = options.width
        report = options.report ?? { _ in }
    }

    /// Whether the mail server was out of reach when it was needed last.
    var isFailing: Bool { state.withLock { $0.isFailing } }

    /// - Returns: Whether this is news.
    @discardableResult
    func note(isFailing: Bool) -> Bool {
        state.withLock { state in
            defer { state.isFailing = isFailing }
            return state.isFailing != isFailing
        }
    }

    /// Adds a mail.
    ///
    /// - Throws: ``ParseError`` 155 if too many mails wait.
    func add(_ job: @escaping Job) throws(ParseError) {
        let isFull = state.withLock { $0.waiting.count + $0.resting >= Self.maximumWaiting }
        if isFull {
            throw ParseError(
                .requestLimitExceeded, "too many mails are to be sent at the moment: try again", status: 503)
        }
        enqueue(Waiting(job: job))
    }

    private func enqueue(_ waiting: Waiting) {
        let isFirst = state.withLock { state in
            state.waiting.append(waiting)
            if waiting.failures > 0 { state.resting -= 1 }
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { Task { await run() } }
    }

    private func run() async {
        while let next = next() {
            do {
                guard let mail = try await next.job() else { continue }
                await waitForRoom()
                Task {
                    await send(mail, next.failures)
                    leave()
                }
            } catch {
                report(error)
            }
        }
    }

    private func next() -> Waiting? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.sending < width else {
                    state.forRoom.append(continuation)
                    return false
                }
                state.sending += 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.forRoom.isEmpty else { return state.forRoom.removeFirst() }
            state.sending -= 1
            return nil
        }
        next?.resume()
    }

    private func send(_ mail: Mail, _ failures: Int) async {
        do {
            try await sender.send(mail)
            note(isFailing: false)
        } catch {
            // A server that refuses one mail takes others.
            let isTemporary = (error as? MailError)?.isTemporary ?? true
            if isTemporary { note(isFailing: true) }
            guard failures < retries.count, isTemporary else { return report(error) }
            // Others don't wait for one whose server is away.
            state.withLock { $0.resting += 1 }
            Task {
                try? await Task.sleep(for: .seconds(retries[failures]))
                enqueue(Waiting(job: { mail }, failures: failures + 1))
            }
        }
    }
}
