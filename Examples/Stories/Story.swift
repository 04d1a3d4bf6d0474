import Foundation

/// A small program that shows what Relata does on a real database, told as a transcript.
///
/// ```swift
/// try await Story.bookshelf.run(in: folder) { print($0) }
/// ```
public struct Story: Sendable {
    /// Its name in `relata-stories`.
    public let name: String
    /// Its subject, in one line.
    public let summary: String
    private let tell: @Sendable (Transcript, URL) async throws -> Void

    init(_ name: String, _ summary: String, _ tell: @escaping @Sendable (Transcript, URL) async throws -> Void) {
        self.name = name
        self.summary = summary
        self.tell = tell
    }

    /// All stories, by name.
    public static let all: [Story] = [bookshelf, courses, gallery, notes, setlists]

    /// The story of that name, in any case; `nil` if there is none.
    public static func named(_ name: String) -> Story? { all.first { $0.name == name.lowercased() } }

    /// Tells the story.
    ///
    /// - Parameters:
    ///   - folder: The folder for the databases, which exists and is empty.
    ///   - print: Takes the transcript, line by line.
    /// - Throws: Whatever went wrong that wasn't part of the story.
    public func run(in folder: URL, print: @escaping @Sendable (String) -> Void) async throws {
        let transcript = Transcript(print: print)
        print("\(name.capitalized): \(summary)")
        try await tell(transcript, folder)
    }
}
