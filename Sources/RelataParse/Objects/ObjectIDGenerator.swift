/// Makes ids for the new objects of a transaction, as Parse does: ten letters and digits by chance.
///
/// Only the first is any of all there are. Each other comes a short way after the one before it, so that the objects of a
/// batch are neighbours in the index of ids: by chance alone each would be at a place of its own, and as many pages of the
/// file be written.
struct ObjectIDGenerator {
    /// In the order of their codes: the order of ids is that of their numbers.
    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// How many ids there are: 62 to the power of 10.
    private static let count: UInt64 = 839_299_365_868_340_224
    /// How far the next may be. Who knows an id shouldn't know another.
    private static let distance: UInt64 = 62 * 62 * 62 * 62

    private var last: UInt64?

    mutating func next() -> String {
        // All ten characters by one number: the system is asked for each number anew.
        let number =
            last.map { ($0 + .random(in: 1...Self.distance)) % Self.count } ?? .random(in: 0..<Self.count)
        last = number
        return String(unsafeUninitializedCapacity: 10) { buffer in
            var rest = number
            for index in (0..<10).reversed() {
                buffer[index] = Self.characters[Int(rest % 62)]
                rest /= 62
            }
            return 10
        }
    }
}
