import Foundation

/// The package that the tests belong to.
public enum PackageFiles {
    /// Its folder.
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The paths of all Markdown files that are part of the documentation, from the package's folder.
    public static let documents: [String] =
        ["README.md", "README.zh-Hans.md", "CONTRIBUTING.md", "CHANGELOG.md"] + files(in: "Documentation", ".md")

    /// The paths of the files below a folder whose name ends so, sorted.
    public static func files(in folder: String, _ suffix: String) -> [String] {
        let url = root.appendingPathComponent(folder)
        let found = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
        return found.filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
    }

    /// Whether outputs and pictures are written again, and not compared: with `RELATA_RECORD=1` in the environment.
    public static let isRecording = ProcessInfo.processInfo.environment["RELATA_RECORD"] != nil

    /// Whether a file holds a text. While recording, it gets the text.
    public static func holds(_ path: String, _ text: String) throws -> Bool {
        let url = root.appendingPathComponent(path)
        if isRecording {
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        return try String(contentsOf: url, encoding: .utf8) == text
    }
}
