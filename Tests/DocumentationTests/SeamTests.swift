import DocumentationSupport
import Foundation
import Testing

/// The engines' code stays behind their interface.
@Suite struct SeamTests {
    /// The code of models is compiled to these calls: it reads a column, runs a statement, and binds a parameter.
    private static let inlined: Set = [
        "Sources/RelataEngine/Rows/ColumnValue.swift", "Sources/RelataEngine/Rows/RunningStatement.swift",
        "Sources/RelataEngine/Rows/StatementParameter.swift",
    ]

    @Test func onlyItsOwnTargetAndInlinedCodeCallSQLite() throws {
        let others = PackageFiles.files(in: "Sources", ".swift").filter { !$0.hasPrefix("Sources/RelataSQLite/") }
        let calling = try others.filter { path in
            let text = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
            return text.contains("sqlite3_") || text.contains("SQLITE_")
        }
        #expect(Set(calling) == Self.inlined, "move it to RelataSQLite, behind Engine or EngineDriver")
    }

    @Test func theEngineOnPostgreSQLIsEmptyWithoutItsTrait() throws {
        let files = PackageFiles.files(in: "Sources/RelataPostgres", ".swift")
        let compiled = try files.filter { path in
            let text = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
            return !text.hasPrefix("#if PostgreSQL\n") || !text.hasSuffix("\n#endif\n")
        }
        #expect(!files.isEmpty && compiled.isEmpty, "put all of it between #if PostgreSQL and #endif")
    }
}
