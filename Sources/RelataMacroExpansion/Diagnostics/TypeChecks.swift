import SwiftDiagnostics
import SwiftSyntax

extension PropertyType {
    /// The mistakes in the type of a stored property that syntax shows.
    func mistake(in name: String, at node: TypeSyntax) -> Diagnostic? {
        if let link, link.kind != .toOne, isOptional {
            return Misuse.optionalLink(name, link.kind.rawValue)
                .at(node, .replace(node, with: wrappedSpelling))
        }
        if optionality > 1 {
            return Misuse.nestedOptional(name, wrappedSpelling)
                .at(node, .replace(node, with: wrappedSpelling + "?"))
        }
        let finder = UnsupportedTypeFinder(skipping: link == nil ? nil : wrapped)
        finder.walk(syntax)
        if let nested = finder.nestedLink {
            return Misuse.linkInside(name, nested)
                .at(node, .replace(node, with: "ToMany<\(nested)>"))
        }
        return finder.reason.map { Misuse.unsupportedType(name, $0).at(node) }
    }

    /// A value to start a property of that type with.
    var sampleValue: String? {
        if isOptional { return "nil" }
        return switch known {
        case .text: "\"\""
        case .integer, .real, .decimal: "0"
        case .boolean: "false"
        case .collection: wrapped.is(DictionaryTypeSyntax.self) || wrapped.nominal?.name == "Dictionary" ? "[:]" : "[]"
        default: nil
        }
    }
}

/// Looks for types that no column can hold.
private final class UnsupportedTypeFinder: SyntaxVisitor {
    /// The mistake and its correction.
    private(set) var reason: String?
    /// The target of a link inside a collection.
    private(set) var nestedLink: String?
    private let link: TypeSyntax?

    init(skipping link: TypeSyntax?) {
        self.link = link
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: TupleTypeSyntax) -> SyntaxVisitorContinueKind {
        if node.elements.count != 1 {
            reason =
                "a tuple can't be stored: declare a struct that is Codable and Sendable, or one property for each element"
        }
        return .visitChildren
    }

    override func visit(_ node: FunctionTypeSyntax) -> SyntaxVisitorContinueKind {
        reason = "a function can't be stored: mark the property @Transient and give it an initial value, or remove it"
        return .skipChildren
    }

    override func visit(_ node: SomeOrAnyTypeSyntax) -> SyntaxVisitorContinueKind {
        reason =
            "'\(node.sourceText)' can't be read back: write a concrete type that is Codable and Sendable"
        return .skipChildren
    }

    override func visit(_ node: MetatypeTypeSyntax) -> SyntaxVisitorContinueKind {
        reason = "a type can't be stored: store its name, or mark the property @Transient"
        return .skipChildren
    }

    override func visit(_ node: CompositionTypeSyntax) -> SyntaxVisitorContinueKind {
        reason =
            "'\(node.sourceText)' can't be read back: write a concrete type that is Codable and Sendable"
        return .skipChildren
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        if ["Any", "AnyObject", "AnyHashable"].contains(node.name.text) {
            reason = "'\(node.name.text)' can't be read back: write a concrete type that is Codable and Sendable"
        }
        if let inner = Link(TypeSyntax(node), isOptional: false), node.sourceText != link?.sourceText {
            nestedLink = inner.target
        }
        return .visitChildren
    }
}

extension ExprSyntax {
    /// The type of a literal, or of a value whose initialiser is called by name.
    var literalType: String? {
        switch self.as(ExprSyntaxEnum.self) {
        case .integerLiteralExpr: return "Int"
        case .floatLiteralExpr: return "Double"
        case .booleanLiteralExpr: return "Bool"
        case .stringLiteralExpr: return "String"
        case .prefixOperatorExpr(let prefix): return prefix.expression.literalType
        case .arrayExpr(let array):
            let types = Set(array.elements.map(\.expression.literalType))
            return types.count == 1 ? types.first?.map { "[\($0)]" } : nil
        case .functionCallExpr(let call): return call.calledExpression.typeName
        default: return nil
        }
    }

    /// `Date` of `Date()`, `ToMany<Author>` of `ToMany<Author>()`.
    private var typeName: String? {
        let name = self.as(GenericSpecializationExprSyntax.self)?.expression ?? self
        let last =
            name.as(DeclReferenceExprSyntax.self)?.baseName.text
            ?? name.as(MemberAccessExprSyntax.self).flatMap { $0.base == nil ? nil : $0.declName.baseName.text }
        return last?.first?.isUppercase == true ? sourceText : nil
    }
}
