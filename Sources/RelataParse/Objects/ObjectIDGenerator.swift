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

    /// The last one, and what decides how far it is to the next: nobody is told.
    private var state: (last: UInt64, secret: UInt64)?

    mutating func next() -> String {
        let number: UInt64
        if let (last, secret) = state {
            // A step of SplitMix64: the system would be asked for each random number anew.
            let next = secret &+ 0x9E37_79B9_7F4A_7C15
            var mixed = (next ^ next >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            number = (last + 1 + (mixed ^ mixed >> 31) % Self.distance) % Self.count
            state = (number, next)
        } else {
            number = .random(in: 0..<Self.count)
            state = (number, .random(in: 0...UInt64.max))
        }
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
