extension String {
    /// The name after the article that it has in a sentence: `an Album`, `a User`.
    ///
    /// Names are any words, so the letters decide: a "u" or "eu" pronounced as in "user" isn't a vowel.
    package var withArticle: String {
        let isVowel = { (letter: Character?) in letter.map { "aeiou".contains($0) } ?? false }
        let letters = Array(lowercased().drop { !$0.isLetter }.prefix(3))
        let (second, third) = (letters.dropFirst().first, letters.dropFirst(2).first)
        let begins =
            switch letters.first {
            case "u": second != "u" && (isVowel(second) || third == nil || !isVowel(third))
            case "e": second != "u"
            case "o": !(second == "n" && third == "e")
            case let first: isVowel(first)
            }
        return (begins ? "an " : "a ") + self
    }
}
