#if Server
import Foundation
import Relata
import Testing

/// The model that the guide's server serves.
@Model struct Book {
    let id: Relata.ID<Book>
    var title: String
}

/// The guide's servers are programs: the tests compile them, line by line, but for the mark of where a program begins.
@Suite struct GuideTests {
    @Test func theServersOfTheGuideAreThoseThatAreCompiled() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let guide = try String(
            contentsOf: folder.appending(path: "../../../Documentation/Server.md").standardizedFileURL, encoding: .utf8)
        let programs = guide.components(separatedBy: "```swift package\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let files = ["GuideServer.swift", "GuideProtocol.swift", "GuideWebSocket.swift"]
        #expect(programs.count == files.count)
        for (program, file) in zip(programs, files) {
            let compiled = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            #expect(program.contains("@main struct ") == (file != "GuideWebSocket.swift"), "\(file)")
            let lines = compiled.replacing("#if Server\n", with: "").replacing("#endif\n", with: "")
            #expect(program.replacing("@main ", with: "") == lines, "\(file)")
        }
    }
}
#endif
