import SwiftDiagnostics
import SwiftSyntax

/// Former names are part of the models' declarations: they must be known without running any code.
extension ModelChecks {
    var originalNameMistakes: [Diagnostic] {
        let table = mistake(in: model.originalTable, "originalTable", of: model.name)
        return [table].compactMap(\.self)
            + model.properties.compactMap { property in
                let names = property.attribute?.arguments["originalName"] ?? property.relationship?["originalName"]
                return mistake(in: names, "originalName", of: property.name)
            }
    }

    private func mistake(in names: ExprSyntax?, _ label: String, of name: String) -> Diagnostic? {
        guard let names else { return nil }
        let list = names.as(ArrayExprSyntax.self).map { $0.elements.map(\.expression) } ?? [names]
        let texts = list.map { $0.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
        if let place = texts.firstIndex(where: { $0?.isEmpty ?? true }) {
            return Misuse.originalName(name, label).at(list[place])
        }
        guard Set(texts).count == texts.count, !texts.isEmpty else {
            return Misuse.originalName(name, label).at(names)
        }
        return nil
    }
}

extension Misuse {
    fileprivate static func originalName(_ name: String, _ label: String) -> Misuse {
        Misuse(
            "'\(label):' of '\(name)' takes a text literal, or an array of different ones with the newest name first: "
                + "write '\(label): \"old\"' or '\(label): [\"newer\", \"older\"]'")
    }
}
