import SwiftDiagnostics
import SwiftSyntax

/// The mistakes in a link that syntax alone shows.
struct LinkChecks {
    let property: StoredProperty
    let link: Link
    /// The type's node in the source.
    let type: TypeSyntax
    let model: String

    private var name: String { property.name }
    private var marker: RelationshipMarker? { property.relationship }

    var diagnostics: [Diagnostic] {
        var found = misplacedAttribute
        found += missingPaths
        if let marker {
            found += misplacedArguments(marker)
            found += keyPaths(marker)
            found += rules(marker)
            found += counts(marker)
            found += order(marker)
        }
        return found
    }

    /// `@Attribute` belongs on values; a required to-one may be a part of the primary key.
    private var misplacedAttribute: [Diagnostic] {
        guard let attribute = property.attribute else { return [] }
        let isKeyOnly =
            attribute.options.map(\.name) == ["primaryKey"]
            && attribute.arguments.list.count == 1
        if link.kind == .toOne, isKeyOnly { return [] }
        return [Misuse.attributeOnLink(name, link.kind).at(attribute.node, relationship(from: attribute))]
    }

    /// The replacement with `@Relationship`, if it is possible.
    private func relationship(from attribute: AttributeMarker) -> FixIt {
        let column = attribute.arguments["column"].map { "columns: [\($0.sourceText)]" }
        let originalName = attribute.arguments["originalName"].map { "originalName: \($0.sourceText)" }
        let arguments = [link.kind == .toOne ? column : nil, originalName].compactMap { $0 }
        guard marker == nil, link.kind == .toOne || link.kind == .toMany, !arguments.isEmpty else {
            return .remove(attribute.node)
        }
        let instead = "@Relationship(\(arguments.joined(separator: ", ")))"
        return .replace(attribute.node, with: instead)
    }

    /// A has-one needs `inverse:`, and a through link needs `through:`.
    private var missingPaths: [Diagnostic] {
        switch link.kind {
        case .hasOne where marker?["inverse"] == nil:
            let argument = "inverse: \\\(link.target).<#property#>"
            return [Misuse.hasOneWithoutInverse(name, link.target).at(type, add(argument))]
        case .through where marker?.through == nil:
            let argument = "through: \\\(model).<#toMany#>, \\<#JoinModel#>.<#toOne#>"
            return [
                Misuse.throughWithoutPath(name, model, link.target)
                    .at(type, marker?.arguments.list.isEmpty == false ? nil : add(argument))
            ]
        default: return []
        }
    }

    private func add(_ argument: String) -> FixIt {
        guard let marker else {
            return .insert(
                "@Relationship(\(argument)) ", before: property.declaration.map(Syntax.init) ?? property.node,
                "Add '@Relationship(\(argument))'")
        }
        let arguments = [argument] + marker.arguments.list.map(\.source)
        return .replace(
            marker.node, with: "@Relationship(\(arguments.joined(separator: ", ")))", "Add '\(argument)'")
    }

    // MARK: Arguments

    /// Each argument has its place on some kinds of links only.
    private func misplacedArguments(_ marker: RelationshipMarker) -> [Diagnostic] {
        let isView = link.kind == .hasOne || link.kind == .through || marker["inverse"] != nil
        var allowed: Set<String>
        switch link.kind {
        case .toOne: allowed = ["deleteRule", "onTargetDelete", "columns", "originalName"]
        case .hasOne: allowed = ["deleteRule", "removeRule", "inverse"]
        case .toMany: allowed = ["deleteRule", "inverse", "ordered", "minimum", "maximum"]
        case .through: allowed = ["through"]
        }
        if link.kind == .toMany {
            allowed.formUnion(
                isView ? ["order", "removeRule"] : ["order", "joinTable", "joinColumns", "originalName"])
        }
        return marker.arguments.list.compactMap { argument in
            guard let label = argument.label?.text, !allowed.contains(label),
                !RelationshipMarker.foreign.contains(label),
                marker[label] != nil, !(label == "ordered" && argument.expression.sourceText == "false")
            else { return nil }
            // The second key path has no meaning without `through:`.
            let change: FixIt =
                label == "through"
                ? .remove(marker.node)
                : .remove(argument: argument.expression, of: marker.node, "Remove '\(label):'")
            return Misuse.misplacedArgument(name, label, link.kind, isView: isView).at(argument, change)
        }
    }

