import SwiftSyntax

extension ModelDeclaration {
    /// The entity and the models it is linked to.
    var schema: [String] {
        var seen: Set<String> = []
        let targets = links.map(\.link.target).filter { seen.insert($0).inserted }
        return [
            "\(access)static var entityName: String {\n    \(entityName.literal)\n}",
            member(
                "\(access)static var linkedModels: [any Relata.Model.Type]",
                ["[" + targets.map { "\($0).self" }.joined(separator: ", ") + "]"]),
        ] + entity
    }

    /// A function with one statement for each property: the compiler checks each statement separately, unlike a long
    /// array literal or the statements of a closure.
    private var entity: [String] {
        if isBroken { return ["\(access)static var entity: Relata.Entity {\n    \(Self.unreachable)\n}"] }
        let appends = persistent.flatMap { property in
            let call = description(of: property)
            return property.needsCompiler ? refusing(property, call) : [call.appended]
        }
        let body =
            ["var properties = Relata.PropertyList()"] + appends
            + ["return Relata.Entity(\n" + entityArguments.joined(separator: ",\n").indented + "\n)"]
        return [
            "\(access)static let entity: Relata.Entity = makeEntity()",
            declaration("private static func makeEntity() -> Relata.Entity", body),
        ]
    }

    private var entityArguments: [String] {
        let uniques = persistent.filter { $0.attribute?.has("unique") == true }.map { [$0.name] } + uniques
        var arguments = ["name: entityName"]
        if let table { arguments.append("table: \(table.sourceText)") }
        if let originalTable { arguments.append("originalTable: \(originalTable.sourceText)") }
        arguments.append("properties: properties.properties")
        arguments.append("key: \(key.map(\.name).literals)")
        if isKeyAssigned { arguments.append("isKeyAssigned: true") }
        if !uniques.isEmpty { arguments.append("uniques: [\(uniques.map(\.literals).joined(separator: ", "))]") }
        if !indexes.isEmpty { arguments.append("indexes: [\(indexes.map(\.literals).joined(separator: ", "))]") }
        if !search.isEmpty { arguments.append("search: \(search.literals)") }
        for stamp in ["revision", "createdAt", "updatedAt"] {
            if let property = property(with: stamp) { arguments.append("\(stamp): \(property.name.literal)") }
        }
        return arguments
    }

    /// The statements that add a property that only the compiler can check. A mismatch is an error at the property's
    /// type that names both types.
    private func refusing(_ property: StoredProperty, _ call: Call) -> [String] {
        let refusals = property.refusals(in: name).map { reason, message in
            "@available(*, unavailable, message: \(message.literal)) "
                + "func add(_: Relata.RefusedProperty<Relata.\(reason)>) {}"
        }
        let place = locate(Syntax(property.type?.original) ?? property.node)
        let lines = ["func add(_ property: Relata.Property) { properties.append(property) }"] + refusals
        return ["do {"] + (lines + call.checks).map(\.indented)
            + (place?.around(call.added) ?? [call.added.indented]) + ["}"]
    }

    /// The call that describes a property.
    private func description(of property: StoredProperty) -> Call {
        guard let link = property.link else { return property.attributeDescription }
        var call = Call(property)
        let marker = property.relationship
        let inverse = marker?["inverse"]
        switch link.kind {
        case .toOne:
            call.copy(["columns", "deleteRule", "onTargetDelete", "originalName"], from: marker)
            return call.named("toOne")
        case .hasOne:
            call.add(owner: name, "inverse", inverse, of: property)
            call.copy(["deleteRule", "removeRule"], from: marker)
            return call.named("hasOne")
        case .toMany where inverse != nil:
            call.add(owner: name, "inverse", inverse, of: property)
            call.addOrder(marker, of: property)
            call.copy(["deleteRule", "removeRule", "minimum", "maximum"], from: marker)
            return call.named("toMany")
        case .toMany:
            call.addOrder(marker, of: property)
            call.copy(["joinTable", "joinColumns", "deleteRule", "minimum", "maximum", "originalName"], from: marker)
            return call.named("manyToMany")
        case .through:
            call.add(throughOf: name, marker?.through)
            return call.named("through")
        }
    }
}

