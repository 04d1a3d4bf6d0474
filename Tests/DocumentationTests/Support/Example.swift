import DocumentationSupport
import Foundation
import Synchronization
import Testing

/// Runs the code of an example in its own folder.
///
/// `temporary("name")` is a path in that folder. The code's output is collected, and ``printed(in:sourceLocation:)``
/// compares it with the guides that show it.
func example(sourceLocation: SourceLocation = #_sourceLocation, body: () async throws -> Void) async throws {
    let run = try ExampleRun()
    try await ExampleRun.$current.withValue(run) { try await body() }
    let rest = run.take()
    #expect(rest.isEmpty, "no guide is named that shows \(rest)", sourceLocation: sourceLocation)
}

/// Compares the output since the last call with the guides that show it: in a block marked `text`, right after the
/// `swift` block whose code ends here.
///
/// With `RELATA_RECORD=1` in the environment the guides get the new output instead.
func printed(
    in documents: String..., file: String = #filePath, line: Int = #line,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let lines = ExampleRun.current?.take() ?? []
    let code = try SnippetFile(file).lines(before: line)
    for path in documents {
        try recording.withLock { _ in try compare(lines, with: path, after: code, sourceLocation) }
    }
}

private func compare(
    _ lines: [String], with path: String, after code: [String], _ sourceLocation: SourceLocation
) throws {
    let document = try MarkdownDocument(path)
    let pairs = zip(document.blocks, document.blocks.dropFirst())
    let pair = pairs.first { block, output in
        block.language == "swift" && output.language == "text"
            && code.suffix(block.lines.count).elementsEqual(block.lines.map(SnippetFile.shown))
    }
    guard let output = pair?.1 else {
        Issue.record("\(path) doesn't show this example and its output", sourceLocation: sourceLocation)
        return
    }
    if PackageFiles.isRecording { return try document.replace(output, with: lines) }
    let text = lines.joined(separator: "\n")
    #expect(
        output.lines == lines, "\(path):\(output.line) differs; printed is:\n\(text)", sourceLocation: sourceLocation)
}

/// Examples that run at the same time write one after another.
private let recording = Mutex(())

/// Replaces `print` in the examples: it has the same parameters, so it takes precedence.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    let text = items.map { "\($0)" }.joined(separator: separator)
    guard let run = ExampleRun.current else { return Swift.print(text, terminator: terminator) }
    run.append(text)
}

/// A file of that name in the example's own folder. The guides show only the name.
func temporary(_ name: String) -> String {
    let folder = ExampleRun.current?.folder ?? FileManager.default.temporaryDirectory
    return folder.appendingPathComponent(name).path
}

/// One run of an example: its folder, which is deleted with it, and its output.
final class ExampleRun: Sendable {
    @TaskLocal static var current: ExampleRun?

    let folder: URL
    private let output = Mutex<[String]>([])

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("relata-example-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The output since the last comparison.
    func take() -> [String] {
        output.withLock { output in
            defer { output = [] }
            return output
        }
    }

    func append(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        output.withLock { $0 += lines }
    }
}
