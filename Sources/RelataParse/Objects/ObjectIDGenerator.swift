/// Makes ids for new objects, as Parse does: ten letters and digits by chance.
enum ObjectIDGenerator {
    private static let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    static func next() -> String {
        var generator = SystemRandomNumberGenerator()
        return String(unsafeUninitializedCapacity: 10) { buffer in
            for index in 0..<10 {
                buffer[index] = characters[Int.random(in: 0..<characters.count, using: &generator)]
            }
            return 10
        }
    }
}
