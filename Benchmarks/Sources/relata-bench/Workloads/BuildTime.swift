import BenchmarkReport
import Foundation

/// The additional time that the compiler takes for fifty entities because of `@Model`: a source file with the macro
/// beside one with the same plain structs, compiled as in a debug build.
enum BuildTime {
    static func measure(_ bench: Bench) throws -> Outcome {
        let models = try bench.directory.file("Models.swift")
        try source(isModel: true).write(toFile: models, atomically: true, encoding: .utf8)
        let plain = try bench.directory.file("Plain.swift")
        try source(isModel: false).write(toFile: plain, atomically: true, encoding: .utf8)
        var times: [String: [Double]] = [:]
        for _ in 0..<min(3, bench.options.rounds) {
            for file in [models, plain] { times[file, default: []].append(try compile(file, bench)) }
        }
        let (withMacro, without) = (times[models, default: []].median, times[plain, default: []].median)
        return Outcome(ours: withMacro, limit: without, peers: [("added", withMacro - without)])
    }

    private static func source(isModel: Bool) -> String {
        var text = isModel ? "import Relata\n" : "import Foundation\n"
        for number in 1...50 {
            let (next, previous) = (number % 50 + 1, (number + 48) % 50 + 1)
            text +=
                isModel
                ? """

                @Model struct E\(number) {
                    let id: ID<E\(number)>
                    var name: String
                    var year: Int
                    var price: Double?
                    var createdAt: Date
                    var next: ToOne<E\(next)>?
                    @Relationship(inverse: \\E\(previous).next) var previous: ToMany<E\(previous)>
                }

                """
                : """

                struct E\(number): Hashable, Codable, Sendable {
                    let id: UUID
                    var name: String
                    var year: Int
                    var price: Double?
                    var createdAt: Date
                    var next: UUID?
                }

                """
        }
        return isModel ? text.replacing("import Relata", with: "import Foundation\nimport Relata") : text
    }

    /// Compiles one file against the modules that this program was built with.
    private static func compile(_ file: String, _ bench: Bench) throws -> Double {
        guard let executable = Bundle.main.executableURL?.resolvingSymlinksInPath() else {
            throw Failure("the program doesn't know its own file")
        }
        let products = executable.deletingLastPathComponent()
        let root = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-c", "-Onone", "-swift-version", "6", "-parse-as-library", file,
            "-o", try bench.directory.file("Models.o"), "-I", products.appending(path: "Modules").path,
            "-Xcc", "-I" + root.appending(path: "Sources/CRelataSQLite/include").path,
            "-Xcc", "-fmodule-map-file=" + products.appending(path: "CRelataSQLite.build/module.modulemap").path,
            "-Xcc", "-fmodule-map-file=" + products.appending(path: "CRelataEngine.build/module.modulemap").path,
            "-Xcc", "-fmodule-map-file=" + root.appending(path: "Sources/RelataSystemSQLite/module.modulemap").path,
            "-load-plugin-executable", products.appending(path: "RelataMacros-tool").path + "#RelataMacros",
        ]
        let start = bench.now
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure("the generated source doesn't compile") }
        return bench.now - start
    }
}

extension Workload {
    static let buildTime = Workload(name: "build-50-models", targets: [.limit(1.8)]) { try BuildTime.measure($0) }
}
