import Synchronization

/// Makes ids for new objects, as Parse does: ten random letters and digits.
///
/// Only one in a thousand is completely random. Each other one is a short distance after the one before it, so that
/// consecutive objects are neighbours in the index of ids: with random ids, each would be on a different page of the
/// file, which is read and written for each.
package final class ObjectIDGenerator: Sendable {
    /// Sorted by their codes, so that ids sort like their numbers.
    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// The number of ids: 62 to the power of 10.
    private static let count: UInt64 = 839_299_365_868_340_224
    /// The maximum distance of the next: 62 to the power of 6. Knowing some ids doesn't allow trying all possible next
    /// ones, and even among millions of objects few are in between.
    private static let distance: UInt64 = 56_800_235_584
    /// The number of consecutive ids. Only two ids within such a run reveal the number of ids between them.
    package static let runLength = 1000

    private struct State {
        /// The last id.
        var last: UInt64 = 0
        /// The secret that determines the distances: it is never shown, and can't be derived from ids.
        var secret: (UInt64, UInt64) = (0, 0)
        /// The number of ids until the next random one.
        var rest = 0

        mutating func next() -> UInt64 {
            if rest == 0 {
                rest = ObjectIDGenerator.runLength
                last = .random(in: 0..<ObjectIDGenerator.count)
                secret = (.random(in: 0...UInt64.max), .random(in: 0...UInt64.max))
            } else {
                // Each random number would need a system call. Swift's hash (SipHash) can't be inverted.
                var step = Hasher()
                step.combine(secret.0)
                step.combine(secret.1)
                step.combine(rest)
                let distance = UInt64(bitPattern: Int64(step.finalize())) % ObjectIDGenerator.distance
                last = (last + 1 + distance) % ObjectIDGenerator.count
            }
            rest -= 1
            return last
        }
    }

    private let state = Mutex(State())

    /// Begins.
    package init() {}

    /// The next id.
    package func next() -> String { Self.text(state.withLock { $0.next() }) }

    /// An id that can't be guessed from others, for objects that anyone who knows the id may read.
    package func unrelated() -> String { Self.text(.random(in: 0..<Self.count)) }

    private static func text(_ number: UInt64) -> String {
        var rest = number
        return String(unsafeUninitializedCapacity: 10) { buffer in
            for index in (0..<10).reversed() {
                buffer[index] = Self.characters[Int(rest % 62)]
                rest /= 62
            }
            return 10
        }
    }
}
