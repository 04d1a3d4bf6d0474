/// The written rows of an import, by their numbers: a bit for each, so that the rows of any file fit.
struct WrittenRows {
    private let first: Int
    private var words: [UInt64] = []

    /// - Parameter first: The number before the first row's.
    init(after first: Int) { self.first = first }

    mutating func insert(_ number: Int) {
        let (word, bit) = (number - first).quotientAndRemainder(dividingBy: 64)
        if word >= words.count { words += repeatElement(0, count: word + 1 - words.count) }
        words[word] |= 1 << UInt64(bit)
    }

    func contains(_ number: Int) -> Bool {
        let (word, bit) = (number - first).quotientAndRemainder(dividingBy: 64)
        return word < words.count && words[word] & 1 << UInt64(bit) != 0
    }
}
