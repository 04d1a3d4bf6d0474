// `relata-stories NAME [FOLDER]`: tells a story. Its databases are kept if a folder is given.
import Foundation
import RelataStories

func list(on output: FileHandle) {
    let width = Story.all.map(\.name.count).max() ?? 0
    var text = "usage: relata-stories NAME [FOLDER]\n\nThe stories:\n"
    for story in Story.all {
        text += "  \(story.name.padding(toLength: width, withPad: " ", startingAt: 0))  \(story.summary)\n"
    }
    output.write(Data(text.utf8))
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.contains("--help") || arguments.contains("-h") {
    list(on: .standardOutput)
    exit(0)
}
guard let name = arguments.first, arguments.count <= 2, let story = Story.named(name) else {
    if let name = arguments.first, Story.named(name) == nil {
        FileHandle.standardError.write(Data("relata-stories: there is no story called \(name)\n".utf8))
    }
    list(on: .standardError)
    exit(64)
}

let kept = arguments.dropFirst().first.map { URL(fileURLWithPath: $0, isDirectory: true) }
let folder = kept ?? FileManager.default.temporaryDirectory.appendingPathComponent("relata-story-\(UUID().uuidString)")
do {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { if kept == nil { try? FileManager.default.removeItem(at: folder) } }
    try await story.run(in: folder) { print($0) }
} catch {
    FileHandle.standardError.write(Data("relata-stories: \(error)\n".utf8))
    exit(1)
}
