import Foundation

/// The compiler, with the modules that were built with the tests.
enum Compiler {
    /// How it finds them; `nil` where they aren't beside the tests.
    static let arguments: [String]? = {
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let build = project.appendingPathComponent(".build")
        let debug = build.appendingPathComponent("debug")
        let maps = [
            build.appendingPathComponent("checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap"),
            debug.appendingPathComponent("CRelataSQLite.build/module.modulemap"),
        ]
        let plugin = debug.appendingPathComponent("RelataMacros-tool").path
        let modules = debug.appendingPathComponent("Modules")
        let needed = maps.map(\.path) + [plugin, modules.appendingPathComponent("Relata.swiftmodule").path]
        guard needed.allSatisfy(FileManager.default.fileExists) else { return nil }
        return ["-typecheck", "-I", modules.path, "-load-plugin-executable", plugin + "#RelataMacros"]
            + maps.flatMap { ["-Xcc", "-fmodule-map-file=" + $0.path] }
    }()

    /// The first line of each error, and all that the compiler says.
    static func errors(in source: String) throws -> (errors: [String], output: String) {
        let file = TestStore.path("models.swift")
        let output = TestStore.path("output.txt")
        try source.write(toFile: file, atomically: false, encoding: .utf8)
        try Data().write(to: URL(fileURLWithPath: output))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swiftc"] + (arguments ?? []) + [file]
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardOutput = process.standardError
        try process.run()
        process.waitUntilExit()
        let text = try String(contentsOfFile: output, encoding: .utf8)
        // Lines that show source are indented.
        let errors = text.split(separator: "\n").map(String.init).filter {
            $0.contains(": error: ") && $0.first.map { !" `|".contains($0) } == true
        }
        if errors.isEmpty, process.terminationStatus != 0 { return (["the compiler failed"], text) }
        return (errors, text)
    }
}
