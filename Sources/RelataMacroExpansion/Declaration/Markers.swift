import SwiftSyntax

/// The content of `@Attribute(…)`.
struct AttributeMarker {
    let node: AttributeSyntax
    let options: [Option]
    let arguments: MarkerArguments

    /// One option: its name and the expression as written.
    struct Option {
        let name: String
        let expression: ExprSyntax
    }

    init(_ node: AttributeSyntax) {
        self.node = node
        arguments = MarkerArguments(node)
        options = arguments.unlabeled.map { Option(name: $0.calledMember ?? "", expression: $0) }
    }

    func has(_ name: String) -> Bool { options.contains { $0.name == name } }
    func option(_ name: String) -> Option? { options.first { $0.name == name } }

    /// The option that changes how values are stored, as written.
    var encoding: String? {
        options.first { Self.encodings.contains($0.name) }?.expression.sourceText
    }

    static let encodings: Set = ["iso8601", "seconds", "text"]

    /// Options of SwiftData that are declared only to explain their replacement: once, at the attribute.
    static let foreign: Set = [
        "externalStorage", "ephemeral", "transformable", "spotlight", "preserveValueOnDeletion",
    ]
}

/// The content of `@Relationship(…)`.
struct RelationshipMarker {
    let node: AttributeSyntax
    let arguments: MarkerArguments

    init(_ node: AttributeSyntax) {
        self.node = node
        arguments = MarkerArguments(node)
    }

    subscript(label: String) -> ExprSyntax? { arguments[label] }

    /// Arguments of SwiftData that are declared only to explain their replacement: once, at the attribute.
    static let foreign: Set = ["minimumModelCount", "maximumModelCount", "hashModifier"]

    /// Both key paths of `through:`.
    var through: (toMany: ExprSyntax, toOne: ExprSyntax)? {
        guard let toMany = self["through"], let toOne = arguments.unlabeled.first else { return nil }
        return (toMany, toOne)
    }
}

/// The arguments of a marker attribute.
struct MarkerArguments {
    let list: LabeledExprListSyntax

    init(_ node: AttributeSyntax) {
        list = node.arguments?.as(LabeledExprListSyntax.self) ?? []
    }

    /// The argument of that label, unless it is spelled `nil`.
    subscript(label: String) -> ExprSyntax? {
        list.first { $0.label?.text == label }.map(\.expression).flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0 }
    }

    /// The arguments without a label, attached to the source (`filter` would detach them).
    var unlabeled: [ExprSyntax] { list.compactMap { $0.label == nil ? $0.expression : nil } }
}

/// The marker attributes of one declaration.
struct Markers {
    private(set) var attributes: [AttributeSyntax] = []
    private(set) var relationships: [AttributeSyntax] = []
    private(set) var transients: [AttributeSyntax] = []
    /// Property wrappers and other macros, which may hide the stored value.
    private(set) var unknown: [AttributeSyntax] = []

    init(_ list: AttributeListSyntax) {
        for case .attribute(let attribute) in list {
            switch attribute.markerName {
            case "Attribute": attributes.append(attribute)
            case "Relationship": relationships.append(attribute)
            case "Transient": transients.append(attribute)
            // The compiler's own attributes begin with a lowercase letter.
            case let name where name.first?.isUppercase == true: unknown.append(attribute)
            default: break
            }
        }
    }

    /// Everything of ours.
    var own: [AttributeSyntax] { attributes + relationships + transients }
}

extension AttributeSyntax {
    /// The attribute's name without its module.
    var markerName: String {
        attributeName.as(MemberTypeSyntax.self)?.name.text ?? attributeName.sourceText
    }
}
