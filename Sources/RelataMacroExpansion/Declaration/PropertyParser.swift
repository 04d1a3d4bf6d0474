import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads stored properties from the variables of a model; computed and static ones aren't stored.
struct PropertyParser {
    let model: String
    private(set) var properties: [StoredProperty] = []
    private(set) var diagnostics: [Diagnostic] = []

    init(model: String) { self.model = model }

    /// Reads every stored property of one variable declaration.
    mutating func parse(_ variable: VariableDeclSyntax) {
        guard !variable.isStatic else { return }
        let markers = Markers(variable.attributes)
        var sharedType: TypeSyntax?
        var found: [(binding: PatternBindingSyntax, type: TypeSyntax?)] = []
        // In `var a, b: Int`, only the last name has the type.
        for binding in variable.bindings.reversed() {
            if let type = binding.typeAnnotation?.type {
                sharedType = type
            } else if binding.initializer != nil {
                sharedType = nil
            }
            found.append((binding, sharedType))
        }
        for (binding, type) in found.reversed() { parse(binding, type, of: variable, markers) }
    }

    /// Reports stored properties inside `#if`: the macro doesn't know which branch is compiled.
    mutating func reject(_ condition: IfConfigDeclSyntax) {
        for clause in condition.clauses {
            guard case .decls(let members)? = clause.elements else { continue }
            for member in members {
                if let inner = member.decl.as(IfConfigDeclSyntax.self) { reject(inner) }
                if let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic,
                    variable.bindings.contains(where: { !$0.isComputed })
                {
                    diagnostics.append(Misuse.conditionalProperty(variable.names).at(variable))
                }
            }
        }
    }

