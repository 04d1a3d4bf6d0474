import SwiftDiagnostics
import SwiftSyntax

/// Reads the key paths of `#Unique`, `#Index` and `#Search`.
struct PropertyListParser {
    let macro: String
    let model: String
    let properties: [StoredProperty]
    private(set) var diagnostics: [Diagnostic] = []

    init(macro: String, model: String, properties: [StoredProperty]) {
        self.macro = macro
        self.model = model
        self.properties = properties
    }

    /// The property names in each array.
    mutating func lists(of expansion: MacroExpansionDeclSyntax) -> [[String]] {
        let root = expansion.genericArgumentClause?.arguments.first?.argument
        if let root, !isModel(root.sourceText) {
            diagnostics.append(
                Misuse.listOfOtherModel(macro, model: model)
                    .at(root, .replace(root, with: model)))
        }
        if expansion.arguments.isEmpty {
            diagnostics.append(Misuse.emptyList(macro, model: model).at(expansion))
        }
        return expansion.arguments.map(\.expression).map { names(in: $0) }
    }

    private mutating func names(in expression: ExprSyntax) -> [String] {
        guard let array = expression.as(ArrayExprSyntax.self), !array.elements.isEmpty else {
            diagnostics.append(Misuse.emptyList(macro, model: model).at(expression))
            return []
        }
        var names: [String] = []
        for element in array.elements.map(\.expression) {
            guard let path = PropertyKeyPath(element), path.root.map(isModel) ?? true else {
                diagnostics.append(Misuse.notAKeyPath("#\(macro)", model: model).at(element))
                continue
            }
            if names.contains(path.property) {
                diagnostics.append(Misuse.repeatedInList(path.property, macro).at(element))
            } else if macro == "Search", let mistake = notSearched(path.property) {
                diagnostics.append(mistake.at(element))
            } else if properties.first(where: { $0.name == path.property })?.hasColumns != true {
                diagnostics.append(Misuse.notInColumns(path.property, macro).at(element))
            }
            names.append(path.property)
        }
        return names
    }

    /// The problem of a property in `#Search`. The schema reports types that only the compiler knows.
    private func notSearched(_ name: String) -> Misuse? {
        guard let property = properties.first(where: { $0.name == name }) else { return nil }
        if let link = property.link { return .searchOfLink(name, target: link.target) }
        guard let type = property.type, let known = type.known, known != .text else { return nil }
        return .searchOfOtherType(name, type.spelling)
    }

    private func isModel(_ name: String) -> Bool {
        name == "Self" || name == model || name.hasSuffix(".\(model)")
    }
}
