import DocumentationSupport
import Foundation
import Testing

/// The kinds of blocks that guides may have. `swift` is compiled and run, `text` is its output, `console` is run, and
/// `json` is sent to a server. `swift elsewhere` is code of another library.
private let languages: Set<String> = ["swift", "text", "console", "sh", "json", "swift package", "swift elsewhere"]

@Test(arguments: PackageFiles.documents)
func everySwiftExampleIsCompiledAndRun(path: String) throws {
    let document = try MarkdownDocument(path)
    for block in document.blocks("swift") {
        let lines = block.lines.map(SnippetFile.shown)
        let matches = SnippetFile.all.map { (file: $0, match: $0.match(lines)) }
        guard let best = matches.max(by: { $0.match.count < $1.match.count }), best.match.count < lines.count else {
            continue
        }
        let where_ = "\(path):\(block.line + best.match.count)"
        if best.match.count == 0 {
            Issue.record("\(where_): no file in Tests/DocumentationTests/Snippets has the line “\(lines[0])”")
        } else {
            let next = best.match.next.map { "\(best.file.path):\($0.number) has “\($0.text)”" }
            let other = next ?? "the snippet ends there"
            Issue.record("\(where_): “\(lines[best.match.count])” isn't run by the tests; \(other)")
        }
    }
}

@Test(arguments: PackageFiles.documents)
func everyBlockHasAKnownKind(path: String) throws {
    for block in try MarkdownDocument(path).blocks where !languages.contains(block.language) {
        Issue.record(
            "\(path):\(block.line - 1): mark the block with one of \(languages.sorted()), not “\(block.language)”")
    }
}

// A translation shows the same as its English page.
@Test(arguments: PackageFiles.documents.filter { !$0.contains("/Stories/") && !$0.hasSuffix(".zh-Hans.md") })
func everyOutputIsPrintedByAnExample(path: String) throws {
    let printed = try SnippetFile.all.reduce(0) { count, file in
        let text = try String(contentsOf: PackageFiles.root.appendingPathComponent(file.path), encoding: .utf8)
        return count + text.matches(of: /printed\(in: ([^)]*)\)/).filter { $0.output.1.contains("\"\(path)\"") }.count
    }
    let shown = try MarkdownDocument(path).blocks("text").count
    #expect(shown == printed, "\(path) shows \(shown) outputs, and \(printed) examples say that it shows theirs")
}

@Test(arguments: PackageFiles.documents)
func everyLinkLeadsToAFile(path: String) throws {
    let document = try MarkdownDocument(path)
    let folder = PackageFiles.root.appendingPathComponent(path).deletingLastPathComponent()
    for link in document.text.matches(of: /\]\(([^)\s]+)\)/).map(\.output.1) where !link.contains("://") {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let file =
            parts[0].isEmpty
            ? PackageFiles.root.appendingPathComponent(path) : folder.appendingPathComponent(String(parts[0]))
        guard FileManager.default.fileExists(atPath: file.path) else {
            Issue.record("\(path) links to \(link), which doesn't exist")
            continue
        }
        guard parts.count == 2 else { continue }
        let text = try String(contentsOf: file, encoding: .utf8)
        let anchors = text.matches(of: /(?m)^#+ (.*)$/).map { anchor($0.output.1) }
        #expect(anchors.contains(String(parts[1])), "\(path) links to \(link), and there is no such heading")
    }
}

/// The anchor of a heading in links: lower case, without punctuation, `-` for spaces.
private func anchor(_ heading: Substring) -> String {
    heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
        .replacing(" ", with: "-")
}

@Test(arguments: PackageFiles.documents.filter { $0.hasSuffix(".zh-Hans.md") })
func translationsMatchTheirOriginals(path: String) throws {
    let english = try MarkdownDocument(path.replacing(".zh-Hans.md", with: ".md"))
    let chinese = try MarkdownDocument(path)
    #expect(english.blocks.map(\.language) == chinese.blocks.map(\.language))
    #expect(english.blocks.map(\.lines) == chinese.blocks.map(\.lines))
    func count(_ document: MarkdownDocument, _ prefix: String) -> Int {
        document.text.split(separator: "\n").filter { $0.hasPrefix(prefix) }.count
    }
    for prefix in ["#", "|", "- "] {
        #expect(count(english, prefix) == count(chinese, prefix), "lines that begin with “\(prefix)” differ")
    }
}