    private mutating func parse(
        _ binding: PatternBindingSyntax, _ type: TypeSyntax?, of variable: VariableDeclSyntax, _ markers: Markers
    ) {
        guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
            return diagnostics.append(Misuse.tuplePattern.at(binding.pattern))
        }
        let name = pattern.identifier.text
        let source = Source(name: name, binding: binding, variable: variable)
        if binding.isComputed {
            diagnostics += markers.own.map { marker in
                Misuse.markerOnComputed(name, marker.markerName)
                    .at(marker, .remove(marker))
            }
            return
        }
        if let modifier = variable.modifiers.first(where: { Self.hidingModifiers.contains($0.name.text) }) {
            add(source, type)
            return diagnostics.append(
                Misuse.hidingModifier(name, modifier.name.text)
                    .at(modifier, .remove(modifier, "Remove '\(modifier.name.text)'")))
        }
        for repeated in [markers.attributes, markers.relationships, markers.transients] {
            diagnostics += repeated.dropFirst().map { marker in
                Misuse.repeatedMarker(marker.markerName)
                    .at(marker, .remove(marker, "Remove the second '@\(marker.markerName)'"))
            }
        }
        if let transient = markers.transients.first {
            return parseTransient(source, type, markers, transient)
        }
        if let wrapper = markers.unknown.first {
            add(source, type)
            return diagnostics.append(
                Misuse.wrappedProperty(name, wrapper.markerName).at(wrapper, .remove(wrapper, "Remove the attribute")))
        }
        guard let type else {
            let inferred = binding.initializer?.value.literalType
            add(source, inferred.map { TypeSyntax(stringLiteral: $0) })
            return diagnostics.append(
                Misuse.missingType(name, inferred)
                    .at(pattern, inferred.map { .insert(": \($0)", after: pattern) }))
        }
        parseStored(source, type, markers)
    }

    /// Keeps an invalid property, so that it isn't reported as missing, too.
    private mutating func add(_ source: Source, _ type: TypeSyntax?) {
        guard let type = type.map({ PropertyType($0, model: model) }) else { return }
        properties.append(source.property(type, type.link.map { .link($0, nil, nil) } ?? .attribute(nil)))
    }

    private static let hidingModifiers: Set = ["lazy", "weak", "unowned"]

    /// The source of a property.
    private struct Source {
        let name: String
        let binding: PatternBindingSyntax
        let variable: VariableDeclSyntax

        var isConstant: Bool { variable.bindingSpecifier.tokenKind == .keyword(.let) }

        func property(_ type: PropertyType?, _ kind: StoredProperty.Kind) -> StoredProperty {
            StoredProperty(
                identifier: name, type: type, isConstant: isConstant,
                access: AccessLevel(variable.modifiers) ?? .internal, initialValue: binding.initializer?.value,
                kind: kind, node: Syntax(binding.pattern))
        }
    }

    private mutating func parseTransient(
        _ source: Source, _ type: TypeSyntax?, _ markers: Markers, _ transient: AttributeSyntax
    ) {
        for marker in markers.attributes + markers.relationships {
            diagnostics.append(
                Misuse.markerOnTransient(source.name, marker.markerName)
                    .at(marker, .remove(marker)))
        }
        let type = type.map { PropertyType($0, model: model) }
        let isSet = source.binding.initializer != nil || type?.isOptional == true && !source.isConstant
        if !isSet {
            let value = type?.sampleValue ?? "<#value#>"
            diagnostics.append(
                Misuse.transientWithoutValue(source.name)
                    .at(source.binding.pattern, .insert(" = \(value)", after: source.binding)))
        }
        properties.append(source.property(type, .transient))
    }

    private mutating func parseStored(_ source: Source, _ syntax: TypeSyntax, _ markers: Markers) {
        let name = source.name
        if let forced = syntax.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let optional = forced.wrappedType.sourceText + "?"
            add(source, TypeSyntax(OptionalTypeSyntax(wrappedType: forced.wrappedType.trimmed)))
            return diagnostics.append(
                Misuse.implicitlyUnwrapped(name, optional)
                    .at(syntax, .replace(syntax, with: optional)))
        }
        let type = PropertyType(syntax, model: model)
        if let diagnostic = type.mistake(in: name, at: syntax) {
            add(source, syntax)
            return diagnostics.append(diagnostic)
        }
        let attribute = markers.attributes.first.map(AttributeMarker.init)
        let relationship = markers.relationships.first.map(RelationshipMarker.init)
        let keyword = source.variable.bindingSpecifier
        if let link = type.link {
            let property = source.property(type, .link(link, relationship, attribute))
            if source.isConstant {
                diagnostics.append(
                    Misuse.constantLink(name).at(keyword, .replace(keyword, with: "var", "Replace 'let' with 'var'")))
            }
            diagnostics += LinkChecks(property: property, link: link, type: syntax, model: model).diagnostics
            properties.append(property)
        } else {
            if source.isConstant, let value = source.binding.initializer {
                diagnostics.append(
                    Misuse.constantWithValue(name)
                        .at(
                            value.value, .replace(keyword, with: "var", "Replace 'let' with 'var'"),
                            .removeValue(of: source.binding), .insert("static ", before: keyword, "Make it static")))
            }
            if let relationship {
                diagnostics.append(
                    type.linkInstead.map { link in
                        Misuse.relationshipOnModel(name, type.spelling, link)
                            .at(syntax, .useLink(link, for: syntax, in: source.binding))
                    }
                        ?? Misuse.relationshipOnAttribute(name, type.spelling)
                        .at(
                            relationship.node,
                            .replace(relationship.node.attributeName, with: "Attribute", "Use '@Attribute'")))
            } else if type.content == model, let link = type.linkInstead {
                diagnostics.append(
                    Misuse.modelInItself(name, type.spelling, link)
                        .at(syntax, .useLink(link, for: syntax, in: source.binding)))
            }
            let property = source.property(type, .attribute(attribute))
            diagnostics += AttributeChecks(property: property, type: type).diagnostics
            properties.append(property)
        }
    }
}

extension FixIt {
    /// Turns the property into a link. A value other than `[]` and `nil` belongs to the old type.
    fileprivate static func useLink(_ link: String, for type: TypeSyntax, in binding: PatternBindingSyntax) -> FixIt {
        let value = binding.initializer?.value
        let fits = value.map { $0.is(NilLiteralExprSyntax.self) || $0.sourceText == "[]" } ?? true
        // In `var a, b: [B] = …`, another binding has the type.
        guard !fits, binding.typeAnnotation?.type.id == type.id else { return replace(type, with: link) }
        return replace(binding, with: "\(binding.pattern.sourceText): \(link)", "Replace with '\(link)'")
    }

    /// Leaves the value to the initialiser.
    fileprivate static func removeValue(of binding: PatternBindingSyntax) -> FixIt {
        let declared = binding.with(\.initializer, nil).sourceText
        return replace(binding, with: declared, "Remove the initial value")
    }
}

extension VariableDeclSyntax {
    var isStatic: Bool {
        modifiers.contains { $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class) }
    }

    fileprivate var names: String { bindings.map(\.pattern.sourceText).joined(separator: ", ") }
}

extension PatternBindingSyntax {
    /// Whether reading it runs code; observers leave it stored.
    var isComputed: Bool {
        switch accessorBlock?.accessors {
        case nil: false
        case .getter: true
        case .accessors(let accessors):
            accessors.contains { !["willSet", "didSet"].contains($0.accessorSpecifier.text) }
        }
    }
}
