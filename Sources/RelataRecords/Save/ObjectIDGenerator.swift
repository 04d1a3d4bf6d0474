import Synchronization

/// Makes ids for new objects, as Parse does: ten letters and digits by chance.
///
/// Only one in a thousand is any of all there are. Each other comes a short way after the one before it, so that objects
/// that are made one after another are neighbours in the index of ids: by chance alone each would be at a place of its
/// own, and a page of the file be read and written for each.
package final class ObjectIDGenerator: Sendable {
    /// In the order of their codes: the order of ids is that of their numbers.
    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// How many ids there are: 62 to the power of 10.
    private static let count: UInt64 = 839_299_365_868_340_224
    /// How far the next may be: 62 to the power of 6. Who knows some ids can't try all that may be the next, and among
    /// millions of objects there are few in between.
    private static let distance: UInt64 = 56_800_235_584
    /// How many ids follow each other. Whoever knows two ids learns how many lie between them only
    /// within these.
    package static let runLength = 1000

    private struct State {
        /// The last id.
        var last: UInt64 = 0
        /// What decides how far it is from each to the next: nobody is told, and it can't be found out from ids.
        var secret: (UInt64, UInt64) = (0, 0)
        /// How many ids follow before one is any of all again.
        var rest = 0

        mutating func next() -> UInt64 {
            if rest == 0 {
                rest = ObjectIDGenerator.runLength
                last = .random(in: 0..<ObjectIDGenerator.count)
                secret = (.random(in: 0...UInt64.max), .random(in: 0...UInt64.max))
            } else {
                // The system would be asked for each random number anew. Swift's hash (SipHash) can't be turned round.
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
    package func next() -> String {
        var rest = state.withLock { $0.next() }
        return String(unsafeUninitializedCapacity: 10) { buffer in
            for index in (0..<10).reversed() {
                buffer[index] = Self.characters[Int(rest % 62)]
                rest /= 62
            }
            return 10
        }
    }
}
