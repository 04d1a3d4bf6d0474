import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// An attribute that `@Model` reads. It generates nothing itself, and only reports wrong places.
public protocol MarkerExpansion: PeerMacro {}

extension MarkerExpansion {
    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let name = node.markerName
        if !declaration.is(VariableDeclSyntax.self) {
            context.diagnose(Misuse.markerOnOther(name).at(node, .remove(node)))
        } else if !context.isInModel, !(name == "Transient" && context.isInType(marked: "Shape")) {
            context.diagnose(Misuse.markerOutsideModel(name).at(node, .remove(node)))
        }
        return []
    }
}

/// A freestanding macro that `@Model` reads. It writes nothing itself.
public protocol ListMarkerExpansion: DeclarationMacro {}

extension ListMarkerExpansion {
    /// Expands the macro.
    public static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if !context.isInModel { context.diagnose(Misuse.listOutsideModel(node.macroName.text).at(node)) }
        return []
    }
}

extension MacroExpansionContext {
    /// Whether the innermost type around the macro is marked `@Model`.
    fileprivate var isInModel: Bool { isInType(marked: "Model") }

    /// Whether the innermost type around the macro is marked so.
    func isInType(marked name: String) -> Bool {
        guard let type = lexicalContext.first?.asProtocol(WithAttributesSyntax.self) else { return false }
        return type.attributes.contains { element in
            if case .attribute(let attribute) = element { attribute.markerName == name } else { false }
        }
    }
}
