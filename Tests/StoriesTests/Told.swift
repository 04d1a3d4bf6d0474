import DocumentationSupport
import Foundation
import Relata
import RelataStories
import Synchronization
import Testing

/// A run of a story in its own folder, which is deleted with it.
final class Told: Sendable {
    let lines: [String]
    let folder: URL

    /// Runs a story, and compares it with its page in the guides.
    ///
    /// With `RELATA_RECORD=1` in the environment the page gets the new transcript instead.
    init(_ story: Story, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("relata-story-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let transcript = Transcript()
        try await story.run(in: folder) { transcript.append($0) }
        lines = transcript.lines

        let page = try MarkdownDocument("Documentation/Stories/\(story.name.capitalized).md")
        let block = try #require(
            page.blocks("text").first, "the page has no transcript", sourceLocation: sourceLocation)
        if PackageFiles.isRecording {
            try page.replace(block, with: lines)
        } else {
            #expect(
                block.lines == lines,
                "\(page.path):\(block.line) differs from what the story prints; RELATA_RECORD=1 writes it anew",
                sourceLocation: sourceLocation)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of a file that the story left.
    func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// The lines of one part of the story, without the heading and the indentation.
    func part(_ heading: String) throws -> [String] {
        let start = try #require(lines.firstIndex(of: heading), "no part “\(heading)”")
        return lines[(start + 1)...].prefix { !$0.isEmpty }.map { String($0.dropFirst(2)) }
    }

    private final class Transcript: Sendable {
        private let content = Mutex<[String]>([])
        var lines: [String] { content.withLock { $0 } }
        func append(_ line: String) { content.withLock { $0.append(line) } }
    }
}
