import SwiftSyntax

extension ModelDeclaration {
    /// The memberwise initialiser, the initialiser that takes bare objects for links, and the initialiser that takes
    /// the values of a saved object.
    var initializers: [String] {
        let labels = parameters.map(\.property.identifier)
        let isWritten = declaredMembers.initializers.contains(labels)
        return (isWritten ? [] : [memberwise] + bareMemberwise) + [saved]
    }

    private struct Parameter {
        let property: StoredProperty
        let defaultValue: String?

        var text: String { text(property.typeName, defaultValue) }

        /// The parameter in the form that also takes a bare object, if it is a link to one.
        var bareText: String {
            guard let link = property.link else { return text }
            let initialValue = property.usableInitialValue.map {
                "(\($0.sourceText)) as \(property.typeName)"
            }
            switch link.kind {
            case .hasOne: return text("\(link.target)?", "nil")
            case .toOne where link.isOptional:
                return text(
                    "(some Relata.ToOneConvertible<\(link.target)>)?",
                    // If the target doesn't exist, this form causes no further compiler errors, unlike `.none`.
                    initialValue ?? "nil as Relata.ToOne<\(link.target)>?")
            case .toOne:
                let unset = defaultValue.map { _ in "Relata.ToOne<\(link.target)>.unset" }
                return text("some Relata.ToOneConvertible<\(link.target)>", initialValue ?? unset)
            case .toMany, .through: return text
            }
        }

        /// The value that the initialiser with bare objects gives the property.
        var bareValue: String {
            let name = property.identifier
            switch property.link?.kind {
            case .hasOne, .toOne: return "\(property.typeName)._link(\(name))"
            case .toMany, .through, nil: return name
            }
        }

        private func text(_ type: String, _ value: String?) -> String {
            "\(property.identifier): \(type)" + (value.map { " = \($0)" } ?? "")
        }
    }

    /// Everything that can be given: no through links, which are views, and nothing private that has a value.
    private var parameters: [Parameter] {
        persistent.compactMap { property in
            if property.link?.kind == .through || property.startsByItself { return nil }
            return Parameter(property: property, defaultValue: defaultValue(of: property))
        }
    }

    private var memberwise: String {
        let parameters = parameters
        return member(
            "\(access)init\(clause(parameters.map(\.text)))",
            assignments(parameters.map { ($0.property.identifier, $0.property.identifier) }))
    }

    /// The memberwise initialiser with bare objects for links to one. It is disfavoured, so that errors mention the
    /// memberwise one. It isn't generated if a property may have a type with less access than the initialiser.
    ///
    /// It calls no other initialiser: if a type doesn't exist, the compiler would choose the one for saved values.
    private var bareMemberwise: [String] {
        let parameters = parameters
        let hasLink = parameters.contains { [.toOne, .hasOne].contains($0.property.link?.kind) }
        guard hasLink, parameters.allSatisfy({ $0.property.access >= .internal }) else { return [] }
        return [
            member(
                "@_disfavoredOverload\n\(access)init\(clause(parameters.map(\.bareText)))",
                assignments(parameters.map { ($0.property.identifier, $0.bareValue) }))
        ]
    }

    /// Assigns values to properties; links that are views of others get none.
    private func assignments(_ values: [(name: String, value: String)]) -> [String] {
        let unloaded = persistent.filter { $0.link?.kind == .through && $0.initialValue == nil }
        return values.map { "self.\($0.name) = \($0.value)" }
            + unloaded.map { "self.\($0.identifier) = \($0.typeName)()" }
    }

    /// The parameters in parentheses, on one line if they fit.
    private func clause(_ list: [String]) -> String {
        let joined = list.joined(separator: ", ")
        return joined.count < 80 ? "(\(joined))" : "(\n" + list.joined(separator: ",\n").indented + "\n)"
    }