    private func keyPaths(_ marker: RelationshipMarker) -> [Diagnostic] {
        var expected: [(ExprSyntax, root: String?)] = []
        if link.kind == .hasOne || link.kind == .toMany {
            expected += ["inverse", "order"].compactMap { label in marker[label].map { ($0, link.target) } }
        }
        if link.kind == .through, let through = marker.through {
            expected += [(through.toMany, model), (through.toOne, nil)]
        }
        return expected.compactMap { expression, root in
            let wanted = root ?? "JoinModel"
            guard let path = PropertyKeyPath(expression) else {
                return Misuse.notAKeyPath("@Relationship", model: wanted).at(expression)
            }
            guard let root else {
                return path.root == nil ? Misuse.notAKeyPath("@Relationship", model: wanted).at(expression) : nil
            }
            let found = path.root.map { $0 == "Self" ? model : $0 }
            guard found.map(\.lastName) != root.lastName else { return nil }
            let fixed = "\\\(root).\(path.property)"
            return Misuse.keyPathOfOtherType(name, found, expected: root)
                .at(expression, .replace(expression, with: fixed))
        }
    }

    // MARK: Rules, counts and order

    private func rules(_ marker: RelationshipMarker) -> [Diagnostic] {
        var found: [Diagnostic] = []
        if link.kind == .toOne, !link.isOptional, let rule = marker["onTargetDelete"], rule.calledMember == "nullify" {
            let isKey = property.attribute?.has("primaryKey") == true
            let optional = type.sourceText + "?"
            found.append(
                Misuse.nullifyRequired(name)
                    .at(
                        rule, .replace(rule, with: ".deny"),
                        .replace(rule, with: ".cascade"),
                        isKey ? nil : .replace(type, with: optional, "Make the link optional: '\(optional)'")))
        }
        if link.kind == .toMany, marker["inverse"] == nil, let rule = marker["deleteRule"],
            rule.calledMember == "noAction"
        {
            found.append(
                Misuse.danglingJoin(name).at(rule, .replace(rule, with: ".nullify")))
        }
        return found
    }

    private func counts(_ marker: RelationshipMarker) -> [Diagnostic] {
        guard link.kind == .toMany else { return [] }
        let minimum = marker["minimum"]?.integerValue
        let maximum = marker["maximum"]?.integerValue
        if let minimum, let maximum, minimum > maximum, let node = marker["minimum"] {
            return [Misuse.impossibleCounts(name, minimum, maximum).at(node)]
        }
        return ["minimum", "maximum"].compactMap { label in
            guard let node = marker[label], let count = node.integerValue, count < (label == "minimum" ? 0 : 1) else {
                return nil
            }
            return Misuse.pointlessCount(name, label, count)
                .at(node, .remove(argument: node, of: marker.node, "Remove '\(label):'"))
        }
    }

    private func order(_ marker: RelationshipMarker) -> [Diagnostic] {
        if link.kind == .toMany, let ordered = marker["ordered"], !ordered.is(BooleanLiteralExprSyntax.self) {
            return [
                Misuse.computedOrder(name).at(ordered, .replace(ordered, with: "true"))
            ]
        }
        guard link.kind == .toMany, let order = marker["order"] else { return [] }
        if let ordered = marker["ordered"], ordered.sourceText == "true" {
            return [
                Misuse.orderedTwice(name)
                    .at(ordered, .remove(argument: ordered, of: marker.node, "Remove 'ordered:'"))
            ]
        }
        if marker["inverse"] == nil {
            let argument = order.parent?.as(LabeledExprSyntax.self)
            return [
                Misuse.orderWithoutInverse(name, link.target)
                    .at(
                        order,
                        argument.map { .replaceArgument($0, with: "ordered: true") })
            ]
        }
        return []
    }
}

extension String {
    /// `Review` of `Outer.Review`.
    fileprivate var lastName: String { split(separator: ".").last.map(String.init) ?? self }
}
