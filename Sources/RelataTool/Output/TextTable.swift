import RelataCore

/// Rows under headings, as a terminal shows them.
struct TextTable {
    /// One cell of a row.
    struct Cell {
        let text: String
        /// Whether the cell is a number, which is aligned to the right.
        let isNumber: Bool

        init(_ text: String, isNumber: Bool = false) {
            self.text = text
            self.isNumber = isNumber
        }
    }

    let headings: [String]
    let rows: [[Cell]]

    /// The lines: headings, a rule, the rows. Long texts are cut, as a table is for looking, not for data.
    func lines(cellWidth: Int = 48) -> [String] {
        let texts = rows.map { $0.map { DisplayText.shortened($0.text, to: cellWidth) } }
        let widths = headings.indices.map { column in
            max(DisplayText.width(headings[column]), texts.map { DisplayText.width($0[column]) }.max() ?? 0)
        }
        func line(_ cells: [String], _ isRight: (Int) -> Bool) -> String {
            let padded = cells.enumerated().map { DisplayText.padded($1, to: widths[$0], isRight: isRight($0)) }
            let line = padded.joined(separator: "  ")
            return String(line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)])
        }
        let isNumeric = headings.indices.map { column in
            rows.contains { $0[column].isNumber } && rows.allSatisfy { $0[column].isNumber || $0[column].text.isEmpty }
        }
        let body = zip(rows, texts).map { row, texts in line(texts) { row[$0].isNumber } }
        return [
            line(headings) { isNumeric[$0] }, widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "),
        ]
            + body
    }
}
