#if Server
import Foundation
import Relata
import Testing

/// The model of the guide's server.
@Model struct Book {
    let id: Relata.ID<Book>
    var title: String
}

/// The guides' servers are programs. The tests compile them, line by line, except for the mark of a program's start.
@Suite struct GuideTests {
    @Test(arguments: [
        ("Server.md", ["GuideServer.swift", "GuideProtocol.swift", "GuideWebSocket.swift"]),
        ("Files.md", ["GuideFiles.swift"]), ("Users.md", ["GuideSignIn.swift", "GuideMail.swift"]),
        (
            "CloudCode.md",
            [
                "GuideCode.swift", "GuideTypes.swift", "GuideJobs.swift", "GuideHooks.swift", "GuideLive.swift",
                "GuideSaves.swift", "GuideFileRules.swift", "GuideWebhooks.swift", "GuideActing.swift",
                "GuideModels.swift", "GuidePush.swift",
            ]
        ),
    ]) func theServersInTheGuidesAreTheCompiledOnes(guide name: String, files: [String]) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let guide = try String(
            contentsOf: folder.appending(path: "../../../Documentation/\(name)").standardizedFileURL, encoding: .utf8)
        let programs = guide.components(separatedBy: "```swift package\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(programs.count == files.count)
        for (program, file) in zip(programs, files) {
            let compiled = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            #expect(program.contains("@main struct ") == compiled.contains("static func main()"), "\(file)")
            let lines = compiled.replacing("#if Server\n", with: "").replacing("#endif\n", with: "")
            #expect(program.replacing("@main ", with: "") == lines, "\(file)")
        }
    }
}
#endif
