import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Model`: reads the struct once, and generates each part of the model from the result.
public protocol ModelExpansion: MemberMacro, ExtensionMacro {}

extension ModelExpansion {
    /// The parts are written with their indentation; formatting them again would only cost build time.
    public static var formatMode: FormatMode { .disabled }

    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        var parser = ModelParser(attribute: node, context: context.lexicalContext) { node in
            context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath).map {
                SourcePlace(
                    file: $0.file.sourceText, line: $0.line.sourceText,
                    column: $0.column.integerValue ?? 1)
            }
        }
        let model = parser.model(from: declaration)
        parser.diagnostics.forEach(context.diagnose)
        guard let model else { return [] }
        let parts =
            model.initializers + model.coding + model.keyMembers + model.schema + model.comparison + [model.fields]
        return parts.map(DeclSyntax.init(unparsed:))
    }

    /// Adds the conformances. Mistakes were reported by the member role.
    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        var parser = ModelParser(attribute: node, context: context.lexicalContext)
        guard let model = parser.model(from: declaration) else { return [] }
        let missing = Set(protocols.compactMap { $0.sourceText.split(separator: ".").last.map(String.init) })
        var conformances: [String] = []
        if missing.contains("Model") { conformances.append("Relata.Model") }
        if missing.contains("KeyAssignedModel"), model.isKeyAssigned { conformances.append("Relata.KeyAssignedModel") }
        if missing.contains("Hashable") { conformances.append("Hashable") }
        if missing.contains("Identifiable"), model.persistent.contains(where: { $0.name == "id" }) {
            conformances.append("Identifiable")
        }
        guard !conformances.isEmpty else { return [] }
        // A module may isolate its types to the main actor by default; objects are read and written off it.
        let list = conformances.map { "nonisolated \($0)" }.joined(separator: ", ")
        // Built, not parsed: see `DeclSyntax.init(unparsed:)`.
        return [
            ExtensionDeclSyntax(
                extensionKeyword: .keyword(.extension, trailingTrivia: .space), extendedType: type.trimmed,
                inheritanceClause: InheritanceClauseSyntax(
                    colon: .colonToken(trailingTrivia: .space),
                    inheritedTypes: [InheritedTypeSyntax(type: MissingTypeSyntax(placeholder: .identifier(list)))]),
                memberBlock: MemberBlockSyntax(
                    leftBrace: .leftBraceToken(leadingTrivia: .space), members: []))
        ]
    }
}
