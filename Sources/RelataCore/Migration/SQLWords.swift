/// Looks for words in the text of a `CREATE TABLE`, outside quotes and comments.
package enum SQLWords {
    /// Constraints that a description of a table doesn't hold, and that would be lost if the table were made anew.
    static func obstacles(in sql: String) -> [String] {
        let found = words(in: sql)
        let lost = ["CHECK", "COLLATE", "GENERATED", "STRICT", "WITHOUT", "CONFLICT"]
        var result = lost.filter(found.contains)
        if found.contains("UPDATE") { result.append("ON UPDATE") }
        return result
    }

    /// The words, in upper case.
    package static func words(in sql: String) -> Set<String> {
        var words: Set<String> = []
        var word = ""
        var rest = Substring(sql)
        while let character = rest.first {
            if character.isLetter || character == "_" || (character.isNumber && !word.isEmpty) {
                word.append(character)
                rest.removeFirst()
                continue
            }
            if !word.isEmpty { words.insert(word.uppercased()) }
            word = ""
            switch character {
            case "'", "\"", "`": rest = skip(rest.dropFirst(), to: String(character))
            case "[": rest = skip(rest.dropFirst(), to: "]")
            case "-" where rest.hasPrefix("--"): rest = skip(rest, to: "\n")
            case "/" where rest.hasPrefix("/*"): rest = skip(rest.dropFirst(2), to: "*/")
            default: rest.removeFirst()
            }
        }
        if !word.isEmpty { words.insert(word.uppercased()) }
        return words
    }

    private static func skip(_ text: Substring, to end: String) -> Substring {
        guard let range = text.firstRange(of: end) else { return "" }
        return text[range.upperBound...]
    }
}
