import SwiftSyntax

extension DeclSyntax {
    /// Creates generated source without parsing it. The compiler parses it in any case; parsing it here too would take
    /// ten times as long as the rest of an expansion.
    init(unparsed source: String) {
        self.init(MissingDeclSyntax(placeholder: .identifier(source)))
    }
}

/// A declaration with a body of one statement a line.
func declaration(_ header: String, _ body: [String]) -> String {
    guard !body.isEmpty else { return header + " {}" }
    return header + " {\n" + body.map(\.indented).joined(separator: "\n") + "\n}"
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
