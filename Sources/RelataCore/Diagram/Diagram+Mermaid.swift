extension Diagram {
    /// The picture as an entity-relationship diagram in Mermaid's language, which Markdown pages of many sites draw.
    ///
    /// Names that Mermaid's grammar doesn't allow are written in a similar form, with the exact name as the entity's
    /// alias or the attribute's comment.
    public var mermaid: String {
        var taken: Set<String> = []
        let names = boxes.map { Self.word($0.name, &taken) }
        var lines = ["erDiagram"]
        for (box, name) in zip(boxes, names) {
            let title = name == box.name ? name : "\(name)[\"\(Self.quoted(box.name))\"]"
            let rows = box.rows.filter { !$0.isRelationship }
            guard !rows.isEmpty else {
                lines.append("    \(title)")
                continue
            }
            lines.append("    \(title) {")
            for row in rows {
                var others: Set<String> = []
                let word = Self.word(row.name, &others)
                let comments = [word == row.name ? nil : row.name, row.detail.hasSuffix("?") ? "optional" : nil]
                    .compactMap(\.self)
                let type = row.detail.hasSuffix("?") ? String(row.detail.dropLast()) : row.detail
                lines.append(
                    "        \(type) \(word)" + (row.isKey ? " PK" : "")
                        + (comments.isEmpty ? "" : " \"\(Self.quoted(comments.joined(separator: ", ")))\""))
            }
            if box.hiddenRows > 0 { lines.append("        more attributes \"\(box.hiddenRows) are left out\"") }
            lines.append("    }")
        }
        for line in self.lines {
            let labels = [line.source.label, line.target.label].filter { !$0.isEmpty }.joined(separator: " / ")
            let left = line.isManyToMany ? "}o" : line.isRequired ? "||" : "|o"
            let right = line.isManyToMany || line.source.head != .one ? "o{" : "o|"
            lines.append(
                "    \(names[line.target.box]) \(left)--\(right) \(names[line.source.box]) : "
                    + "\"\(Self.quoted(labels))\"")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A name of letters, digits and underscores that no other has yet.
    private static func word(_ name: String, _ taken: inout Set<String>) -> String {
        var word = String(name.unicodeScalars.map { isWord($0) ? Character($0) : "_" })
        if word.first.map({ $0.isLetter }) != true { word = "_" + word }
        var unique = word
        var number = 2
        while !taken.insert(unique).inserted {
            unique = "\(word)_\(number)"
            number += 1
        }
        return unique
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_")
    }

    private static func quoted(_ text: String) -> String {
        String(text.map { $0 == "\"" ? "'" : $0.isNewline ? " " : $0 })
    }
}
