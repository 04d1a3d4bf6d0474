import SwiftDiagnostics
import SwiftSyntax

/// The mistakes in an attribute that syntax alone shows.
struct AttributeChecks {
    let property: StoredProperty
    let type: PropertyType

    var diagnostics: [Diagnostic] {
        guard let marker = property.attribute else { return [] }
        return repeated(marker) + conflicts(marker) + marker.options.flatMap { mistakes(of: $0, marker) }
    }

    private func repeated(_ marker: AttributeMarker) -> [Diagnostic] {
        var seen: Set<String> = []
        return marker.options.filter { !$0.name.isEmpty && !seen.insert($0.name).inserted }.map {
            Misuse.repeatedOption(property.name, $0.name).at($0.expression, remove($0, marker))
        }
    }

    /// A value is stored, and stamped, in one way only.
    private func conflicts(_ marker: AttributeMarker) -> [Diagnostic] {
        [["iso8601", "seconds", "text"], ["createdAt", "updatedAt", "revision", "primaryKey"]].compactMap { group in
            let found = marker.options.filter { group.contains($0.name) }
            guard let second = found.first(where: { $0.name != found[0].name }) else { return nil }
            return Misuse.conflictingOptions(property.name, found[0].name, second.name)
                .at(second.expression, remove(second, marker))
        }
    }

    private func mistakes(of option: AttributeMarker.Option, _ marker: AttributeMarker) -> [Diagnostic] {
        if let bounds = option.bounds, bounds.lower > bounds.upper {
            return [Misuse.emptyBounds(property.name, option.name).at(option.expression)]
        }
        if let kinds = Self.kinds[option.name], let known = type.known, !kinds.types.contains(known) {
            return [
                Misuse.optionOnOtherType(property.name, option.name, fits: kinds.description, type.spelling)
                    .at(option.expression, remove(option, marker))
            ]
        }
        if option.name == "revision", type.isOptional {
            return [
                Misuse.optionalRevision(property.name)
                    .at(type.original, .replace(type.original, with: type.wrappedSpelling, "Remove '?'"))
            ]
        }
        return []
    }

    private func remove(_ option: AttributeMarker.Option, _ marker: AttributeMarker) -> FixIt {
        .remove(argument: option.expression, of: marker.node, "Remove '.\(option.name)'")
    }

    /// The types that an option fits, if the type's name determines them.
    private static let kinds: [String: (types: Set<KnownType>, description: String)] = [
        "createdAt": ([.date], "a Date"),
        "updatedAt": ([.date], "a Date"),
        "revision": ([.integer], "an integer"),
        "notEmpty": ([.text, .data, .url, .collection], "text, Data or a collection"),
        "range": ([.integer, .real, .decimal], "a number"),
        "length": ([.text, .url, .data], "text or Data"),
        "pattern": ([.text, .url], "text"),
        "iso8601": ([.date], "a Date"),
        "seconds": ([.date], "a Date"),
        "text": ([.uuid, .identifier], "a UUID or an ID"),
        "primaryKey": (
            [.identifier, .integer, .text, .uuid, .url, .date, .data, .decimal, .boolean],
            "an ID, an integer, a String, a UUID or an enum"
        ),
    ]
}

extension AttributeMarker.Option {
    /// The bounds of `.range(1...5)` if both are literals.
    fileprivate var bounds: (lower: Double, upper: Double)? {
        guard let argument = expression.as(FunctionCallExprSyntax.self)?.arguments.first?.expression else { return nil }
        let elements = argument.as(SequenceExprSyntax.self).map { Array($0.elements) } ?? []
        let folded = argument.as(InfixOperatorExprSyntax.self)
        let operands =
            elements.count == 3 ? (elements[0], elements[2]) : folded.map { ($0.leftOperand, $0.rightOperand) }
        guard let lower = operands?.0.numberValue, let upper = operands?.1.numberValue else { return nil }
        return (lower, upper)
    }
}
