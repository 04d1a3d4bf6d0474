/// A word, literal or sign of a predicate's text.
struct PredicateToken: Equatable {
    enum Kind: Equatable {
        case name(String)
        /// A word that means something, in capitals, and as it was written.
        case keyword(String, String)
        case text(String)
        case number(String)
        /// `%` and a letter.
        case placeholder(Character)
        /// `@count` without its `@`.
        case figure(String)
        /// `$review` without its `$`.
        case variable(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// Its first column, counted from 1.
    let column: Int

    /// The token as a message names it.
    var spelled: String {
        switch kind {
        case .name(let name): name
        case .keyword(_, let written): written
        case .text(let text): "\"\(text)\""
        case .number(let number): number
        case .placeholder(let letter): "%\(letter)"
        case .figure(let name): "@\(name)"
        case .variable(let name): "$\(name)"
        case .symbol(let symbol): symbol
        case .end: "the end"
        }
    }
}

/// Cuts a predicate's text into tokens.
struct PredicateLexer {
    private let text: String
    private let characters: [Character]
    private var index = 0

    init(_ text: String) {
        self.text = text
        characters = Array(text)
    }

    static let keywords: Set<String> = [
        "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE",
        "MATCHES", "TRUEPREDICATE", "FALSEPREDICATE", "NIL", "NULL", "TRUE", "FALSE", "YES", "NO", "SELF",
    ]

    private static let symbols = [
        "&&", "||", "??", "==", "!=", "<>", "<=", "=<", ">=", "=>", "=", "<", ">", "!", "(", ")", "{", "}", "[", "]",
        ",",
        ".",
        "+", "-", "*", "/",
    ]

    mutating func tokens() throws(RelataError) -> [PredicateToken] {
        var tokens: [PredicateToken] = []
        while true {
            while let character = peek, character.isWhitespace { index += 1 }
            let column = index + 1
            guard let character = peek else {
                tokens.append(PredicateToken(kind: .end, column: column))
                return tokens
            }
            tokens.append(PredicateToken(kind: try kind(from: character), column: column))
        }
    }

    private var peek: Character? { index < characters.count ? characters[index] : nil }

    private func failure(_ column: Int, _ message: String) -> RelataError {
        .predicateFormat(text: text, column: column, message)
    }

    private mutating func kind(from character: Character) throws(RelataError) -> PredicateToken.Kind {
        let start = index
        switch character {
        case "'", "\"": return .text(try quoted(character))
        case "`":
            index += 1
            let name = take { $0 != "`" }
            guard peek == "`" else { throw failure(start + 1, "expected ` after the name that begins") }
            index += 1
            return .name(name)
        case "#":
            index += 1
            let name = word()
            guard !name.isEmpty else { throw failure(start + 1, "expected a name after #") }
            return .name(name)
        case "@":
            index += 1
            let name = word()
            guard !name.isEmpty else { throw failure(start + 1, "expected count, sum, min, max or avg after @") }
            return .figure(name)
        case "$":
            index += 1
            let name = word()
            guard !name.isEmpty else { throw failure(start + 1, "expected a name after $") }
            return .variable(name)
        case "%": return .placeholder(try placeholder())
        case _ where character.isASCII && character.isNumber: return .number(number())
        case _ where Self.isWordPart(character):
            let word = word()
            let keyword = word.uppercased()
            return Self.keywords.contains(keyword) ? .keyword(keyword, word) : .name(word)
        default:
            let rest = characters[index...]
            guard let symbol = Self.symbols.first(where: { rest.starts(with: $0) }) else {
                throw failure(
                    start + 1, "\(character) is unexpected here: put text in quotes, and unusual names in ` `")
            }
            index += symbol.count
            return .symbol(symbol)
        }
    }

    private static func isWordPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    private mutating func take(while condition: (Character) -> Bool) -> String {
        let start = index
        while let character = peek, condition(character) { index += 1 }
        return String(characters[start..<index])
    }

    private mutating func word() -> String { take(while: Self.isWordPart) }

    private mutating func number() -> String {
        let isDigit = { (character: Character) in character.isASCII && character.isNumber }
        var number = take(while: isDigit)
        if peek == ".", index + 1 < characters.count, isDigit(characters[index + 1]) {
            index += 1
            number += "." + take(while: isDigit)
        }
        if peek == "e" || peek == "E" {
            let start = index
            index += 1
            let sign = peek == "-" || peek == "+" ? String(characters[index]) : ""
            if !sign.isEmpty { index += 1 }
            let exponent = take(while: isDigit)
            if exponent.isEmpty { index = start } else { number += "e" + sign + exponent }
        }
        return number
    }

    private mutating func placeholder() throws(RelataError) -> Character {
        let start = index
        index += 1
        if peek == "l" { index += 1 }
        guard let letter = peek, "@Kdif".contains(letter) else {
            throw failure(start + 1, "expected %@, %K, %d, %i, %ld or %f")
        }
        index += 1
        return letter
    }

    /// Text in quotes. `\n`, `\t`, `\r`, `\\`, the quotes and `\u0041` are escapes; before any other character the
    /// backslash stays, because patterns are written with it.
    private mutating func quoted(_ quote: Character) throws(RelataError) -> String {
        let start = index
        index += 1
        var text = ""
        while let character = peek {
            index += 1
            if character == quote { return text }
            guard character == "\\", let next = peek else {
                text.append(character)
                continue
            }
            index += 1
            switch next {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "r": text.append("\r")
            case "\\", "'", "\"": text.append(next)
            case "u":
                let digits = String(characters[index...].prefix(4))
                guard digits.count == 4, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value)
                else {
                    throw failure(index - 1, "expected four hexadecimal digits of a character after \\u")
                }
                text.unicodeScalars.append(scalar)
                index += 4
            default:
                text.append("\\")
                text.append(next)
            }
        }
        throw failure(start + 1, "expected \(quote) after the text that begins")
    }
}
