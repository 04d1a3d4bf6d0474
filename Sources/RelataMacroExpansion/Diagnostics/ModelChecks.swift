import SwiftDiagnostics
import SwiftSyntax

/// The mistakes in a model as a whole that syntax alone shows, once each property is correct.
struct ModelChecks {
    let model: ModelDeclaration

    var diagnostics: [Diagnostic] {
        reservedNames + hiddenId + otherKey + keyMistakes + repeatedStamps + throughMistakes + originalNameMistakes
    }

    /// Names of members that the macro generates.
    private var reservedNames: [Diagnostic] {
        model.properties.filter { $0.name == "primaryKey" || $0.name == "fieldPath" }.map {
            Misuse.reservedName($0.name).at($0.node)
        } + model.declaredMembers.clashes.map { Misuse.reservedType($0.text).at($0) }
    }

    /// `Identifiable` shows the `id` wherever the model is seen.
    private var hiddenId: [Diagnostic] {
        let needed = max(model.visibility, .fileprivate)
        return model.persistent.filter { $0.name == "id" && $0.access < needed }.map { id in
            let wanted = needed == .internal ? "" : "\(needed.rawValue) "
            var fixIt: FixIt?
            if let variable = id.declaration {
                let modifier = variable.modifiers.first {
                    $0.detail == nil && AccessLevel(rawValue: $0.name.text) != nil
                }
                fixIt =
                    modifier.map {
                        wanted.isEmpty
                            ? .remove($0, "Remove '\($0.name.text)'")
                            : .replace($0, with: needed.rawValue, "Make it '\(needed.rawValue)'")
                    } ?? .insert(wanted, before: variable.bindingSpecifier, "Make it '\(needed.rawValue)'")
            }
            return Misuse.hiddenId(needed.rawValue, model: model.name).at(id.node, fixIt)
        }
    }

    /// The database assigns `id: Int?` if it is the key. With another key, it is never set.
    private var otherKey: [Diagnostic] {
        guard let id = model.persistent.first(where: { $0.name == "id" }), let type = id.type, type.isOptional,
            type.known == .integer, !model.key.contains(where: { $0.name == "id" })
        else { return [] }
        let markers = model.key.compactMap { property in
            property.attribute.flatMap { marker in marker.option("primaryKey").map { (marker, $0.expression) } }
        }
        let change = markers.count == 1 ? markers.first : nil
        return [
            Misuse.idBesideKey(type.spelling, key: model.key.map(\.name)).at(
                id.node,
                change.map { .remove(argument: $0.1, of: $0.0.node, "Remove '.primaryKey', so that 'id' is the key") })
        ]
    }

    private var keyMistakes: [Diagnostic] {
        model.key.compactMap { property in
            guard let type = property.type else { return nil }
            if let link = property.link, link.kind != .toOne {
                return Misuse.keyType(property.name, type.spelling).at(property.node)
            }
            if type.known == .real || type.known == .collection {
                return Misuse.keyType(property.name, type.spelling).at(property.node)
            }
            let isAssignable =
                model.key.count == 1 && property.link == nil && ["Int", "Int64"].contains(type.wrapped.nominal?.name)
            if type.isOptional, !isAssignable {
                return Misuse.optionalKey(property.name, type.wrappedSpelling, isComposite: model.key.count > 1)
                    .at(
                        type.original,
                        .replace(type.original, with: type.wrappedSpelling))
            }
            return nil
        }
    }

    private var repeatedStamps: [Diagnostic] {
        ["revision", "createdAt", "updatedAt"].flatMap { stamp in
            model.properties.filter { $0.attribute?.has(stamp) == true }.dropFirst().compactMap { property in
                guard let marker = property.attribute, let option = marker.option(stamp) else { return nil }
                return Misuse.repeatedStamp(stamp, model: model.name)
                    .at(
                        option.expression,
                        .remove(argument: option.expression, of: marker.node, "Remove '.\(stamp)'"))
            }
        }
    }

    /// The first path of `through:` must be a to-many of the model whose target is the root of the second path.
    private var throughMistakes: [Diagnostic] {
        model.links.compactMap { through in
            guard let paths = through.property.relationship?.through, let first = PropertyKeyPath(paths.toMany),
                let second = PropertyKeyPath(paths.toOne)
            else { return nil }
            // The compiler reports the missing property at the key path.
            guard let items = model.properties.first(where: { $0.name == first.property }) else { return nil }
            guard let link = items.link, link.kind == .toMany, items.relationship?["inverse"] != nil else {
                return Misuse.throughNoToMany(through.property.name, first.property).at(paths.toMany)
            }
            let join = link.target.split(separator: ".").last
            guard second.root?.split(separator: ".").last != join else { return nil }
            let fixed = "\\\(link.target).\(second.property)"
            return Misuse.keyPathOfOtherType(through.property.name, second.root, expected: link.target)
                .at(paths.toOne, .replace(paths.toOne, with: fixed))
        }
    }
}
