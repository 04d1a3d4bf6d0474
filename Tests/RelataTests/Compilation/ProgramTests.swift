import DocumentationSupport
import Foundation
import Testing

/// The whole programs that a guide shows.
@Suite struct ProgramTests {
    private static let guide = PackageFiles.root.appendingPathComponent("Documentation/Programs.md")

    private static let programs: [String] = {
        let text = (try? String(contentsOf: guide, encoding: .utf8)) ?? ""
        return text.matches(of: /(?s)```swift package\n(.*?)\n```/).map { String($0.output.1) }
    }()

    @Test func theGuideShowsPrograms() { #expect(Self.programs.count == 4) }

    @Test(.enabled(if: Compiler.arguments != nil), arguments: 0..<4) func aProgramOfTheGuideCompiles(_ number: Int)
        throws
    {
        let program = try #require(Self.programs.indices.contains(number) ? Self.programs[number] : nil)
        let name = try #require(program.prefixMatch(of: /\/\/ (\w+\.swift)\n/)?.output.1)
        let (errors, output) = try Compiler.errors(
            in: program, file: String(name),
            ["-swift-version", "6", "-warnings-as-errors"] + (name == "main.swift" ? [] : ["-parse-as-library"]))
        #expect(errors == [], "\(output)")
    }

    @Test(.enabled(if: Compiler.arguments != nil)) func awaitInTopLevelCodeIsRefusedWithTheFix() throws {
        let program = try #require(Self.programs.first).replacing("try store.", with: "try await store.")
        let (errors, _) = try Compiler.errors(in: program, file: "main.swift", ["-swift-version", "6"])
        #expect(errors.first?.contains("in a main.swift, only inside an async function") == true, "\(errors)")
    }
}
