import Foundation
import RelataCore
import RelataEngine
import Synchronization

/// The recently checked sessions, so that a session isn't written on each of its requests.
final class SessionRenewals: Sendable {
    private static let maximumCount = 10_000

    private let looked = Mutex<[String: Date]>([:])

    /// Whether a session wasn't checked for some time. If so, it counts as checked now.
    func isDue(_ digest: String, after seconds: Double, now: Date) -> Bool {
        looked.withLock { looked in
            if let last = looked[digest], now.timeIntervalSince(last) < seconds { return false }
            if looked.count >= Self.maximumCount { looked = [:] }
            looked[digest] = now
            return true
        }
    }
}

extension ParseService {
    /// Extends the request's session to the lifetime of a new one, if the options allow it. A session is written at
    /// most once a day, or once in a tenth of its lifetime if that is shorter.
    func renewSession(of call: ParseCall, _ report: @Sendable (any Error) -> Void) async {
        do {
            try await renewSession(of: call)
        } catch let error as ParseError where error.code == .invalidSessionToken {
            // The request ended the session.
        } catch {
            // The request has been answered already.
            report(error)
        }
    }

    private func renewSession(of call: ParseCall) async throws {
        guard options.extendsSessions, !call.caller.isReadOnly, let token = call.caller.sessionToken,
            let secrets = store.secrets
        else { return }
        let (lifetime, now) = (options.sessionLifetime, Date())
        let step = min(86_400, lifetime / 10)
        guard renewals.isDue(secrets.digestText(of: token), after: step, now: now) else { return }
        let session = try await store.read(as: Caller(sessionToken: token)) { $0.caller.session }
        guard let session, let end = session.end, end.timeIntervalSince(now) < lifetime - step else { return }
        try await store.write(as: .master) { transaction in
            guard let sessions = transaction.storedClasses[InternalClasses.session],
                let column = sessions.table.columnIndexes(of: "expiresAt").first
            else { return }
            let end = transaction.now.addingTimeInterval(lifetime)
            var object = ObjectWriter(transaction, sessions)
            do {
                try object.update(
                    KeyValue(.text(session.id)), try ObjectBody([:]), of: [],
                    hidden: [column: sessions.table.columns[column].type.stamp(end)])
            } catch let error as ParseError where error.code == .objectNotFound {
                // The session has ended in the meantime.
            }
        }
    }
}
