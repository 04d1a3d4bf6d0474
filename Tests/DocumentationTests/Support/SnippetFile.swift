import DocumentationSupport
import Foundation

/// A file under `Snippets`: code that the tests compile and run, and whose parts the guides show.
struct SnippetFile {
    let path: String
    let lines: [Line]

    /// A line that guides may show.
    struct Line {
        /// Without indentation, and with `temporary("name")` as `"name"`.
        let text: String
        /// Counted from 1.
        let number: Int
    }

    /// All snippets.
    static let all: [SnippetFile] = PackageFiles.files(in: "Tests/DocumentationTests/Snippets", ".swift").compactMap {
        try? SnippetFile($0)
    }

    /// Reads a file. Lines between `// docs: hide` and `// docs: show` are left out, as if they weren't there.
    init(_ path: String) throws {
        self.path = path
        let file = path.hasPrefix("/") ? URL(fileURLWithPath: path) : PackageFiles.root.appendingPathComponent(path)
        let text = try String(contentsOf: file, encoding: .utf8)
        var lines: [Line] = []
        var isShown = true
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let shown = Self.shown(String(line))
            switch shown {
            case "// docs: hide": isShown = false
            case "// docs: show": isShown = true
            default: if isShown { lines.append(Line(text: shown, number: index + 1)) }
            }
        }
        self.lines = lines
    }

    /// The lines above one, without the empty ones that end them.
    func lines(before number: Int) -> [String] {
        let above = lines.prefix { $0.number < number }.map(\.text)
        return Array(above.reversed().drop(while: \.isEmpty).reversed())
    }

    /// A line in its compared form.
    static func shown(_ line: String) -> String {
        line.trimmingCharacters(in: .whitespaces).replacing(/temporary\((".*?")\)/) { $0.output.1 }
    }

    /// The number of consecutive lines that match a block, and the end of the match.
    func match(_ block: [String]) -> (count: Int, next: Line?) {
        var best: (count: Int, next: Line?) = (0, nil)
        for start in lines.indices where lines[start].text == block.first {
            let count = zip(block, lines[start...]).prefix { $0 == $1.text }.count
            if count > best.count {
                best = (count, start + count < lines.count ? lines[start + count] : nil)
            }
        }
        return best
    }
}
