import RelataCore

/// Text laid out for a terminal.
extension DisplayText {
    /// The text with spaces after it, or before it, so that it takes the given number of columns.
    static func padded(_ text: String, to width: Int, isRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, width - self.width(text)))
        return isRight ? spaces + text : text + spaces
    }

    /// Wraps words into lines of at most the given number of columns, with the following lines indented.
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
