/// Words of a search box: any of them is enough. Words in quotes must occur as a phrase, and words after a hyphen must
/// not: `"science fiction" space -war`.
///
/// A word is a sequence of letters and digits. Words match as a whole, without stemming.
package struct TextWords: Sendable {
    private var words: Set<String> = []
    private var phrases: [[String]] = []
    private var excluded: Set<String> = []
    private let options: TextOptions

    /// Parses the searched text.
    package init(_ text: String, options: TextOptions = []) {
        self.options = options
        for (index, part) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            guard index.isMultiple(of: 2) else {
                let phrase = Self.words(of: String(part), options)
                if !phrase.isEmpty { phrases.append(phrase) }
                continue
            }
            for term in part.split(whereSeparator: \.isWhitespace) {
                let found = Self.words(of: String(term), options)
                if term.hasPrefix("-") { excluded.formUnion(found) } else { words.formUnion(found) }
            }
        }
    }

    /// A full-text search that finds at least the same objects; `nil` if it isn't possible.
    package var search: SearchText? {
        let search =
            phrases.isEmpty
            ? SearchText(anyOf: Array(words)) : SearchText(allOf: phrases.map { $0.joined(separator: " ") })
        return search.isEmpty || search.isCut ? nil : search
    }

    /// Whether they are found in a text.
    package func areFound(in text: String) -> Bool { count(in: text) > 0 }

    /// The number of words and phrases found in a text; 0 if an excluded word occurs, or a phrase doesn't.
    package func count(in text: String) -> Int {
        let found = Self.words(of: text, options)
        guard !found.contains(where: excluded.contains) else { return 0 }
        var count = found.count(where: words.contains)
        for phrase in phrases {
            let times = found.indices.count(where: { found[$0...].starts(with: phrase) })
            if times == 0 { return 0 }
            count += times
        }
        return count
    }

    private static func words(of text: String, _ options: TextOptions) -> [String] {
        TextFolding.fold(text, options).split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}
