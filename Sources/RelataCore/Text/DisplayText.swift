/// Text for display in characters of equal width: its number of columns, on one line, without control characters.
package enum DisplayText {
    /// The number of columns a text takes: East Asian characters and emoji take two.
    package static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        guard let value = character.unicodeScalars.first?.value else { return 0 }
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
        ]
        return value < 0x1100 ? 1 : wide.contains { $0.contains(value) } ? 2 : 1
    }

    /// The text on one line: control characters, which could move the cursor, become their pictures.
    package static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isControl($0.value) }) else { return text }
        var visible = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let picture: UInt32 =
                switch scalar.value {
                case 0..<0x20: 0x2400 + scalar.value
                case 0x7F: 0x2421
                case 0x80..<0xA0: 0xFFFD
                default: scalar.value
                }
            visible.append(Unicode.Scalar(picture) ?? "\u{FFFD}")
        }
        return String(visible)
    }

    private static func isControl(_ value: UInt32) -> Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }

    /// The text in at most that many columns, with `…` for an omitted part.
    package static func shortened(_ text: String, to limit: Int) -> String {
        let text = visible(text)
        guard width(text) > limit else { return text }
        var kept = ""
        var used = 1
        for character in text {
            used += width(character)
            if used > limit { break }
            kept.append(character)
        }
        return kept + "…"
    }
}
