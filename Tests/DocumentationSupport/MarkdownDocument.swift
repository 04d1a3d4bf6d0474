import Foundation

/// A Markdown file of the package, and the code blocks in it.
public struct MarkdownDocument: Sendable, CustomStringConvertible {
    /// The file's path from the package's folder: `Documentation/Queries.md`.
    public let path: String
    /// The file's text.
    public let text: String
    /// The fenced blocks, in order.
    public let blocks: [Block]

    /// A fenced block.
    public struct Block: Sendable {
        /// The info string after the opening fence: `swift`, `text`, `sh`, `swift package`, ….
        public let language: String
        /// The number of the first line within the fence, counted from 1.
        public let line: Int
        /// The text between the fences.
        public let lines: [String]
    }

    /// Reads a file of the package.
    public init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
        blocks = Self.blocks(of: text)
    }

    /// The blocks of a language.
    public func blocks(_ language: String) -> [Block] { blocks.filter { $0.language == language } }

    /// Writes the file again with other lines in a block.
    public func replace(_ block: Block, with lines: [String]) throws {
        var all = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        all.replaceSubrange(block.line - 1..<block.line - 1 + block.lines.count, with: lines)
        let file = PackageFiles.root.appendingPathComponent(path)
        try all.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    }

    /// The path.
    public var description: String { path }

    private static func blocks(of text: String) -> [Block] {
        var blocks: [Block] = []
        var open: (language: String, line: Int, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let fence = line.trimmingPrefix(while: { $0 == " " }).wholeMatch(of: /```(.*)/) {
                if let block = open {
                    blocks.append(Block(language: block.language, line: block.line, lines: block.lines))
                    open = nil
                } else {
                    open = (fence.1.trimmingCharacters(in: .whitespaces), index + 2, [])
                }
            } else {
                open?.lines.append(String(line))
            }
        }
        return blocks
    }
}