    private func defaultValue(of property: StoredProperty) -> String? {
        // An empty list as an argument means that there are no members; as a default, it would remove the stored ones.
        if property.link?.kind == .toMany, property.initialValue?.isEmptyLink == true { return ".init()" }
        if let value = property.usableInitialValue { return value.sourceText }
        guard let type = property.type else { return nil }
        if type.isOptional { return "nil" }
        let isKey = key.contains { $0.name == property.name }
        if let link = property.link {
            if link.kind == .toOne { return isKey ? nil : ".unset" }
            return ".init()"
        }
        if isKey { return key.count == 1 && isMadeOnDevice(type) ? ".init()" : nil }
        return property.stampDefault
    }

    /// Whether a key of that type can be created before the object is stored: an `ID` of the model itself, or a `UUID`.
    private func isMadeOnDevice(_ type: PropertyType) -> Bool {
        guard let nominal = type.wrapped.nominal else { return false }
        return nominal.name == "UUID" || nominal.name == "ID" && [name, entityName].contains(nominal.arguments.first)
    }

    /// Attributes come from the row if the save has changed it beyond the object; links and transients come from the
    /// object.
    private var saved: String {
        let copied = properties.filter { !($0.isConstant && $0.initialValue != nil) }
        let readsRow = copied.contains { $0.hasColumns && !isAssignedKey($0) }
        return member(
            "\(access)init(saved other: Self, _ state: inout Relata.SavedState)",
            (readsRow ? ["let stored = state.isReloaded ? state.stored(other) : other"] : [])
                + copied.map { "self.\($0.identifier) = \(savedValue(of: $0))" })
    }

    private func isAssignedKey(_ property: StoredProperty) -> Bool { isKeyAssigned && property.name == key[0].name }

    private func savedValue(of property: StoredProperty) -> String {
        let (old, new) = ("other.\(property.identifier)", "stored.\(property.identifier)")
        if isAssignedKey(property) { return "state.assignedKey(\(old))" }
        switch property.link?.kind {
        case .toOne: return "\(old)._saved(state, stored: \(new))"
        case .through: return old
        case .hasOne, .toMany: return "\(old)._saved(state)"
        case nil:
            if property.isTransient { return old }
            if let stamp = property.stamp { return "state.\(stamp)(\(new))" }
            // Only dates, and types that aren't known by their name, may lose precision when they are stored.
            switch property.type?.known {
            case .date where property.plainType != nil: return "state.date(\(new))"
            case .date: return "state.value(\(new), \(property.codingExpression))"
            case nil: return "state.value(\(new))"
            default: return new
            }
        }
    }
}

extension ExprSyntax {
    /// Whether it is an empty list of a to-many: `[]`, `.init()` or `ToMany()`.
    fileprivate var isEmptyLink: Bool {
        if let array = self.as(ArrayExprSyntax.self) { return array.elements.isEmpty }
        guard let call = self.as(FunctionCallExprSyntax.self), call.arguments.isEmpty, call.trailingClosure == nil,
            let name = call.calledExpression.sourceText.split(separator: "<").first
        else { return false }
        return [".init", "ToMany", "ToMany.init", "Relata.ToMany", "Relata.ToMany.init"].contains(name)
    }
}

extension StoredProperty {
    /// The initial value, unless it is a number or a text, which no link can be: the compiler reports it at the
    /// property.
    fileprivate var usableInitialValue: ExprSyntax? {
        guard link != nil, let initialValue else { return initialValue }
        let kinds: [SyntaxKind] = [.integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .stringLiteralExpr]
        return kinds.contains(initialValue.kind) ? nil : initialValue
    }

    /// Whether the memberwise initialiser leaves the property out: its type may be private too.
    fileprivate var startsByItself: Bool {
        guard access == .private || access == .fileprivate, link == nil else { return false }
        return initialValue != nil || !isConstant && type?.isOptional == true
    }

    /// The option by which the store writes the property.
    fileprivate var stamp: String? {
        ["createdAt", "updatedAt", "revision"].first { attribute?.has($0) == true }
    }

    /// A stamp needs no value before the first save.
    fileprivate var stampDefault: String? { stamp.map { $0 == "revision" ? "0" : ".init()" } }
}
