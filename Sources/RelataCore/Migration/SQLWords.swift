/// Looks for words in the text of a `CREATE TABLE`, outside quotes and comments.
package enum SQLWords {
    /// Constraints that a description of a table doesn't have, and that a rebuilt table would lose.
    static func obstacles(in sql: String) -> [String] {
        let found = words(in: sql)
        let lost = ["CHECK", "COLLATE", "GENERATED", "STRICT", "WITHOUT", "CONFLICT"]
        var result = lost.filter(found.contains)
        if found.contains("UPDATE") { result.append("ON UPDATE") }
        return result
    }

    /// The words, in upper case.
    package static func words(in sql: String) -> Set<String> { Set(read(Substring(sql)).words.map { $0.uppercased() }) }

    /// The words, and the quoted names: all possible names of columns.
    static func names(in sql: Substring) -> Set<FoldedName> {
        let found = read(sql)
        return Set((found.words + found.quoted).map { $0.foldedName })
    }

    private static func read(_ sql: Substring) -> (words: [String], quoted: [String]) {
        var words: [String] = []
        var quoted: [String] = []
        var word = ""
        var rest = sql
        while let character = rest.first {
            if character.isLetter || character == "_" || (character.isNumber && !word.isEmpty) {
                word.append(character)
                rest.removeFirst()
                continue
            }
            if !word.isEmpty { words.append(word) }
            word = ""
            switch character {
            case "'": rest = skip(rest.dropFirst(), to: "'")
            case "\"", "`", "[":
                let inside = rest.dropFirst()
                rest = skip(inside, to: character == "[" ? "]" : String(character))
                quoted.append(String(inside[..<rest.startIndex].dropLast()))
            case "-" where rest.hasPrefix("--"): rest = skip(rest, to: "\n")
            case "/" where rest.hasPrefix("/*"): rest = skip(rest.dropFirst(2), to: "*/")
            default: rest.removeFirst()
            }
        }
        if !word.isEmpty { words.append(word) }
        return (words, quoted)
    }

    private static func skip(_ text: Substring, to end: String) -> Substring {
        guard let range = text.firstRange(of: end) else { return text[text.endIndex...] }
        return text[range.upperBound...]
    }
}
