/// Text in a diagram: cut, measured and escaped.
enum DiagramText {
    /// How wide a text is, in characters of a font whose characters are equally wide. East Asian characters and emoji
    /// take two.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 || (0x2000..<0x2E80).contains($1.value) ? 1 : 2) }
    }

    /// The text in at most so many characters, with `…` where something is left out, and without control characters.
    static func cut(_ text: String, to limit: Int) -> String {
        var kept = ""
        var used = 0
        for character in text {
            let shown =
                character.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "\u{FFFD}" : character
            let next = width(String(shown))
            if used + next > limit - 1, kept.count < text.count - 1 || used + next > limit { return kept + "…" }
            kept.append(shown)
            used += next
        }
        return kept
    }

    /// The text as XML holds it. Characters that XML can't hold become `U+FFFD`.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case "\t", "\n", "\r", " "...: result.append(isXML(scalar) ? scalar : "\u{FFFD}")
            default: result.append("\u{FFFD}")
            }
        }
        return String(result)
    }

    private static func isXML(_ scalar: Unicode.Scalar) -> Bool { scalar.value != 0xFFFE && scalar.value != 0xFFFF }
}
