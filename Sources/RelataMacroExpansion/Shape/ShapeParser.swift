import SwiftDiagnostics
import SwiftSyntax

/// Reads the struct with `@Shape`, and collects all mistakes.
struct ShapeParser {
    let attribute: AttributeSyntax
    /// The declarations around the shape, innermost first.
    let context: [Syntax]
    private(set) var diagnostics: [Diagnostic] = []
    /// The static members, which may be the source of a property.
    private var staticNames: Set<String> = []

    init(attribute: AttributeSyntax, context: [Syntax]) {
        self.attribute = attribute
        self.context = context
    }

    /// The shape; `nil` if there was a mistake.
    mutating func shape(from declaration: some DeclGroupSyntax) -> ShapeDeclaration? {
        guard let declaration = declaration.as(StructDeclSyntax.self) else {
            diagnostics.append(Misuse.shapeOfOther(declaration.introducer.text).at(declaration.introducer))
            return nil
        }
        // Its conformance is beside the enclosing struct, from which a private shape isn't visible.
        if !context.isEmpty, let level = declaration.modifiers.first(where: { $0.name.text == "private" }) {
            diagnostics.append(
                Misuse.hiddenShape(declaration.name.text)
                    .at(level, .replace(level, with: "fileprivate", "Replace 'private' with 'fileprivate'")))
        }
        if let clause = declaration.genericClause(in: context) {
            diagnostics.append(Misuse.genericShape(declaration.name.text).at(clause))
            return nil
        }
        guard let model = MarkerArguments(attribute)["of"]?.typeName else {
            diagnostics.append(Misuse.shapeWithoutModel.at(attribute))
            return nil
        }
        let members = declaration.memberBlock.members
        let name = declaration.name.text
        staticNames = members.reduce(into: []) { names, member in
            guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isStatic else { return }
            names.formUnion(variable.bindings.map(\.pattern.sourceText))
        }
        var parts: [ShapeDeclaration.Part] = []
        for member in members {
            if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                var parser = PropertyParser(model: name)
                parser.reject(condition)
                diagnostics += parser.diagnostics
            } else if let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic {
                for binding in variable.bindings { part(binding, of: variable, name).map { parts.append($0) } }
            }
        }
        guard diagnostics.isEmpty else { return nil }
        let level = declaration.visibility(in: context)
        return ShapeDeclaration(
            model: model, access: level > .internal ? level.modifier : "", parts: parts,
            declaresHash: DeclaredMembers(members).hasHash)
    }

    // MARK: Properties

    private static let markers: Set = [
        "Root", "From", "Count", "Exists", "First", "Minimum", "Maximum", "Sum", "Average",
    ]

    private mutating func part(
        _ binding: PatternBindingSyntax, of variable: VariableDeclSyntax, _ shape: String
    ) -> ShapeDeclaration.Part? {
        let markers = Markers(variable.attributes)
        let own = markers.unknown.filter { Self.markers.contains($0.markerName) }
        guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
            diagnostics.append(Misuse.tuplePattern.at(binding.pattern))
            return nil
        }
        let name = pattern.identifier.text
        if binding.isComputed || !markers.transients.isEmpty {
            diagnostics += own.map {
                Misuse.markerOnLoneProperty(name, $0.markerName).at($0, .remove($0))
            }
            return nil
        }
        let count = diagnostics.count
        if let wrapper = markers.unknown.first(where: { !Self.markers.contains($0.markerName) }) {
            diagnostics.append(
                Misuse.wrappedProperty(name, wrapper.markerName).at(wrapper, .remove(wrapper, "Remove the attribute")))
        }
        if let second = own.dropFirst(staticNames.contains(name) ? 0 : 1).first {
            let first = second == own[0] ? "the static member" : "@\(own[0].markerName)"
            diagnostics.append(
                Misuse.twoSources(name, first, second.markerName)
                    .at(second, .remove(second)))
        }
        let keyword = variable.bindingSpecifier
        if keyword.tokenKind == .keyword(.let) {
            diagnostics.append(
                Misuse.constantInShape(name).at(keyword, .replace(keyword, with: "var", "Replace 'let' with 'var'")))
        }
        guard let type = binding.typeAnnotation?.type else {
            diagnostics.append(Misuse.shapeWithoutType(name).at(pattern))
            return nil
        }
        let source =
            own.first.map { closure(of: name, $0) }
            ?? (staticNames.contains(name) ? "\(shape).\(name)" : "{ $0.\(name) }")
        guard diagnostics.count == count else { return nil }
        return ShapeDeclaration.Part(
            identifier: name, type: PropertyType(type, model: shape).text,
            source: own.first?.markerName == "Root" ? nil : source)
    }

    /// The source of a property that a marker gives, as a closure.
    private mutating func closure(of property: String, _ marker: AttributeSyntax) -> String {
        let name = marker.markerName
        guard name != "Root" else { return "" }
        let argument = MarkerArguments(marker).unlabeled.first
        let names = argument?.names ?? []
        let isOfAttribute = ["Minimum", "Maximum", "Sum", "Average"].contains(name)
        guard names.count > (isOfAttribute ? 1 : 0), let last = names.last else {
            diagnostics.append(
                Misuse.sourceWithoutPath(property, name, isOfAttribute ? "\\.items.price" : "\\.items").at(marker))
            return ""
        }
        let path = "$0." + names.joined(separator: ".")
        let way = "$0." + names.dropLast().joined(separator: ".")
        return switch name {
        case "Count": "{ \(path).count }"
        case "Exists": "{ !\(path).isEmpty }"
        case "First": "{ \(path).first }"
        case "From": "{ \(path) }"
        default: "{ \(way).\(name.lowercased()) { $0.\(last) } }"
        }
    }
}

extension ExprSyntax {
    /// `Setlist` of `Setlist.self`.
    fileprivate var typeName: String? {
        guard let member = self.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "self" else {
            return nil
        }
        return member.base?.sourceText
    }

    /// The names in `\.items.song`.
    fileprivate var names: [String]? {
        guard let literal = self.as(KeyPathExprSyntax.self), literal.root == nil else { return nil }
        var names: [String] = []
        for component in literal.components {
            guard case .property(let property) = component.component else { return nil }
            names.append(property.declName.baseName.text)
        }
        return names
    }
}
