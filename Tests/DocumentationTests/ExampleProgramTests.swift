import Foundation
import Relata
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The programs in `Examples/Programs`, used as their first lines say.
@Suite struct ExampleProgramTests {
    @Test func theTaskListAddsChecksOffListsAndDrops() throws {
        let run = try ExampleRun()
        func tasks(_ words: String) throws -> [String] {
            try shell("TaskList \(words)", in: run.folder).filter { !$0.isEmpty }
        }
        #expect(try tasks("add 'Buy milk' home") == ["added 1"])
        #expect(try tasks("add 'Write the report' work") == ["added 2"])
        #expect(try tasks("add 'Water the plants' home") == ["added 3"])
        #expect(try tasks("done 1") == [])
        #expect(
            try tasks("list") == [
                "home", "  1 ✓ Buy milk", "  3 · Water the plants", "work", "  2 · Write the report",
            ])
        #expect(try tasks("add '' home").first?.contains("title") == true)
        #expect(try tasks("done 7").first?.contains("doesn't exist") == true)
        #expect(try tasks("drop home").first == "Project: 1 object (home)")
        #expect(try tasks("list") == ["work", "  2 · Write the report"])
        #expect(try tasks("").first?.hasPrefix("TaskList add") == true)
    }

    @Test func fieldNotesMakesItsClassesByUse() throws {
        let run = try ExampleRun()
        func notes(_ words: String) throws -> [String] {
            try shell("FieldNotes \(words)", in: run.folder).filter { !$0.isEmpty }
        }
        #expect(try notes("add Bird species=Robin count=2") == [])
        #expect(try notes("add Bird species=Wren count=1 place=Pond") == [])
        #expect(try notes("find Bird 'count > 1'") == ["count: 2, species: Robin, place: nil"])
        #expect(try notes("find Bird").count == 2)
        let classes = try notes("classes")
        #expect(classes.count == 1 && classes[0].contains("\"count\", \"species\", \"place\""))
        #expect(try notes("find Bird 'weight > 1'").first?.contains("weight") == true)
        #expect(try notes("add Bird species") == ["write species as FIELD=VALUE"])
    }

    #if Server
    @Test func theBookServerAnswersTheRequestThatItPrints() async throws {
        let run = try ExampleRun()
        let folder = try #require(products)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: folder + "/BookServer")
        process.arguments = ["0"]
        process.currentDirectoryURL = run.folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        defer {
            process.interrupt()
            process.waitUntilExit()
        }
        // The program prints its lines once it listens, and closes the pipe if it can't.
        var text = ""
        while !text.contains("its key is shown") {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "the server ended: \(text)")
            text += String(decoding: data, as: UTF8.self)
        }
        let line = try #require(text.firstMatch(of: /Application-Id: (\S+)' -H 'X-Parse-Client-Key: (\S+)' (\S+)/))
        var request = URLRequest(url: try #require(URL(string: "\(line.output.3)?include=author")))
        request.setValue(String(line.output.1), forHTTPHeaderField: "X-Parse-Application-Id")
        request.setValue(String(line.output.2), forHTTPHeaderField: "X-Parse-Client-Key")
        let (body, _) = try await URLSession.shared.data(for: request)
        let reply = String(decoding: body, as: UTF8.self)
        #expect(reply.contains("The Dispossessed") && reply.contains("Ursula K. Le Guin"), "\(reply)")
    }
    #endif
}
