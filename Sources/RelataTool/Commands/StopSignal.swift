import Foundation
import Synchronization

/// Detects a request to end the process, by Ctrl-C or SIGTERM, and lets it finish its work.
enum StopSignal {
    private static let received = Atomic(false)

    /// From now on the signals only set ``isReceived``.
    static func listen() {
        // It must exist before a signal needs it.
        received.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] { signal(number) { _ in StopSignal.received.store(true, ordering: .relaxed) } }
    }

    static var isReceived: Bool { received.load(ordering: .relaxed) }
}
