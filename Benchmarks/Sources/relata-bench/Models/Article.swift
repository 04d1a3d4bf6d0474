import Relata

/// A text of some words, which can be searched.
@Model struct Article {
    let id: Int
    var title: String
    var body: String
    #Search<Article>([\.title, \.body])
}

extension Article {
    /// The same articles, made on demand. Some of the words are in one of ten articles, others in one of a hundred
    /// thousand.
    static func sequence(_ count: Int) -> some Sequence<Article> {
        (1...count).lazy.map { number in
            var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
            func word() -> String {
                state ^= state >> 12
                state ^= state << 25
                state ^= state >> 27
                let share = Double(state &* 0x2545_F491_4F6C_DD1D >> 11) / 9_007_199_254_740_992
                return "w\(Int(share * share * share * 50_000))"
            }
            func text(_ count: Int) -> String { (0..<count).map { _ in word() }.joined(separator: " ") }
            return Article(id: number, title: text(3), body: text(15))
        }
    }
}
