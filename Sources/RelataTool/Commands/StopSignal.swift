import Foundation
import Synchronization

/// Notices that the process is asked to end, by Ctrl-C or SIGTERM, and lets it finish what it does.
enum StopSignal {
    private static let received = Atomic(false)

    /// From now on the signals only set ``isReceived``.
    static func listen() {
        // It must be there before a signal asks for it.
        received.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] { signal(number) { _ in StopSignal.received.store(true, ordering: .relaxed) } }
    }

    static var isReceived: Bool { received.load(ordering: .relaxed) }
}
