import Foundation
import Testing

/// Checks that `Conformance` doesn't depend on a single engine.
@Suite struct ConformanceFolderTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// Words that only one engine has.
    private static let words = [
        "SQLite", "sqlite", "Postgres", "postgres", "PRAGMA", "pragma", ".path(", "Store.open(", "inMemory",
        "Connection(", ".pool.", "EXPLAIN", ".explain(", "expectIndexed", "ROWID", "rowid", "typeof(", "STRICT",
        "TRIGGER", "temp.", "randomblob", "json_each", "x'0",
    ]

    /// The words in a text, and the unquoted names in its SQL: engines fold their case differently.
    private static func findings(in text: String) -> [String] {
        let names = ["FROM ", "JOIN ", "UPDATE ", "INTO "].flatMap { keyword in
            // The action after ON UPDATE isn't a name.
            text.replacing("ON UPDATE ", with: "").components(separatedBy: keyword).dropFirst().filter {
                $0.first?.isUppercase == true
            }.map {
                keyword + $0.prefix { $0.isLetter }
            }
        }
        return words.filter(text.contains) + names
    }

    private static func sources(in folder: String) throws -> [(name: String, text: String)] {
        let url = Self.folder.appending(path: folder)
        return try FileManager.default.subpathsOfDirectory(atPath: url.path).filter { $0.hasSuffix(".swift") }.map {
            ($0, try String(contentsOf: url.appending(path: $0), encoding: .utf8))
        }
    }

    @Test func conformanceTestsUseNoEngineSpecificFeatures() throws {
        let sources = try Self.sources(in: "Conformance")
        #expect(sources.count > 50)
        for (name, text) in sources {
            #expect(
                Self.findings(in: text) == [],
                """
                Conformance/\(name): what one engine does by itself belongs to the folder that is named after it, such \
                as Tests/RelataTests/SQLite; what each does takes Engine.allCases as its argument, and SQL quotes names
                """)
        }
    }

    @Test(arguments: [
        "TestStore.make(.sqliteMemory, for: Book.self)", "import RelataSQLite", "PRAGMA defer_foreign_keys = ON",
        "let file = TestStore.path()", "try Store.inMemory(for: Book.self)", "try Connection(path: path)",
        "store.explain(Book.all).plan", "SELECT typeof(id)", "SET pacerId = x'00'", "UPDATE Book SET year = 2",
        "SELECT title FROM Book",
    ])
    func aMentionIsFound(text: String) { #expect(!Self.findings(in: text).isEmpty) }

    @Test(arguments: [
        "SELECT \"title\" FROM \"Book\"", "$0.hasPrefix(\"UPDATE\")",
        "let strict = query.including { $0.genre.required }",
        "WITH RECURSIVE n(i) AS (SELECT 1) SELECT i FROM n", "ON UPDATE CASCADE",
    ])
    func sqlOfEveryEngineIsNoFinding(text: String) { #expect(Self.findings(in: text) == []) }

    /// An unlisted engine would not be tested.
    @Test func eachFileOfEnginesIsInTheListOfAllCases() throws {
        let engine = try #require(try Self.sources(in: "Support").first { $0.name == "Engine.swift" })
        let list = try #require(engine.text.firstMatch(of: /static let allCases: \[Engine\] = (.+)/)).output.1
        let names = list.split { !$0.isLetter && !$0.isNumber }
        for (name, text) in try Self.sources(in: "Support/Engines") {
            let engines = text.matches(of: /static let (\w+): \[Engine\]/).map(\.output.1)
            #expect(engines.contains { names.contains($0) }, "add the engines of \(name) to Engine.allCases")
        }
    }
}
