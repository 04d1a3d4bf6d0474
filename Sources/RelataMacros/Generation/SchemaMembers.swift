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

    /// One statement a property, in a function: the compiler checks each by itself, which it doesn't do with a long array
    /// literal or the statements of a closure.
    private var entity: [String] {
        if isBroken { return ["\(access)static var entity: Relata.Entity {\n    \(Self.unreachable)\n}"] }
        let appends = persistent.flatMap { property in
            let append = description(of: property)
            return property.needsCompiler ? locate(property.node)?.around(append) ?? [append] : [append]
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
        if let table { arguments.append("table: \(table.trimmedDescription)") }
        if let originalTable { arguments.append("originalTable: \(originalTable.trimmedDescription)") }
        arguments.append("properties: properties.properties")
        arguments.append("key: \(key.map(\.name).literals)")
        if isKeyAssigned { arguments.append("isKeyAssigned: true") }
        if !uniques.isEmpty { arguments.append("uniques: [\(uniques.map(\.literals).joined(separator: ", "))]") }
        if !indexes.isEmpty { arguments.append("indexes: [\(indexes.map(\.literals).joined(separator: ", "))]") }
        for stamp in ["revision", "createdAt", "updatedAt"] {
            if let property = property(with: stamp) { arguments.append("\(stamp): \(property.name.literal)") }
        }
        return arguments
    }

    /// The statement that adds a property to the list.
    private func description(of property: StoredProperty) -> String {
        guard let link = property.link else { return property.attributeDescription }
        var call = Call(property)
        let marker = property.relationship
        let inverse = marker?["inverse"]
        switch link.kind {
        case .toOne:
            call.copy(["columns", "deleteRule", "onTargetDelete", "originalName"], from: marker)
            return call.text("toOne")
        case .hasOne:
            call.add(owner: name, "inverse", inverse)
            call.copy(["deleteRule", "removeRule"], from: marker)
            return call.text("hasOne")
        case .toMany where inverse != nil:
            call.add(owner: name, "inverse", inverse)
            call.addOrder(marker)
            call.copy(["deleteRule", "removeRule", "minimum", "maximum"], from: marker)
            return call.text("toMany")
        case .toMany:
            call.addOrder(marker)
            call.copy(["joinTable", "joinColumns", "deleteRule", "minimum", "maximum", "originalName"], from: marker)
            return call.text("manyToMany")
        case .through:
            call.add(throughOf: name, marker?.through)
            return call.text("through")
        }
    }
}

extension StoredProperty {
    /// Whether only the compiler can tell if the property's type and key paths fit: what it says of them belongs to the
    /// property, not into the expansion.
    fileprivate var needsCompiler: Bool {
        guard link != nil else { return type?.known == nil || type?.known == .collection }
        return relationship.map { $0["inverse"] != nil || $0.through != nil } ?? false
    }

    /// The call that describes an attribute, with only those arguments that say something.
    fileprivate var attributeDescription: String {
        var call = Call(self)
        // Of a type that doesn't exist the compiler speaks at the property, and of what is inferred from it no more.
        call.arguments[1] =
            needsCompiler
            ? "Relata.coding(of: Relata.valueType(at: \\Self.\(identifier))\(encodingArgument))" : codingExpression
        for label in ["column", "originalName"] {
            if let value = attribute?.arguments[label] {
                call.arguments.append("\(label): \(value.trimmedDescription)")
            }
        }
        if let options = attribute?.options.filter({ !AttributeMarker.foreign.contains($0.name) }), !options.isEmpty {
            let list = options.map(\.expression.trimmedDescription).joined(separator: ", ")
            call.arguments.append("options: [\(list)]")
        }
        if let initialValue, initialValue.isConstant {
            call.arguments.append("default: { \(initialValue.trimmedDescription) }")
        }
        if let plainType, call.arguments.count == 2 {
            return "properties.\(isOptional ? "optional" : "value")(\(name.literal), \(plainType).self)"
        }
        return call.text("attribute")
    }
}

/// A statement that describes a property at run time.
private struct Call {
    var arguments: [String]
    private var checks: [String] = []

    init(_ property: StoredProperty) { arguments = [property.name.literal, "\(property.typeName).self"] }

    /// Takes over arguments of the marker as they are written.
    mutating func copy(_ labels: [String], from marker: RelationshipMarker?) {
        for label in labels {
            if let value = marker?[label] { arguments.append("\(label): \(value.trimmedDescription)") }
        }
    }

    /// A key path goes along with the name it ends in: the name is for the schema, the path lets the compiler check
    /// that the types fit.
    mutating func add(_ label: String, _ keyPath: ExprSyntax?) {
        guard let keyPath, let path = PropertyKeyPath(keyPath) else { return }
        arguments += ["\(label): \(path.property.literal)", check(path, as: label)]
    }

    /// The argument by which the compiler checks a key path. Its type is found first, whatever is done with it.
    private mutating func check(_ path: PropertyKeyPath, as name: String) -> String {
        checks.append("let \(name) = { \(path.checked) }")
        return "\(name)()"
    }

    /// By an attribute of the target, or by a position that the store keeps.
    mutating func addOrder(_ marker: RelationshipMarker?) {
        if let keyPath = marker?["order"], let path = PropertyKeyPath(keyPath) {
            arguments.append("order: .attribute(\(path.property.literal), \(check(path, as: "order")))")
        } else if marker?["ordered"]?.trimmedDescription == "true" {
            arguments.append("order: .stored")
        }
    }

    mutating func add(owner: String, _ label: String, _ keyPath: ExprSyntax?) {
        arguments.append("owner: \(owner).self")
        add(label, keyPath)
    }

    mutating func add(throughOf owner: String, _ paths: (toMany: ExprSyntax, toOne: ExprSyntax)?) {
        guard let paths, let toMany = PropertyKeyPath(paths.toMany), let toOne = PropertyKeyPath(paths.toOne) else {
            return
        }
        arguments += [
            "owner: \(owner).self", "toMany: \(toMany.property.literal)", "toOne: \(toOne.property.literal)",
            check(toMany, as: "toMany"), check(toOne, as: "toOne"),
        ]
    }

    func text(_ name: String) -> String {
        let append = "properties.append(.\(name)(\(arguments.joined(separator: ", "))))"
        return checks.isEmpty ? append : "do { \((checks + [append]).joined(separator: "; ")) }"
    }
}
