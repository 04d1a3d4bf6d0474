import DocumentationSupport
import Foundation
import Testing

/// The compiler, with the modules that were built with the tests.
enum Compiler {
    /// The arguments with which it finds them; `nil` if they aren't beside the tests, as in a build with the trait
    /// `SQLCipher`, which has its own folder: both compile the same code.
    static let arguments: [String]? = {
        #if SQLCipher
        return nil
        #else
        let project = PackageFiles.root
        let debug = project.appendingPathComponent(".build/debug")
        let maps = [
            project.appendingPathComponent("Sources/RelataSystemSQLite/module.modulemap"),
            debug.appendingPathComponent("CRelataSQLite.build/module.modulemap"),
            debug.appendingPathComponent("CRelataEngine.build/module.modulemap"),
        ]
        // Beside libpq's header, if that is installed.
        let own = project.appendingPathComponent("Sources/RelataCPQ/module.modulemap")
        let plugin = debug.appendingPathComponent("RelataMacros-tool").path
        let modules = debug.appendingPathComponent("Modules")
        let needed = maps.map(\.path) + [plugin, modules.appendingPathComponent("Relata.swiftmodule").path]
        guard needed.allSatisfy(FileManager.default.fileExists) else { return nil }
        return ["-typecheck", "-I", modules.path, "-load-plugin-executable", plugin + "#RelataMacros"]
            + (maps + [own]).flatMap { ["-Xcc", "-fmodule-map-file=" + $0.path] }
            + ["-Xcc", "-I/usr/include/postgresql"]
        #endif
    }()

    /// The first line of each error, and all that the compiler says.
    ///
    /// - Parameters:
    ///   - name: The file's name: `main.swift` makes it a program.
    ///   - flags: Further arguments.
    static func errors(
        in source: String, file name: String = "models.swift", _ flags: [String] = []
    ) throws -> (errors: [String], output: String) {
        let file = TestStore.path(name)
        try source.write(toFile: file, atomically: false, encoding: .utf8)
        return try errors(inFiles: [file], flags)
    }

    /// The same of files, together.
    static func errors(inFiles files: [String], _ flags: [String] = []) throws -> (errors: [String], output: String) {
        let output = TestStore.path("output.txt")
        try Data().write(to: URL(fileURLWithPath: output))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swiftc"] + (arguments ?? []) + flags + files
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

extension Compiler {
    /// Expects one error at each line that ends in a comment, with the comment in its text, and no other.
    static func expectErrors(
        in source: String, _ flags: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (errors, output) = try errors(in: source, flags)
        var expected: [(line: Int, text: String)] = []
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard let comment = line.range(of: "  // ") else { continue }
            expected.append((index + 1, String(line[comment.upperBound...])))
        }
        for (line, text) in expected {
            let found = errors.filter { $0.contains("models.swift:\(line):") }
            #expect(
                found.count == 1 && found[0].contains(text), "line \(line): \(found)", sourceLocation: sourceLocation)
        }
        #expect(errors.count == expected.count, "\(output)", sourceLocation: sourceLocation)
    }

    /// The number of scopes that the compiler's solver opens for the expressions of a source: the same each time,
    /// unlike seconds.
    static func scopes(in source: String) throws -> Int {
        let file = TestStore.path("expressions.swift")
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        try source.write(toFile: file, atomically: false, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swiftc"] + (arguments ?? []) + ["-stats-output-dir", folder.path, file]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        var scopes = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".json") {
            let data = try Data(contentsOf: folder.appending(path: name))
            let counters = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            scopes += (counters?["Sema.NumConstraintScopes"] as? NSNumber)?.intValue ?? 0
        }
        return scopes
    }
}
