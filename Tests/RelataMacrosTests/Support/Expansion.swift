import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import RelataMacroExpansion

let macroSpecs: [String: MacroSpec] = [
    "Model": MacroSpec(
        type: Named.Model.self, conformances: ["Model", "KeyAssignedModel", "Identifiable", "Hashable"]),
    "Attribute": MacroSpec(type: Named.Attribute.self),
    "Relationship": MacroSpec(type: Named.Relationship.self),
    "Transient": MacroSpec(type: Named.Transient.self),
    "Unique": MacroSpec(type: Named.Unique.self),
    "Index": MacroSpec(type: Named.Index.self),
    "Shape": MacroSpec(type: Named.Shape.self, conformances: ["Shape"]),
].merging(
    ["Root", "From", "Count", "Exists", "First", "Minimum", "Maximum", "Sum", "Average"].map {
        ($0, MacroSpec(type: Named.ShapeMarker.self))
    }, uniquingKeysWith: { first, _ in first })

/// Expects the source to expand to exactly this, without a diagnostic.
func expectExpansion(
    of source: String, is expected: String, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
) {
    assertMacroExpansion(
        source, expandedSource: expected, macroSpecs: macroSpecs,
        failureHandler: { failure in
            Issue.record(
                "\(failure.message)",
                sourceLocation: Testing.SourceLocation(
                    fileID: failure.location.fileID, filePath: failure.location.filePath, line: failure.location.line,
                    column: failure.location.column))
        }, fileID: fileID, filePath: filePath, line: line, column: column)
}

/// The source with every macro expanded. Fails on a diagnostic.
func expansion(of source: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) -> String {
    let (text, findings) = expand(source)
    #expect(findings.isEmpty, sourceLocation: sourceLocation)
    return text
}

/// The diagnostics of a macro.
struct Finding: CustomStringConvertible {
    let message: String
    /// The source it points at.
    let node: String
    /// The whole source after each fix-it, in their order, by the fix-it's message.
    let fixes: [(title: String, source: String)]

    var description: String { "\(node): \(message) \(fixes.map(\.title))" }
}

/// Expands the source and collects the diagnostics.
func expand(_ source: String) -> (text: String, findings: [Finding]) {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(sourceFiles: [
        file: .init(moduleName: "Tests", fullFilePath: "Tests.swift")
    ])
    let expanded = file.expand(
        macroSpecs: macroSpecs,
        contextGenerator: {
            BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        }, indentationWidth: .spaces(4))
    let findings = context.diagnostics.map { diagnostic in
        Finding(
            message: diagnostic.message, node: diagnostic.node.trimmedDescription,
            fixes: diagnostic.fixIts.map { fixIt in
                (fixIt.message.message, apply(fixIt.changes.map { edit($0, in: context) }, to: source))
            })
    }
    return (expanded.description, findings)
}

private typealias Edit = (range: Range<Int>, replacement: String)

/// The edit in the original source: macros see their declarations detached from it.
private func edit(_ change: FixIt.Change, in context: BasicMacroExpansionContext) -> Edit? {
    guard case .replaceText(let range, let replacement, let node) = change else { return nil }
    let bounds = [range.lowerBound, range.upperBound].map {
        context.location(for: $0, anchoredAt: node, fileName: "").offset
    }
    return (bounds[0]..<bounds[1], replacement)
}

private func apply(_ edits: [Edit?], to source: String) -> String {
    var bytes = Array(source.utf8)
    for edit in edits.compactMap({ $0 }).sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
        bytes.replaceSubrange(edit.range, with: Array(edit.replacement.utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Expects one diagnostic, at that node, and the source that each of its fix-its leads to.
func expectMisuse(
    in source: String, at node: String, _ message: String, fixed: [String] = [],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let (_, findings) = expand(source)
    guard findings.count == 1, let finding = findings.first else {
        Issue.record("expected one diagnostic, found \(findings)", sourceLocation: sourceLocation)
        return
    }
    #expect(finding.message == message, sourceLocation: sourceLocation)
    #expect(finding.node == node, sourceLocation: sourceLocation)
    #expect(finding.fixes.map(\.source) == fixed, sourceLocation: sourceLocation)
}

/// Expects one diagnostic in the members of a model that has an `id`, and the members after each fix-it.
func expectMisuse(
    inMembers members: String, at node: String, _ message: String, fixed: [String] = [],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    func model(_ members: String) -> String {
        "@Model struct Book {\n    let id: ID<Book>\n    \(members)\n}"
    }
    expectMisuse(
        in: model(members), at: node, message, fixed: fixed.map(model), sourceLocation: sourceLocation)
}

/// The macros under their own names, as the compiler plug-in gives them theirs.
private enum Named {
    enum Model: ModelExpansion {}
    enum Attribute: MarkerExpansion {}
    enum Relationship: MarkerExpansion {}
    enum Transient: MarkerExpansion {}
    enum Unique: ListMarkerExpansion {}
    enum Index: ListMarkerExpansion {}
    enum Shape: ShapeExpansion {}
    enum ShapeMarker: ShapeMarkerExpansion {}
}
