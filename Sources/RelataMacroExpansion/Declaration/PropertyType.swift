import SwiftSyntax

/// The type of a property, as its syntax shows it.
struct PropertyType {
    /// The type's node in the source.
    let original: TypeSyntax
    /// The type as generated code writes it.
    let syntax: TypeSyntax
    /// The type without optionality.
    let wrapped: TypeSyntax
    /// The number of `?` around ``wrapped``.
    let optionality: Int
    /// The type as generated code writes it, as text.
    let text: String
    let wrappedText: String
    /// The link that the type declares, if it declares one.
    let link: Link?
    /// The type that the name determines; `nil` for types that only the compiler knows.
    let known: KnownType?

    init(_ type: TypeSyntax, model: String) {
        original = type
        syntax = TypeQualifier(model: model).rewrite(type.trimmed).cast(TypeSyntax.self)
        (wrapped, optionality) = syntax.unwrapped
        (text, wrappedText) = (syntax.sourceText, wrapped.sourceText)
        let nominal = wrapped.nominal
        link = Link(nominal, isOptional: optionality > 0)
        let isCollection = wrapped.is(ArrayTypeSyntax.self) || wrapped.is(DictionaryTypeSyntax.self)
        known = isCollection ? .collection : nominal.flatMap { KnownType(name: $0.name) }
    }

    var isOptional: Bool { optionality > 0 }
    /// The type and its content as they are spelled in the source, for messages.
    var spelling: String { original.sourceText }
    var wrappedSpelling: String { original.trimmed.unwrapped.type.sourceText }

    /// The type of the elements, if it is an array or a set.
    private var element: TypeSyntax? {
        if let array = wrapped.as(ArrayTypeSyntax.self) { return array.element.withoutParentheses }
        guard let nominal = wrapped.nominal, ["Array", "Set"].contains(nominal.name), nominal.arguments.count == 1
        else { return nil }
        return TypeSyntax(stringLiteral: nominal.arguments[0]).withoutParentheses
    }

    /// The type inside an array, a set or an optional, as written, if its name could be the name of a model.
    var content: String? {
        let element = element ?? wrapped
        let isNamed = element.is(IdentifierTypeSyntax.self) || element.is(MemberTypeSyntax.self)
        guard isNamed, KnownType(name: element.nominal?.name ?? "") == nil, optionality < 2 else { return nil }
        return element.sourceText
    }

    /// The link to write if the content is a model: `ToMany<B>` for `[B]`, `ToOne<B>?` for `B?`, `ToOne<B>` for `B`.
    var linkInstead: String? {
        guard let content else { return nil }
        if element != nil { return "ToMany<\(content)>" }
        return "ToOne<\(content)>" + (isOptional ? "?" : "")
    }
}

/// The facts about a type's values that its name alone determines.
enum KnownType {
    case text, integer, real, decimal, boolean, date, data, uuid, url, identifier, collection

    init?(name: String) {
        switch name {
        case "String": self = .text
        case "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64": self = .integer
        case "Float", "Double": self = .real
        case "Decimal": self = .decimal
        case "Bool": self = .boolean
        case "Date": self = .date
        case "Data": self = .data
        case "UUID": self = .uuid
        case "URL": self = .url
        case "ID": self = .identifier
        case "Array", "Dictionary", "Set": self = .collection
        default: return nil
        }
    }
}

/// A link as its type declares it.
struct Link {
    enum Kind: String {
        case toOne = "ToOne"
        case hasOne = "HasOne"
        case toMany = "ToMany"
        case through = "Through"
    }
    let kind: Kind
    /// The model on the other side, as written.
    let target: String
    let isOptional: Bool

    init?(_ type: TypeSyntax, isOptional: Bool) { self.init(type.nominal, isOptional: isOptional) }

    init?(_ nominal: (name: String, arguments: [String])?, isOptional: Bool) {
        guard let nominal, let kind = Kind(rawValue: nominal.name), nominal.arguments.count == 1 else {
            return nil
        }
        self.kind = kind
        target = nominal.arguments[0]
        self.isOptional = isOptional
    }
}

extension TypeSyntax {
    /// The last name of a nominal type and its generic arguments as written.
    var nominal: (name: String, arguments: [String])? {
        let name: TokenSyntax
        let clause: GenericArgumentClauseSyntax?
        if let type = self.as(IdentifierTypeSyntax.self) {
            (name, clause) = (type.name, type.genericArgumentClause)
        } else if let type = self.as(MemberTypeSyntax.self) {
            // A qualified name is one of Relata or the standard library only if it begins with the name of a module.
            guard ["Relata", "Swift", "Foundation", "FoundationEssentials"].contains(type.baseType.sourceText)
            else { return nil }
            (name, clause) = (type.name, type.genericArgumentClause)
        } else {
            return nil
        }
        return (name.text, clause?.arguments.map(\.argument.sourceText) ?? [])
    }

    /// The type without optionality, and the number of `?` around it.
    fileprivate var unwrapped: (type: TypeSyntax, optionality: Int) {
        guard let content = optionalContent?.unwrapped else { return (self, 0) }
        return (content.type, content.optionality + 1)
    }

    /// `T` of `T?`, `Optional<T>` and `(T)?`.
    fileprivate var optionalContent: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.withoutParentheses }
        let clause =
            self.as(IdentifierTypeSyntax.self).flatMap { $0.name.text == "Optional" ? $0.genericArgumentClause : nil }
            ?? self.as(MemberTypeSyntax.self).flatMap {
                $0.name.text == "Optional" && $0.baseType.sourceText == "Swift" ? $0.genericArgumentClause : nil
            }
        guard let clause, clause.arguments.count == 1, case .type(let type)? = clause.arguments.first?.argument else {
            return nil
        }
        return type.trimmed
    }

    /// `T` of `(T)`.
    var withoutParentheses: TypeSyntax {
        guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let element = tuple.elements.first
        else { return self }
        return element.type.trimmed
    }
}

/// Gives a type one meaning wherever generated code writes it.
private final class TypeQualifier: SyntaxRewriter {
    let model: String

    init(model: String) {
        self.model = model
        super.init()
    }

    /// `Self` is another type inside types that are nested in a model, and `Identifiable` gives the type of its `id`
    /// the name `ID`.
    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
        if node.name.tokenKind == .keyword(.Self) {
            return TypeSyntax(node.with(\.name, .identifier(model).with(\.trailingTrivia, node.name.trailingTrivia)))
        }
        let type = super.visit(node)
        guard node.name.text == "ID", let inner = type.as(IdentifierTypeSyntax.self),
            let clause = inner.genericArgumentClause
        else { return type }
        return TypeSyntax(
            MemberTypeSyntax(
                leadingTrivia: node.leadingTrivia, baseType: IdentifierTypeSyntax(name: "Relata"),
                name: inner.name.trimmed, genericArgumentClause: clause))
    }
}
