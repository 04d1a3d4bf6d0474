import DocumentationSupport
import Foundation
import Testing

/// The links of comments, ``Type/member``, which `scripts/docs` turns into links between pages.
@Suite struct LinkTests {
    /// The modules with pages, and the other modules whose types a module shows as its own.
    private static let modules: [(name: String, lower: [String])] = [
        ("Relata", ["RelataCore", "RelataEngine", "RelataEngines", "RelataSQLite"]),
        ("RelataRecords", ["RelataCore", "RelataEngine", "RelataEngines", "RelataSQLite"]),
        ("RelataTesting", []), ("RelataParse", []), ("RelataServer", []),
    ]

    @Test func commentsOfPublicSymbolsLinkToTypesOfTheirModule() throws {
        for module in Self.modules {
            // The pages of an extended type of another module are in the module that extends it.
            let known = try Self.types(in: [module.name] + module.lower).union(Self.modules.map(\.name))
            for path in PackageFiles.files(in: "Sources/\(module.name)", ".swift") {
                let source = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
                let stray = Self.links(of: source).filter { !known.contains($0) }
                #expect(stray == [], "\(path): put a type of another module into single backticks")
            }
        }
    }

    @Test func onlyLinksOfPublicSymbolsCount() {
        let source = """
            /// Reads a ``Shelf``.
            @discardableResult
            public func read() -> ``Wrong``

            /// Uses ``Hidden``.
            func use()
            """
        #expect(Self.links(of: source) == ["Shelf"])
    }

    /// The first names of the links in comments of public symbols. Links to members of the same type begin in lower case.
    private static func links(of source: String) -> [String] {
        var (links, comment): ([String], [String]) = ([], [])
        for line in source.split(separator: "\n") {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("///") {
                comment += text.matches(of: /``([A-Z]\w*)[^`]*``/).map { String($0.output.1) }
            } else if !text.hasPrefix("@") {
                if text.hasPrefix("public ") || text.hasPrefix("open ") { links += comment }
                comment = []
            }
        }
        return links
    }

    private static func types(in modules: [String]) throws -> Set<String> {
        var types: Set<String> = []
        for path in modules.flatMap({ PackageFiles.files(in: "Sources/\($0)", ".swift") }) {
            let source = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
            let declared = source.matches(
                of: /\b(?:struct|class|enum|protocol|actor|typealias|macro|associatedtype|extension) (\w+)/)
            types.formUnion(declared.map { String($0.output.1) })
        }
        return types
    }
}
