import SwiftSyntax
import SwiftSyntaxBuilder

/// A declaration with a body of one statement a line.
func declaration(_ header: String, _ body: [String]) -> DeclSyntax {
    guard !body.isEmpty else { return DeclSyntax(stringLiteral: header + " {}") }
    return DeclSyntax(stringLiteral: header + " {\n" + body.map { $0.indented }.joined(separator: "\n") + "\n}")
}

extension String {
    /// Every line moved in by one step.
    var indented: String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "    " + $0 }.joined(separator: "\n")
    }
}

extension [String] {
    /// The names as an array of string literals.
    var literals: String { "[" + map(\.literal).joined(separator: ", ") + "]" }
}
