#if CommandLineTool && Server
import Testing

/// `relata access`
@Suite struct AccessCommandTests {
    @Test func eachOperationHasALine() throws {
        let file = try SampleFile("CREATE TABLE Book (id INTEGER PRIMARY KEY, title TEXT);")
        let run = try withExtendedLifetime(file) { try Tool.run(["access", "explain", file.path, "Book"]) }
        #expect(run.exitCode == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "Book, for nobody")
        let operations = lines.dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(operations == ["find", "count", "get", "create", "update", "delete", "addField"], "\(run.output)")
    }
}
#endif
