import DocumentationSupport
import Foundation
import Relata
import Testing

/// Runs the commands of a guide, one after another on one copy of the sample library, and compares their output.
///
/// With `RELATA_RECORD=1` in the environment the guide gets the new output instead.
@Test(
    arguments: PackageFiles.documents.filter { path in
        (try? MarkdownDocument(path))?.blocks("console").isEmpty == false
    })
func everyCommandPrintsWhatTheGuideShows(path: String) async throws {
    let run = try ExampleRun()
    try makeSample(in: run.folder)
    var recorded: [(MarkdownDocument.Block, [String])] = []
    let document = try MarkdownDocument(path)
    for block in document.blocks("console") {
        var printed: [String] = []
        for command in block.lines.filter({ $0.hasPrefix("$ ") }) {
            printed.append(command)
            printed += try shell(String(command.dropFirst(2)), in: run.folder)
        }
        recorded.append((block, printed))
        if !PackageFiles.isRecording {
            #expect(block.lines == printed, "\(path):\(block.line) differs; RELATA_RECORD=1 writes it anew")
        }
    }
    if PackageFiles.isRecording {
        for (block, lines) in recorded.reversed() { try MarkdownDocument(path).replace(block, with: lines) }
    }
}

/// With `RELATA_RECORD=1` in the environment the picture is drawn again instead.
@Test func thePictureOfTheSampleIsWhatTheToolDraws() throws {
    let run = try ExampleRun()
    try makeSample(in: run.folder)
    let lines = try shell("relata inspect library.sqlite --format svg", in: run.folder)
    #expect(
        try PackageFiles.holds("Documentation/Images/Library.svg", lines.joined(separator: "\n") + "\n"),
        "the picture differs; RELATA_RECORD=1 draws it anew")
}

/// Makes the sample library in a folder.
private func makeSample(in folder: URL) throws {
    let sql = PackageFiles.root.appendingPathComponent("Examples/Library/library.sql")
    try OtherProgram.run(
        try String(contentsOf: sql, encoding: .utf8), in: folder.appendingPathComponent("library.sqlite").path)
}

/// The build folder that contains the tests and the other products.
let products: String? = {
    let near = [URL(fileURLWithPath: CommandLine.arguments[0])] + Bundle.allBundles.map(\.bundleURL)
    return near.map { $0.deletingLastPathComponent().path }.first {
        FileManager.default.isExecutableFile(atPath: $0 + "/relata")
    }
}()

/// The output of a command.
func shell(_ command: String, in folder: URL) throws -> [String] {
    let products = try #require(products, "the tool isn't built: build with the trait CommandLineTool")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "(\(command)) >output.txt 2>&1"]
    process.currentDirectoryURL = folder
    var environment = ProcessInfo.processInfo.environment
    environment["PATH"] = products + ":" + (environment["PATH"] ?? "")
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOf: folder.appendingPathComponent("output.txt"), encoding: .utf8)
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast(
        text.hasSuffix("\n") ? 1 : 0)
}
