import SwiftDiagnostics
import SwiftSyntax

/// A mistake in a model, and its correction. The messages are in `Misuses.swift`.
struct Misuse: DiagnosticMessage {
    let message: String
    let diagnosticID: MessageID
    let severity = DiagnosticSeverity.error

    init(_ message: String, id: StaticString = #function) {
        self.message = message
        diagnosticID = MessageID(domain: "Relata", id: "\(id)")
    }

    /// Reports the mistake at a node.
    func at(_ node: some SyntaxProtocol, _ fixIts: FixIt?...) -> Diagnostic {
        Diagnostic(node: Syntax(node), message: self, fixIts: fixIts.compactMap { $0 })
    }
}

/// The description of a fix-it.
private struct Fix: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "Relata", id: message) }
}

extension FixIt {
    private static func edit(
        _ node: some SyntaxProtocol, _ range: Range<AbsolutePosition>, _ source: String, _ message: String
    ) -> FixIt {
        FixIt(message: Fix(message: message), changes: [.replaceText(range: range, with: source, in: Syntax(node))])
    }

    /// Writes other source in the place of a node; the white space and comments around it stay.
    static func replace(_ node: some SyntaxProtocol, with source: String, _ message: String? = nil) -> FixIt {
        let range = node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia
        return edit(node, range, source, message ?? "Replace with '\(source)'")
    }

    /// Writes source before a node, after its comments.
    static func insert(_ source: String, before node: some SyntaxProtocol, _ message: String) -> FixIt {
        let position = node.positionAfterSkippingLeadingTrivia
        return edit(node, position..<position, source, message)
    }

    /// Writes source right behind a node.
    static func insert(_ source: String, after node: some SyntaxProtocol, _ message: String? = nil) -> FixIt {
        let position = node.endPositionBeforeTrailingTrivia
        return edit(node, position..<position, source, message ?? "Add '\(source)'")
    }

    /// Removes a node and the white space behind it.
    static func remove(_ node: some SyntaxProtocol, _ message: String) -> FixIt {
        edit(node, node.positionAfterSkippingLeadingTrivia..<node.endPosition, "", message)
    }

    /// Removes a marker.
    static func remove(_ marker: AttributeSyntax) -> FixIt { remove(marker, "Remove '@\(marker.markerName)'") }

    /// Replaces an argument; the comma after it stays.
    static func replaceArgument(_ argument: LabeledExprSyntax, with source: String) -> FixIt {
        let range = argument.positionAfterSkippingLeadingTrivia..<argument.expression.endPositionBeforeTrailingTrivia
        return edit(argument, range, source, "Replace with '\(source)'")
    }

    /// Removes an argument of a marker attribute, and the parentheses if nothing is left in them.
    static func remove(argument expression: ExprSyntax, of attribute: AttributeSyntax, _ message: String) -> FixIt {
        let list = MarkerArguments(attribute).list.compactMap { $0.expression.id == expression.id ? nil : $0.source }
        let name = "@" + attribute.attributeName.sourceText
        return replace(
            attribute, with: list.isEmpty ? name : name + "(\(list.joined(separator: ", ")))", message)
    }
}
