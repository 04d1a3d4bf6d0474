#if Server
import Foundation
import Relata
import Testing

/// The model that the guide's server serves.
@Model struct Book {
    let id: Relata.ID<Book>
    var title: String
}

/// The guide's server is a program: the tests compile it, line by line, but for the mark of where a program begins.
@Suite struct GuideTests {
    @Test func theServerOfTheGuideIsTheOneThatIsCompiled() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let compiled = try String(contentsOf: folder.appending(path: "GuideServer.swift"), encoding: .utf8)
        let guide = try String(
            contentsOf: folder.appending(path: "../../../Documentation/Server.md").standardizedFileURL, encoding: .utf8)
        let block = guide.components(separatedBy: "```swift package\n").dropFirst().first?
            .components(separatedBy: "```").first
        let program = try #require(block)
        #expect(program.contains("@main struct App"))
        let lines = compiled.replacing("#if Server\n", with: "").replacing("#endif\n", with: "")
        #expect(program.replacing("@main ", with: "") == lines)
    }
}
#endif
