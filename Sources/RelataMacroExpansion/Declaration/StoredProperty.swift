import SwiftSyntax

/// A stored property of a model.
struct StoredProperty {
    /// The name as written, with its backticks.
    let identifier: String
    /// The declared type; `nil` only for a transient property whose initial value determines it.
    let type: PropertyType?
    /// Whether it is declared with `let`.
    let isConstant: Bool
    /// The access modifier as written, without `private(set)` and similar modifiers.
    let access: AccessLevel
    /// The initial value.
    let initialValue: ExprSyntax?
    /// The role of the property in the store.
    let kind: Kind
    /// The node at which mistakes are reported.
    let node: Syntax

    enum Kind {
        case attribute(AttributeMarker?)
        case link(Link, RelationshipMarker?, AttributeMarker?)
        case transient
    }

    /// The variable declaration around the name.
    var declaration: VariableDeclSyntax? {
        sequence(first: node, next: \.parent).lazy.compactMap { $0.as(VariableDeclSyntax.self) }.first
    }
    /// The name without backticks.
    var name: String { identifier.withoutBackticks }
    /// The type as written.
    var typeName: String { type?.text ?? "" }
    var isTransient: Bool { if case .transient = kind { true } else { false } }
    var link: Link? { if case .link(let link, _, _) = kind { link } else { nil } }
    var relationship: RelationshipMarker? { if case .link(_, let marker, _) = kind { marker } else { nil } }
    var attribute: AttributeMarker? {
        switch kind {
        case .attribute(let marker), .link(_, _, let marker): marker
        case .transient: nil
        }
    }
    /// The option that changes how the column is encoded, as the argument `, as: .iso8601`; empty without one.
    var encodingArgument: String { attribute?.encoding.map { ", as: \($0)" } ?? "" }
    /// The type without `?`, if its name alone determines the coding. Generated code then names no coding for the
    /// compiler to choose.
    var plainType: String? {
        guard link == nil, !isTransient, encodingArgument.isEmpty, let type, type.optionality < 2 else { return nil }
        return switch type.known {
        case .text, .integer, .real, .boolean, .date, .uuid: type.wrappedText
        case .identifier: type.wrapped.nominal?.arguments.count == 1 ? type.wrappedText : nil
        default: nil
        }
    }
    /// Whether it may be unset.
    var isOptional: Bool { type?.isOptional == true }
    /// Whether a column holds it: an attribute or a to-one.
    var hasColumns: Bool {
        switch kind {
        case .attribute: true
        case .link(let link, _, _): link.kind == .toOne
        case .transient: false
        }
    }
}

extension String {
    /// The name without the backticks of a keyword.
    var withoutBackticks: String {
        count > 2 && first == "`" && last == "`" ? String(dropFirst().dropLast()) : self
    }

    /// The text as a string literal.
    var literal: String { StringLiteralExprSyntax(content: self).description }
}
