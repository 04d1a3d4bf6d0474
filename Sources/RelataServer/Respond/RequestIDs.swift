#if Server
import Synchronization

/// Ids for requests: short, and different from those of any other run.
final class RequestIDs: Sendable {
    private let run: String
    private let count = Atomic<UInt64>(0)

    init() {
        let text = String(UInt32.random(in: 0...UInt32.max), radix: 16)
        run = String(repeating: "0", count: 8 - text.count) + text + "-"
    }

    func next() -> String {
        run + String(count.add(1, ordering: .relaxed).newValue, radix: 16)
    }
}
#endif
