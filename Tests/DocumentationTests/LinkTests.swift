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
        var types: [String: Set<String>] = [:]
        for name in Set(Self.modules.flatMap { [$0.name] + $0.lower }) { types[name] = try Self.types(in: name) }
        for module in Self.modules {
            let known = ([module.name] + module.lower).reduce(Set(Self.modules.map(\.name))) {
                $0.union(types[$1] ?? [])
            }
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

    /// The types that a module declares or extends: the pages of those that it extends are its own.
    private static func types(in module: String) throws -> Set<String> {
        var types: Set<String> = []
        for path in PackageFiles.files(in: "Sources/\(module)", ".swift") {
            let source = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
            let declared = source.matches(
                of: /\b(?:struct|class|enum|protocol|actor|typealias|macro|associatedtype|extension) (\w+)/)
            types.formUnion(declared.map { String($0.output.1) })
        }
        return types
    }
}
