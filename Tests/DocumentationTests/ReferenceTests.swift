import DocumentationSupport
import Foundation
import Testing

/// The page that lists the public types.
@Suite struct ReferenceTests {
    private static let page = "Documentation/Reference.md"

    /// The names that a line of the page begins with.
    private func listed() throws -> [String] {
        try MarkdownDocument(Self.page).text.matches(of: /(?m)^- `(\w+)`: ./).map { String($0.output.1) }
    }

    /// The public types and macros in the files of a module, without those that only the macros use.
    private func declared(in module: String) throws -> Set<String> {
        var names: Set<String> = []
        for path in PackageFiles.files(in: "Sources/\(module)", ".swift") {
            let file = PackageFiles.root.appendingPathComponent(path)
            var isInternal = false
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                // Attributes are on the lines above.
                if line.hasPrefix("@_documentation(visibility: internal)") { isInternal = true }
                let declaration = line.prefixMatch(
                    of:
                        /public (?:final |indirect |nonisolated )*(?:struct|enum|protocol|actor|class|macro|typealias) (\w+)/
                )
                if let declaration, !isInternal { names.insert(String(declaration.output.1)) }
                if line.hasPrefix("public ") || line.hasPrefix("}") { isInternal = false }
            }
        }
        return names
    }

    @Test func everyNameOfTheReferenceExists() throws {
        let modules = ["Relata", "RelataRecords", "RelataEngines", "RelataSQLite", "RelataEngine", "RelataCore"]
        let known = try modules.reduce(into: Set<String>()) { $0.formUnion(try declared(in: $1)) }
        let names = try listed()
        #expect(names.count > 60)
        #expect(names.filter { !known.contains($0) } == [])
    }

    /// Names that only the macros' code uses.
    private static let macroNames: Set = [
        "AttributeCoding", "AttributeType", "Binder", "Entity", "Property", "RowReader", "StorableCoding", "coding",
    ]

    @Test(arguments: ["Relata", "RelataRecords"])
    func reexportedNamesAreInTheReference(module: String) throws {
        let file = PackageFiles.root.appendingPathComponent("Sources/\(module)/Exports.swift")
        let exported = try String(contentsOf: file, encoding: .utf8)
            .matches(of: /(?m)^@_exported public import \w+ \w+\.(\w+)$/).map { String($0.output.1) }
        #expect(exported.count > 30)
        let missing = try Set(exported).subtracting(listed()).subtracting(Self.macroNames).sorted()
        #expect(missing == [], "give each a line in \(Self.page), or don't export it")
    }

    @Test func noTargetIsReexportedAsAWhole() throws {
        // This target is a C library under another name, and no app sees it.
        for path in PackageFiles.files(in: "Sources", ".swift") where !path.hasSuffix("RelataCSQLite/Library.swift") {
            let text = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
            #expect(!text.contains(/@_exported (public )?import \w+\n/), "\(path)")
        }
    }

    @Test(arguments: ["Relata", "RelataRecords"]) func everyPublicTypeIsInTheReference(module: String) throws {
        let names = try Set(listed())
        let missing = try declared(in: module).subtracting(names).sorted()
        #expect(missing == [], "give each a line in \(Self.page), or mark it as internal to the documentation")
    }
}
