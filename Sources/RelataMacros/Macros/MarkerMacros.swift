import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// An attribute that `@Model` reads. It writes nothing itself; it only knows where it doesn't belong.
protocol MarkerMacro: PeerMacro {}

extension MarkerMacro {
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

/// `@Attribute`.
public enum AttributeMacro: MarkerMacro {}
/// `@Relationship`.
public enum RelationshipMacro: MarkerMacro {}
/// `@Transient`.
public enum TransientMacro: MarkerMacro {}

/// A freestanding macro that `@Model` reads. It writes nothing itself.
protocol ListMarkerMacro: DeclarationMacro {}

extension ListMarkerMacro {
    /// Expands the macro.
    public static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if !context.isInModel { context.diagnose(Misuse.listOutsideModel(node.macroName.text).at(node)) }
        return []
    }
}

/// `#Unique`.
public enum UniqueMacro: ListMarkerMacro {}
/// `#Index`.
public enum IndexMacro: ListMarkerMacro {}
/// `#Search`.
public enum SearchMacro: ListMarkerMacro {}

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
