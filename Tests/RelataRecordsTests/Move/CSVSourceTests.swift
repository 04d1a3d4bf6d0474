import Foundation
import TestSupport
import Testing

@testable import RelataRecords

/// The chunk size doesn't affect the parsed CSV.
@Suite struct CSVSourceTests {
    /// The rows of a file, good and bad, with their lines and fields.
    private func rows(_ text: String, pieceSize: Int) throws -> [String] {
        let file = try TemporaryFile("a.csv")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
        let source = try CSVSource(guessing: try DataInput(file.path, name: "a.csv", pieceSize: pieceSize))
        var rows = [source.names.joined(separator: "|")]
        while let result = try source.next() {
            switch result {
            case .row(let row):
                let fields = row.fields.map { field in
                    "\(field.form):" + String(decoding: source.input.bytes[field.start..<field.end], as: UTF8.self)
                }
                rows.append("\(row.line) " + fields.joined(separator: "|"))
            case .problem(let problem, _, let line): rows.append("\(line) \(problem.reason)")
            }
        }
        return rows
    }

    @Test(arguments: [
        "a,b\n1,2\n\"x\"y,2\n3,4\n",
        "\u{FEFF}a;b\r\n\"q\"\"q\";\"two\r\nlines\"\r\n\r\n\"bad\"oh;\"much\"\r\n1;2;3\r\n;\"\"",
        "a,b\n\"bad\" ,\"and long, with \"\"quotes\"\"\"\n1,\"open",
    ]) func theChunkSizeDoesNotMatter(_ text: String) throws {
        let whole = try rows(text, pieceSize: 1 << 18)
        for size in 1...text.utf8.count { #expect(try rows(text, pieceSize: size) == whole, "\(size) bytes") }
    }

    @Test func aBadRowDoesNotAffectOthers() throws {
        let found = try rows("a,b\n\"x\"yyyyyyyyyyyyyyyy,2\n3,4\n", pieceSize: 8)
        #expect(
            found == [
                "a|b", "2 has text after the closing quotation mark of a field", "3 bare:3|bare:4",
            ])
    }

    @Test func randomTextsAreReadTheSame() throws {
        let parts = ["\"", "\"", ",", "\n", "\r\n", "x", "yz", " ", "\r"]
        for _ in 0..<60 {
            let text = "a,b\n" + (0..<40).compactMap { _ in parts.randomElement() }.joined()
            let whole = try rows(text, pieceSize: 1 << 18)
            for size in [1, 2, 3, 5, 7, 11, 16, 23] {
                #expect(try rows(text, pieceSize: size) == whole, "\(size) bytes of \(text.debugDescription)")
            }
        }
    }
}
