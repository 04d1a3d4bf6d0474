import SwiftDiagnostics
import SwiftSyntax

/// Reads the struct with `@Model`, and collects all mistakes.
struct ModelParser {
    let attribute: AttributeSyntax
    /// The declarations around the model, innermost first.
    let context: [Syntax]
    /// Finds the position of a node in the source.
    let locate: SourcePlace.Finder
    private(set) var diagnostics: [Diagnostic] = []

    init(attribute: AttributeSyntax, context: [Syntax], locate: @escaping SourcePlace.Finder = { _ in nil }) {
        self.attribute = attribute
        self.context = context
        self.locate = locate
    }

    /// The model, or its readable parts after a mistake; `nil` if it can't be a model.
    mutating func model(from declaration: some DeclGroupSyntax) -> ModelDeclaration? {
        guard let declaration = declaration.as(StructDeclSyntax.self) else {
            diagnostics.append(notAStruct(declaration))
            return nil
        }
        if let generic = declaration.genericClause(in: context) {
            diagnostics.append(Misuse.genericModel(declaration.name.text).at(generic))
            return nil
        }
        let name = declaration.name.text
        let members = declaration.memberBlock.members
        let properties = properties(of: members, model: name)
        let key = keyProperties(of: properties, in: declaration)
        let arguments = MarkerArguments(attribute)
        var model = ModelDeclaration(
            name: name, entityName: (enclosingNames + [name.withoutBackticks]).joined(separator: "."),
            visibility: declaration.visibility(in: context), table: arguments["table"],
            originalTable: arguments["originalTable"],
            isCodable: isCodable(declaration), properties: properties, key: key,
            uniques: lists("Unique", in: members, model: name, properties),
            indexes: lists("Index", in: members, model: name, properties),
            search: search(in: members, model: name, properties), declaredMembers: DeclaredMembers(members),
            locate: locate)
        if diagnostics.isEmpty { diagnostics += ModelChecks(model: model).diagnostics }
        model.isBroken = !diagnostics.isEmpty
        return model
    }

    // MARK: The struct

    private func notAStruct(_ declaration: some DeclGroupSyntax) -> Diagnostic {
        let introducer = declaration.introducer
        var fixIt: FixIt?
        if declaration.is(ClassDeclSyntax.self) || declaration.is(ActorDeclSyntax.self) {
            let final = declaration.modifiers.first { $0.name.tokenKind == .keyword(.final) }
            fixIt = .replace(introducer, with: "struct", "Make it a struct")
            if let final, let change = fixIt {
                fixIt = FixIt(message: change.message, changes: FixIt.remove(final, "").changes + change.changes)
            }
        }
        return Misuse.notAStruct(introducer.text).at(introducer, fixIt)
    }

    /// The names of the types around the model, outermost first.
    private var enclosingNames: [String] {
        context.reversed().compactMap { node in
            if let type = node.asProtocol(NamedDeclSyntax.self) { return type.name.text.withoutBackticks }
            return node.as(ExtensionDeclSyntax.self)?.extendedType.sourceText
        }
    }

    private func isCodable(_ declaration: StructDeclSyntax) -> Bool {
        let names = Set(
            declaration.inheritanceClause?.inheritedTypes.flatMap {
                $0.type.sourceText.split(separator: "&").map {
                    String($0.trimmingPrefix("Swift.")).filter { !$0.isWhitespace }
                }
            } ?? [])
        return names.contains("Codable") || names.isSuperset(of: ["Encodable", "Decodable"])
    }

    // MARK: Members

    private mutating func properties(of members: MemberBlockItemListSyntax, model: String) -> [StoredProperty] {
        var parser = PropertyParser(model: model)
        for member in members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                parser.parse(variable)
            } else if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                parser.reject(condition)
            }
        }
        diagnostics += parser.diagnostics
        return parser.properties
    }

    /// The properties marked as the key, else `id`.
    private mutating func keyProperties(
        of properties: [StoredProperty], in declaration: StructDeclSyntax
    ) -> [StoredProperty] {
        let marked = properties.filter { $0.attribute?.has("primaryKey") == true }
        if !marked.isEmpty { return marked }
        if let id = properties.first(where: { $0.name == "id" && !$0.isTransient }) { return [id] }
        // A mistake in a property may have taken the key away.
        guard diagnostics.isEmpty else { return [] }
        let name = declaration.name.text
        diagnostics.append(Misuse.noPrimaryKey(name).at(declaration.name, .insertKey(of: name, in: declaration)))
        return []
    }

    /// The attribute names of `#Search`.
    private mutating func search(
        in members: MemberBlockItemListSyntax, model: String, _ properties: [StoredProperty]
    ) -> [String] {
        let lists = lists("Search", in: members, model: model, properties)
        let expansions = members.compactMap { $0.decl.as(MacroExpansionDeclSyntax.self) }.filter {
            $0.macroName.text == "Search"
        }
        if let second = expansions.dropFirst().first {
            diagnostics.append(Misuse.repeatedSearch(model: model).at(second))
        }
        return lists.first ?? []
    }

    /// The property names in each array of the `#Unique` or `#Index` declarations.
    private mutating func lists(
        _ macro: String, in members: MemberBlockItemListSyntax, model: String, _ properties: [StoredProperty]
    ) -> [[String]] {
        var lists: [[String]] = []
        for case let expansion? in members.map({ $0.decl.as(MacroExpansionDeclSyntax.self) })
        where expansion.macroName.text == macro {
            var parser = PropertyListParser(macro: macro, model: model, properties: properties)
            lists += parser.lists(of: expansion)
            diagnostics += parser.diagnostics
        }
        return lists
    }
}

extension StructDeclSyntax {
    /// The generic parameters of the struct or of a type around it.
    func genericClause(in context: [Syntax]) -> Syntax? {
        if let clause = genericParameterClause { return Syntax(clause) }
        let isGeneric = context.contains {
            $0.asProtocol(WithGenericParametersSyntax.self)?.genericParameterClause != nil
        }
        return isGeneric ? Syntax(name) : nil
    }

    /// The struct's own level, or the level of an extension around it.
    func visibility(in context: [Syntax]) -> AccessLevel {
        AccessLevel(modifiers)
            ?? context.first?.as(ExtensionDeclSyntax.self).flatMap { AccessLevel($0.modifiers) } ?? .internal
    }
}

extension FixIt {
    /// Declares `id` before the first member.
    fileprivate static func insertKey(of model: String, in declaration: StructDeclSyntax) -> FixIt {
        let brace = declaration.memberBlock.leftBrace
        let margin = declaration.memberBlock.members.first.map(\.indentation) ?? "    "
        return insert("\n\(margin)let id: ID<\(model)>", after: brace, "Add 'let id: ID<\(model)>'")
    }
}

extension SyntaxProtocol {
    /// The white space at the beginning of the node's line.
    fileprivate var indentation: String {
        var text = ""
        for piece in leadingTrivia {
            switch piece {
            case .spaces(let count): text += String(repeating: " ", count: count)
            case .tabs(let count): text += String(repeating: "\t", count: count)
            default: text = ""
            }
        }
        return text.isEmpty ? "    " : text
    }
}
