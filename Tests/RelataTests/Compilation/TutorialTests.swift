import DocumentationSupport
import Foundation
import Testing

/// The steps of the tutorials.
@Suite struct TutorialTests {
    private static let tutorials = PackageFiles.files(in: "Documentation/Tutorials", ".tutorial")
    private static let code = PackageFiles.files(in: "Examples/Tutorials", ".swift")

    /// One step: the contents of the reader's files after it.
    struct Step: CustomTestStringConvertible, Sendable {
        let tutorial: String
        /// The file with the code that the step shows.
        let shown: String
        /// The path of each file's code, by the name of the reader's file.
        let files: [String: String]

        var testDescription: String { "\(tutorial): \(shown)" }
    }

    private static let steps: [Step] = tutorials.flatMap { path in
        let text = (try? String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)) ?? ""
        var files: [String: String] = [:]
        return text.matches(of: /@Code\(name: "([^"]+)", file: "([^"]+)"\)/).map { match in
            let (name, shown) = (String(match.output.1), String(match.output.2))
            files[name] = code.first { $0.hasSuffix("/" + shown) } ?? shown
            return Step(tutorial: path, shown: shown, files: files)
        }
    }

    @Test func everyFileIsShownByOneStep() {
        #expect(Self.steps.count > 15)
        let shown = Self.steps.map(\.shown).sorted()
        #expect(shown == Self.code.map { URL(fileURLWithPath: $0).lastPathComponent }.sorted())
    }

    @Test(.enabled(if: Compiler.arguments != nil), arguments: steps) func aStepCompiles(_ step: Step) throws {
        let (errors, output) = try Compiler.errors(
            inFiles: step.files.values.sorted().map { PackageFiles.root.appendingPathComponent($0).path },
            ["-swift-version", "6", "-warnings-as-errors", "-parse-as-library"])
        #expect(errors == [], "\(output)")
    }
}
