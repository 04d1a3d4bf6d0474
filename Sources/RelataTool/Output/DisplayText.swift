import RelataCore

/// Text as a terminal shows it: in how many columns, on one line, without control characters.
enum DisplayText {
    /// How many columns a text takes: East Asian characters and emoji take two.
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        guard let value = character.unicodeScalars.first?.value else { return 0 }
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
        ]
        return value < 0x1100 ? 1 : wide.contains { $0.contains(value) } ? 2 : 1
    }

    /// The text on one line: control characters, which could move the cursor, become their pictures.
    static func visible(_ text: String) -> String {
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

    /// The text in at most so many columns, with `…` where something is left out.
    static func shortened(_ text: String, to limit: Int) -> String {
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

    /// The text with spaces after it, or before it, so that it takes so many columns.
    static func padded(_ text: String, to width: Int, isRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, width - self.width(text)))
        return isRight ? spaces + text : text + spaces
    }

    /// Words after one another on lines of at most so many columns, the following ones indented.
    static func wrapped(_ words: [String], indent: String, width limit: Int = 100) -> [String] {
        var lines: [String] = []
        var line = ""
        for (index, word) in words.enumerated() {
            let part = word + (index + 1 < words.count ? "," : "")
            if !line.isEmpty, width(indent + line) + 1 + width(part) > limit {
                lines.append(indent + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + part
        }
        return line.isEmpty ? lines : lines + [indent + line]
    }

    /// A number and its noun: `1 object`, `15,607 objects`.
    static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? singular : plural ?? singular + "s")"
    }

    /// A number with commas between thousands.
    static func grouped(_ number: Int) -> String {
        var text = String(number.magnitude)
        var place = text.count - 3
        while place > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: place))
            place -= 3
        }
        return (number < 0 ? "-" : "") + text
    }
}
