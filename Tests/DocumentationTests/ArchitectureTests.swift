import DocumentationSupport
import Foundation
import Testing

/// A row of the tables in the page about the architecture: a file, and functions that it has.
private struct ArchitectureRow: CustomTestStringConvertible {
    let file: String
    let functions: [String]

    var testDescription: String { file }

    init?(_ line: String) {
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 3, let link = cells[1].firstMatch(of: /\]\(\.\.\/(Sources\/[^)]+)\)/) else { return nil }
        file = String(link.output.1)
        functions = cells[2].matches(of: /`(\w+)`/).map { String($0.output.1) }
    }

    static let all: [ArchitectureRow] = {
        let page = PackageFiles.root.appendingPathComponent("Documentation/Architecture.md")
        let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { ArchitectureRow(String($0)) }
    }()
}

@Suite struct ArchitectureTests {
    @Test func thePageFollowsThreeCalls() {
        #expect(ArchitectureRow.all.count > 20)
    }

    @Test(arguments: ArchitectureRow.all)
    private func aFileHasTheFunctionsThatThePageNames(row: ArchitectureRow) throws {
        let url = PackageFiles.root.appendingPathComponent(row.file)
        let source = try String(contentsOf: url, encoding: .utf8)
        #expect(!row.functions.isEmpty)
        for name in row.functions {
            #expect(source.contains(try Regex("func \(name)[(<]")), "\(row.file) has no function \(name)")
        }
    }

    @Test func everyTargetHasItsLineInTheTable() throws {
        let sources = PackageFiles.root.appendingPathComponent("Sources")
        let page = PackageFiles.root.appendingPathComponent("CONTRIBUTING.md")
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
        for target in try FileManager.default.contentsOfDirectory(atPath: sources.path) {
            let names = rows.contains { $0.split(separator: "|").first?.contains("`\(target)`") == true }
            #expect(names, "\(target) has no line in CONTRIBUTING.md")
        }
    }

    @Test func thePageNamesFilesThatExist() throws {
        let page = PackageFiles.root.appendingPathComponent("Documentation/Architecture.md")
        let links = try String(contentsOf: page, encoding: .utf8).matches(of: /\]\(\.\.\/([^)#]+)[^)]*\)/)
        #expect(links.count > 20)
        for link in links {
            let path = PackageFiles.root.appendingPathComponent(String(link.output.1)).path
            #expect(FileManager.default.fileExists(atPath: path), "\(link.output.1) doesn't exist")
        }
    }
}