extension StoredProperty {
    /// Whether only the compiler can check the property's type and key paths. Its errors belong to the property, not
    /// into the expansion.
    fileprivate var needsCompiler: Bool {
        guard link != nil else { return type?.known == nil || type?.known == .collection }
        return relationship.map { $0["inverse"] != nil || $0.through != nil } ?? false
    }

    /// The call that describes an attribute, without arguments that have their default.
    fileprivate var attributeDescription: Call {
        var call = Call(self)
        // The compiler reports a missing type at the property, and doesn't report the type inferred from it again.
        call.arguments[1] =
            needsCompiler
            ? "Relata.coding(of: Relata.valueType(at: \\Self.\(identifier))\(encodingArgument))" : codingExpression
        for label in ["column", "originalName"] {
            if let value = attribute?.arguments[label] {
                call.arguments.append("\(label): \(value.sourceText)")
            }
        }
        if let options = attribute?.options.filter({ !AttributeMarker.foreign.contains($0.name) }), !options.isEmpty {
            let list = options.map(\.expression.sourceText).joined(separator: ", ")
            call.arguments.append("options: [\(list)]")
        }
        if let initialValue, initialValue.isConstant {
            call.arguments.append("default: { \(initialValue.sourceText) }")
        }
        if let plainType, call.arguments.count == 2 {
            call.whole = "properties.\(isOptional ? "optional" : "value")(\(name.literal), \(plainType).self)"
        }
        return call.named("attribute")
    }
}

/// A call that describes a property at run time.
private struct Call {
    var arguments: [String]
    /// The statement that replaces the call, if a shorter one exists.
    var whole: String?
    /// The expressions whose types the compiler finds first, regardless of their use.
    private(set) var checks: [String] = []
    private var name = ""

    init(_ property: StoredProperty) { arguments = [property.name.literal, "\(property.typeName).self"] }

    /// The call of a function.
    func named(_ name: String) -> Call {
        var call = self
        call.name = name
        return call
    }

    private var call: String { ".\(name)(\(arguments.joined(separator: ", ")))" }
    /// The statement that adds the property to the list.
    var appended: String { whole ?? "properties.append(\(call))" }
    /// The statement that adds the property if the compiler may refuse it.
    var added: String { "add(Relata.Property\(call))" }

    /// Takes over arguments of the marker as they are written.
    mutating func copy(_ labels: [String], from marker: RelationshipMarker?) {
        for label in labels {
            if let value = marker?[label] { arguments.append("\(label): \(value.sourceText)") }
        }
    }

    /// The argument by which the compiler checks a key path: see ``PropertyKeyPath/checked``.
    private mutating func check(_ path: String, as name: String) -> String {
        checks.append("let \(name) = { \(path) }")
        return "\(name)()"
    }

    /// Infers the type from the property. The compiler reports a missing target there, and doesn't report the inferred
    /// type again.
    private mutating func infer(_ property: StoredProperty) {
        arguments[1] = "Relata.valueType(at: \\Self.\(property.identifier))"
    }

    /// By an attribute of the target, or by a position that the store keeps.
    mutating func addOrder(_ marker: RelationshipMarker?, of property: StoredProperty) {
        if let keyPath = marker?["order"], let path = PropertyKeyPath(keyPath) {
            infer(property)
            let order = check(path.checked(of: property), as: "order")
            arguments.append("order: Relata.listOrder(by: \(path.property.literal), \(order))")
        } else if marker?["ordered"]?.sourceText == "true" {
            arguments.append("order: .stored")
        }
    }

    /// A key path accompanies the name at its end: the name is for the schema, and the path lets the compiler check the
    /// types.
    mutating func add(owner: String, _ label: String, _ keyPath: ExprSyntax?, of property: StoredProperty) {
        infer(property)
        arguments.append("owner: \(owner).self")
        guard let keyPath, let path = PropertyKeyPath(keyPath) else { return }
        arguments += ["\(label): \(path.property.literal)", check(path.checked(of: property), as: label)]
    }

    mutating func add(throughOf owner: String, _ paths: (toMany: ExprSyntax, toOne: ExprSyntax)?) {
        guard let paths, let toMany = PropertyKeyPath(paths.toMany), let toOne = PropertyKeyPath(paths.toOne) else {
            return
        }
        arguments += [
            "owner: \(owner).self", "toMany: \(toMany.property.literal)", "toOne: \(toOne.property.literal)",
            check(toMany.checked, as: "toMany"), check(toOne.checked, as: "toOne"),
        ]
    }
}
