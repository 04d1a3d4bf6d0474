/// A search as written into a search field: words that must all occur, `"phrases"`, `prefixes*`, `-exclusions`, and
/// `OR` between alternatives.
///
/// ```swift
/// let search = SearchText("love \"blue moon\" wait* -rain")
/// let songs = try await store.fetch(Song.search(search).limit(20))
/// for song in songs { print(search.snippet(of: song.lyrics ?? "")) }
/// ```
///
/// Every text is valid. A text without a word finds nothing. In very long texts, only the first hundred words count.
public struct SearchText: Hashable, Sendable, CustomStringConvertible {
    /// As it was written.
    public let text: String
    /// The required phrases: one of each clause.
    package private(set) var clauses: [[SearchPhrase]] = []
    /// The phrases that must not occur.
    package private(set) var excluded: [SearchPhrase] = []

    /// As it was written.
    public var description: String { text }

    /// Whether it has no words, so that nothing is found.
    public var isEmpty: Bool { clauses.isEmpty }

    /// The number of words that count.
    private static let limit = 100

    /// Parses the searched text.
    public init(_ text: String) {
        self.text = text
        var reader = Reader(text)
        var isAlternative = false
        var count = 0
        while count < Self.limit, let term = reader.next() {
            if term.isOr {
                isAlternative = !clauses.isEmpty
                continue
            }
            let words = Array(SearchWords.words(of: term.text).prefix(Self.limit - count))
            guard !words.isEmpty else { continue }
            count += words.count
            let phrase = SearchPhrase(words: words, isPrefix: term.isPrefix)
            if term.isExcluded {
                excluded.append(phrase)
            } else if isAlternative {
                clauses[clauses.count - 1].append(phrase)
            } else {
                clauses.append([phrase])
            }
            isAlternative = false
        }
    }

    /// A search for any of some words, or phrases.
    package init(anyOf words: [String]) {
        text = words.sorted().joined(separator: " OR ")
        let phrases = phrases(words.sorted())
        if !phrases.isEmpty { clauses = [phrases] }
    }

    /// A search for all of some phrases.
    package init(allOf words: [String]) {
        text = words.map { "\"\($0)\"" }.joined(separator: " ")
        clauses = phrases(words).map { [$0] }
    }

    /// The search without its exclusions.
    var withoutExclusions: SearchText {
        var search = self
        search.excluded = []
        return search
    }

    /// Whether a part of it can't be searched.
    package private(set) var isCut = false

    private mutating func phrases(_ texts: [String]) -> [SearchPhrase] {
        let words = texts.map { SearchWords.words(of: $0) }
        isCut = words.contains(where: \.isEmpty) || words.joined().count > Self.limit
        return words.filter { !$0.isEmpty }.map { SearchPhrase(words: $0, isPrefix: false) }
    }
}

/// Words that follow each other.
package struct SearchPhrase: Hashable, Sendable {
    /// The words, folded; at least one.
    package let words: [String]
    /// Whether the last word is the beginning of one.
    package let isPrefix: Bool
}

extension SearchText {
    /// A part between spaces, or in quotes.
    fileprivate struct Term {
        var text: String
        var isExcluded = false
        var isPrefix = false
        var isOr = false
    }

    /// Parses a search.
    fileprivate struct Reader {
        private var rest: Substring

        /// Including those that keyboards insert instead of the plain one.
        private static let quotes: Set<Character> = ["\"", "“", "”", "„", "‟", "«", "»", "＂"]

        init(_ text: String) { rest = text[...] }

        /// The next term; `nil` at the end.
        mutating func next() -> Term? {
            rest = rest.drop(while: \.isWhitespace)
            guard !rest.isEmpty else { return nil }
            var term = Term(text: "")
            while rest.first == "-" {
                rest.removeFirst()
                term.isExcluded = rest.first.map { !$0.isWhitespace } ?? false
            }
            if let first = rest.first, Self.quotes.contains(first) {
                rest.removeFirst()
                term.text = String(rest.prefix { !Self.quotes.contains($0) })
                rest = rest.dropFirst(term.text.count)
                if !rest.isEmpty { rest.removeFirst() }
                if rest.first == "*" { term.isPrefix = true }
                return term
            }
            term.text = String(rest.prefix { !$0.isWhitespace && !Self.quotes.contains($0) })
            rest = rest.dropFirst(term.text.count)
            term.isOr = !term.isExcluded && (term.text == "OR" || term.text == "|")
            term.isPrefix = term.text.hasSuffix("*")
            return term
        }
    }
}
