import SwiftSyntax

extension ExprSyntax {
    /// `cascade` of `.cascade`, `DeleteRule.cascade` and `.range(1...5)`'s `range`.
    var calledMember: String? {
        let callee = self.as(FunctionCallExprSyntax.self)?.calledExpression ?? self
        return callee.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    }

    /// Whether every read of the value has an equal result: it is a literal, a case, or a collection of them.
    var isConstant: Bool {
        switch self.as(ExprSyntaxEnum.self) {
        case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr: true
        case .stringLiteralExpr(let literal): literal.representedLiteralValue != nil
        case .prefixOperatorExpr(let prefix): prefix.operator.text == "-" && prefix.expression.isConstant
        case .memberAccessExpr(let member): member.isConstant
        case .arrayExpr(let array): array.elements.allSatisfy(\.expression.isConstant)
        case .dictionaryExpr(let dictionary):
            switch dictionary.content {
            case .colon: true
            case .elements(let elements): elements.allSatisfy { $0.key.isConstant && $0.value.isConstant }
            }
        default: false
        }
    }

    /// The number an integer literal spells, with its sign.
    var integerValue: Int? {
        if let literal = self.as(IntegerLiteralExprSyntax.self) { return literal.representedLiteralValue }
        guard let prefix = self.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" else { return nil }
        return prefix.expression.integerValue.map(-)
    }

    /// The number a literal spells, with its sign.
    var numberValue: Double? {
        if let integer = integerValue { return Double(integer) }
        if let literal = self.as(FloatLiteralExprSyntax.self) { return literal.representedLiteralValue }
        guard let prefix = self.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" else { return nil }
        return prefix.expression.numberValue.map(-)
    }
}

extension MemberAccessExprSyntax {
    /// `.draft` and `Status.draft`, but not `.now`, which is another value each time.
    fileprivate var isConstant: Bool {
        guard declName.argumentNames == nil, declName.baseName.text != "now" else { return false }
        guard let base else { return true }
        if let name = base.as(DeclReferenceExprSyntax.self) { return name.baseName.text.first?.isUppercase == true }
        return base.as(MemberAccessExprSyntax.self)
            .map { $0.declName.baseName.text.first?.isUppercase == true && $0.isConstant } ?? false
    }
}

/// A key path literal to a property of a type: `\Outer.Review.book`.
struct PropertyKeyPath {
    /// The type as written: `Outer.Review`; `nil` in `\.book`.
    let root: String?
    /// The property's name, without backticks.
    let property: String

    /// The path as an expression that causes no error if the type has no such property: the compiler has reported it at
    /// the marker already.
    var checked: String { "Relata.KeyPaths<\(root ?? "Self")>().`\(property)`" }

    /// The checked path for a path from the target of a link, whose type its property determines.
    func checked(of link: StoredProperty) -> String {
        root == nil ? checked : "Relata.KeyPaths(of: \\Self.\(link.identifier)).`\(property)`"
    }

    /// Reads a key path literal to one property; `nil` for any other expression.
    init?(_ expression: ExprSyntax) {
        guard let literal = expression.as(KeyPathExprSyntax.self) else { return nil }
        var names: [String] = []
        for component in literal.components {
            guard case .property(let property) = component.component else { return nil }
            names.append(property.declName.baseName.text)
        }
        guard let property = names.popLast(), literal.root != nil || names.isEmpty else { return nil }
        self.property = property.withoutBackticks
        root = literal.root.map { ([$0.sourceText] + names).joined(separator: ".") }
    }
}

extension LabeledExprSyntax {
    /// The argument without the comma behind it.
    var source: String { (label.map { "\($0.text): " } ?? "") + expression.sourceText }
}
