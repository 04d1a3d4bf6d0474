/// Makes ids for new objects, as Parse does: ten letters and digits by chance.
enum ObjectIDGenerator {
    private static let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// How many ids there are: 62 to the power of 10.
    private static let count: UInt64 = 839_299_365_868_340_224

    static func next() -> String {
        // All ten by one number: the system is asked for each number anew.
        var rest = UInt64.random(in: 0..<count)
        return String(unsafeUninitializedCapacity: 10) { buffer in
            for index in 0..<10 {
                buffer[index] = characters[Int(rest % 62)]
                rest /= 62
            }
            return 10
        }
    }
}
