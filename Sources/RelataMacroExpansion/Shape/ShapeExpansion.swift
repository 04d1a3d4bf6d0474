import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Shape`: generates the source of each property, and lets the compiler find the overload that fits.
public protocol ShapeExpansion: MemberMacro, ExtensionMacro {}

extension ShapeExpansion {
    /// The parts are written with their indentation.
    public static var formatMode: FormatMode { .disabled }

    /// The members that name types of the struct's own surroundings.
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        var parser = ShapeParser(attribute: node, context: context.lexicalContext)
        let shape = parser.shape(from: declaration)
        parser.diagnostics.forEach(context.diagnose)
        return shape?.members.map(DeclSyntax.init(unparsed:)) ?? []
    }

    /// The conformance. Its initialiser is declared here, so that the struct keeps its memberwise one.
    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        var parser = ShapeParser(attribute: node, context: context.lexicalContext)
        guard let shape = parser.shape(from: declaration), !protocols.isEmpty else { return [] }
        let body = shape.conformance.map(\.indented).joined(separator: "\n")
        return [
            try ExtensionDeclSyntax("extension \(type.trimmed): nonisolated Relata.Shape {\n\(raw: body)\n}")
        ]
    }
}

/// `@Root`, `@From`, `@Count` and the other markers of a shape's properties.
public protocol ShapeMarkerExpansion: PeerMacro {}

extension ShapeMarkerExpansion {
    /// Generates nothing, and only reports wrong places.
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if !declaration.is(VariableDeclSyntax.self) || !context.isInType(marked: "Shape") {
            context.diagnose(
                Misuse.outsideShape(node.markerName).at(node, .remove(node)))
        }
        return []
    }
}

/// The content of a struct with `@Shape`.
struct ShapeDeclaration {
    let model: String
    let access: String
    let parts: [Part]
    let declaresHash: Bool

    struct Part {
        /// The property's name, with its backticks.
        let identifier: String
        let type: String
        /// The source of its value, as a closure over the model's fields; `nil` for the whole object.
        let source: String?
    }

    var declaresID: Bool { parts.contains { $0.identifier == "id" } }

    var members: [String] {
        let parts = parts.map { part in
            let call = part.source.map { "part(\(part.type).self, \($0))" } ?? "root(\(part.type).self)"
            return "static let \(part.identifier) = Relata.ShapeParts<\(model)>.\(call)"
        }
        let id = declaresID ? [] : ["\(access)let id: \(model).Key"]
        return id + ["\(access)typealias RootModel = \(model)", declaration("private enum Parts", parts)]
    }

    var conformance: [String] {
        let list = parts.map { "(\($0.identifier.withoutBackticks.literal), Parts.\($0.identifier))" }
        let key = declaresID ? "reader.skipKey(RootModel.self)" : "self.id = try reader.readKey(RootModel.self)"
        var members = [
            "\(access)static let shapeLayout = Relata.ShapeLayout([\(list.joined(separator: ", "))])",
            declaration(
                "\(access)init(from reader: inout Relata.ShapeReader) throws",
                [key] + parts.map { "self.\($0.identifier) = try Parts.\($0.identifier).read(&reader)" }),
            declaration(
                "\(access)mutating func fill(from loader: inout Relata.ShapeLoader)",
                parts.map { "Parts.\($0.identifier).fill(&self.\($0.identifier), from: &loader)" }),
        ]
        if !declaresHash {
            members.append(
                declaration("\(access)func hash(into hasher: inout Hasher)", ["hasher.combine(self.id)"]))
        }
        return members
    }
}
