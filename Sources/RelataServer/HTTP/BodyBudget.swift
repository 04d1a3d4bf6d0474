#if Server
import Synchronization

/// A limit on the memory of all clients' requests together, or of their replies: each may be large, but not all at
/// once.
final class BodyBudget: Sendable {
    /// Bodies up to this size aren't counted.
    static let freeSize = 16 * 1024

    private let limit: Int
    private let taken = Atomic(0)

    init(limit: Int) { self.limit = limit }

    /// The bytes that are held now.
    var held: Int { taken.load(ordering: .relaxed) }

    /// The part of one of them. It is given back with the object.
    final class Share: Sendable {
        private let budget: BodyBudget
        private let size = Atomic(0)

        init(of budget: BodyBudget) { self.budget = budget }

        deinit { _ = budget.taken.subtract(size.load(ordering: .relaxed), ordering: .relaxed) }

        /// Reserves memory for a body that has grown; `false` if there isn't enough.
        func grow(to bytes: Int) -> Bool {
            let more = bytes - size.load(ordering: .relaxed)
            guard budget.taken.add(more, ordering: .relaxed).newValue <= budget.limit else {
                _ = budget.taken.subtract(more, ordering: .relaxed)
                return false
            }
            size.store(bytes, ordering: .relaxed)
            return true
        }
    }
}
#endif
