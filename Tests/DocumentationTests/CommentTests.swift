import DocumentationSupport
import Foundation
import Testing

/// Finds public symbols without a documentation comment, line by line.
private struct CommentScan {
    /// The number and the text of each line that declares such a symbol.
    private(set) var findings: [String] = []

    /// Public protocols and enums that are open: their members are public without the word.
    private var types: [(indentation: Int, isProtocol: Bool)] = []
    private var isDocumented = false
    /// Whether the symbol is marked as no part of the documentation.
    private var isInternal = false
    /// The number of open parentheses of an attribute, which may span several lines.
    private var parentheses = 0

    init(_ source: String) {
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            read(text, number: index + 1, indentation: line.prefix { $0 == " " }.count)
        }
    }

    private mutating func read(_ text: String, number: Int, indentation: Int) {
        let isPublic = isPublic(text)
        if parentheses > 0 || (!isPublic && isAttribute(text)) {
            parentheses += text.count(where: { $0 == "(" }) - text.count(where: { $0 == ")" })
            if text.hasPrefix("@_documentation(visibility: internal)") { isInternal = true }
            return
        }
        if text.hasPrefix("///") { isDocumented = true }
        if text.isEmpty || text.hasPrefix("//") || text.hasPrefix("#") { return }

        if (isPublic || isMember(text, indentation)) && !isDocumented && !isInternal {
            findings.append("\(number): \(text)")
        }
        isDocumented = false
        isInternal = false
        if text.hasPrefix("}"), types.last?.indentation == indentation { types.removeLast() }
        if isPublic, text.hasSuffix("{"), let type = text.firstMatch(of: /\b(protocol|enum)\b/) {
            types.append((indentation, type.output.1 == "protocol"))
        }
    }

    // Most lines begin with something else, and need no slow search by a pattern.

    private func isPublic(_ text: String) -> Bool {
        ["public ", "open ", "@"].contains { text.hasPrefix($0) }
            && text.prefixMatch(of: /(@\w+(\([^)]*\))? )*(public|open) (?!import )\w/) != nil
    }

    private func isAttribute(_ text: String) -> Bool {
        text.hasPrefix("@") && text.wholeMatch(of: /@\w+(\(.*)?( +(@|\/\/).*)?/) != nil
    }

    /// Whether a line is a requirement of a public protocol, or a case of a public enum.
    private func isMember(_ text: String, _ indentation: Int) -> Bool {
        guard let type = types.last, indentation == type.indentation + 4 else { return false }
        return type.isProtocol
            ? text.prefixMatch(of: /(static |mutating )*(func|var|init|associatedtype|subscript)\b/) != nil
            : text.prefixMatch(of: /(indirect )?case\b/) != nil
    }
}

@Suite struct CommentTests {
    @Test func everyPublicSymbolHasAComment() throws {
        for path in PackageFiles.files(in: "Sources", ".swift") {
            let source = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
            #expect(CommentScan(source).findings == [], "\(path): say what each of them does, with ///")
        }
    }

    @Test func theScanFindsSymbolsWithoutAComment() {
        let source = """
            /// A shelf.
            @frozen
            public struct Shelf {
                public var books: Int
                /// Its number.
                public let number: Int
                let width: Int
                @_documentation(visibility: internal)
                @available(
                    *, unavailable)
                public var height: Int { 0 }
                @inlinable
                public init() {}
            }

            /// A kind.
            public enum Kind: Sendable {
                case novel
                /// Verse.
                case poem
            }
            """
        #expect(
            CommentScan(source).findings == ["4: public var books: Int", "13: public init() {}", "18: case novel"])
    }
}
