import RelataCore

/// Models in Swift that open a database unchanged.
///
/// Each table becomes a struct with its name in the singular, each column a property. Names that Swift or the models
/// reserve get a number or an ending, and the table or column is named beside them.
struct SwiftModels {
    private let schema: Schema
    private let notes: [String]
    private let fileName: String
    /// The struct of each table.
    private let types: [String]
    /// The Swift property of each column or relationship, by table and by its name in the schema.
    private let names: [[String: String]]

    init(_ database: ToolDatabase) {
        schema = database.schema
        notes = database.notes.map(\.description)
        fileName = database.name
        var taken = SwiftWords.types
        types = schema.tables.map { Self.typeName($0, &taken) }
        names = schema.tables.map(Self.propertyNames)
    }

    /// The source of all models.
    func source() -> String {
        var lines = [
            "// Models of \(DisplayText.visible(fileName)), written by `relata inspect --format swift`.",
            "// Keep your own code in other files, as extensions: this one is rewritten when the tables change.",
            "// swift-format-ignore-file",
        ]
        if !notes.isEmpty {
            lines += ["//", "// Parts of the tables that a model can't declare:"]
            lines += notes.map { "// - " + DisplayText.visible($0) }
        }
        let needsFoundation = schema.tables.contains { table in
            table.entity.attributes.contains { ["Data", "Date", "Decimal", "UUID"].contains(Self.type(of: $0.type)) }
        }
        lines += [""] + (needsFoundation ? ["import Foundation"] : []) + ["import Relata"]
        for table in schema.tables { lines += [""] + model(table) }
        if schema.tables.contains(where: { $0.entity.attributes.contains { $0.type == .json } }) {
            lines += ["", Self.json]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The type of a JSON column without further information.
    private static let json = """
        /// Any JSON. Declare a `Codable` type of your own where you know more about a column.
        enum JSON: Hashable, Sendable, Codable {
            case null, bool(Bool), integer(Int), number(Double), string(String), array([JSON]), object([String: JSON])

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    self = .null
                } else if let value = try? container.decode(Bool.self) {
                    self = .bool(value)
                } else if let value = try? container.decode(Int.self) {
                    self = .integer(value)
                } else if let value = try? container.decode(Double.self) {
                    self = .number(value)
                } else if let value = try? container.decode(String.self) {
                    self = .string(value)
                } else if let value = try? container.decode([JSON].self) {
                    self = .array(value)
                } else {
                    self = .object(try container.decode([String: JSON].self))
                }
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .null: try container.encodeNil()
                case .bool(let value): try container.encode(value)
                case .integer(let value): try container.encode(value)
                case .number(let value): try container.encode(value)
                case .string(let value): try container.encode(value)
                case .array(let value): try container.encode(value)
                case .object(let value): try container.encode(value)
                }
            }
        }
        """

    // MARK: Names

    private static func typeName(_ table: Table, _ taken: inout Set<String>) -> String {
        let camel = Naming.capitalized(Naming.singular(Naming.lowerCamelCase(table.entity.shortName)))
        var base = SwiftWords.identifier(camel, orElse: "Table")
        if base.first == "_" { base = "Table" + base }
        var name = taken.contains(base) ? base + "Record" : base
        var number = 2
        while !taken.insert(name).inserted {
            name = "\(base)\(number)"
            number += 1
        }
        return name
    }

    private static func propertyNames(_ table: Table) -> [String: String] {
        var taken = SwiftWords.members
        var names: [String: String] = [:]
        // The key that the database assigns is named `id` in Swift.
        if table.entity.isKeyAssigned, let key = table.entity.key.first, table.entity.property("id") == nil {
            names[key] = "id"
            taken.insert("id")
        }
        for property in table.entity.properties where names[property.name] == nil {
            let base = SwiftWords.identifier(property.name, orElse: "column")
            var name = taken.contains(base) ? base + "Value" : base
            var number = 2
            while !taken.insert(name).inserted {
                name = "\(base)\(number)"
                number += 1
            }
            names[property.name] = name
        }
        return names
    }

    private func name(_ property: String, of table: Table) -> String { names[table.index][property] ?? property }

    /// The key path of a property.
    private func path(_ property: String, of table: Table) -> String {
        "\\\(types[table.index]).\(SwiftWords.quoted(name(property, of: table)))"
    }

    // MARK: Models

    private func model(_ table: Table) -> [String] {
        let type = types[table.index]
        let argument = type == table.sqlName ? "" : "(table: \(SwiftWords.literal(table.sqlName)))"
        var lines = ["@Model\(argument) struct \(type) {"]
        for property in table.entity.properties {
            switch property {
            case .attribute(let attribute): lines += self.attribute(attribute, of: table)
            case .relationship(let relationship): lines += self.relationship(relationship, of: table)
            }
        }
        for (macro, sets) in [
            ("Unique", table.entity.uniques.filter { $0.count > 1 }), ("Index", table.entity.indexes),
            ("Search", table.entity.search.map { [$0] } ?? []),
        ]
        where !sets.isEmpty {
            let lists = sets.map { set in
                "[" + set.map { "\\.\(SwiftWords.quoted(name($0, of: table)))" }.joined(separator: ", ") + "]"
            }
            lines.append("    #\(macro)<\(type)>(\(lists.joined(separator: ", ")))")
        }
        return lines + ["}"]
    }

    private func attribute(_ attribute: Attribute, of table: Table) -> [String] {
        let own = name(attribute.name, of: table)
        let isKey = table.entity.key.contains(attribute.name)
        var options: [String] = []
        if isKey && (own != "id" || table.entity.key.count > 1) { options.append(".primaryKey") }
        if table.entity.uniques.contains([attribute.name]) { options.append(".unique") }
        switch attribute.type {
        case .date(.iso8601): options.append(".iso8601")
        case .date(.seconds): options.append(".seconds")
        case .uuid(.text): options.append(".text")
        default: break
        }
        if attribute.column != own { options.append("column: \(SwiftWords.literal(attribute.column))") }
        let marker = options.isEmpty ? "" : "@Attribute(\(options.joined(separator: ", "))) "
        let isOptional = attribute.isOptional || (isKey && table.entity.isKeyAssigned)
        let type = Self.type(of: attribute.type) + (isOptional ? "?" : "")
        return ["    \(marker)var \(SwiftWords.quoted(own)): \(type)"]
    }

    private static func type(of type: AttributeType) -> String {
        switch type {
        case .boolean: "Bool"
        case .integer: "Int"
        case .real: "Double"
        case .decimal: "Decimal"
        case .text: "String"
        case .json: "JSON"
        case .date: "Date"
        case .data: "Data"
        case .uuid: "UUID"
        }
    }

    private func relationship(_ relationship: Relationship, of table: Table) -> [String] {
        guard let target = schema[relationship.target] else { return [] }
        let targetType = types[target.index]
        var arguments: [String] = []
        if let rule = relationship.deleteRule, rule != .nullify { arguments.append("deleteRule: .\(rule.rawValue)") }
        var type = "ToMany<\(targetType)>"
        switch relationship.kind {
        case .toOne(let isOptional, _):
            type = "ToOne<\(targetType)>" + (isOptional ? "?" : "")
            // If there is an inverse, it has the rule.
            if case .reference(let number)? = table.links[relationship.name] {
                let reference = schema.references[number]
                if reference.inverse == nil {
                    arguments.append("onTargetDelete: .\(reference.onTargetDelete.rawValue)")
                }
                arguments.append("columns: [\(reference.columns.map(SwiftWords.literal).joined(separator: ", "))]")
            }
        case .hasOne(let inverse):
            type = "HasOne<\(targetType)>"
            arguments.append("inverse: \(path(inverse, of: target))")
        case .toMany(let inverse), .manyToManyInverse(let inverse):
            arguments.append("inverse: \(path(inverse, of: target))")
        case .manyToMany: break
        // No model can declare it.
        case .matched: return []
        case .through(let toMany, let toOne):
            guard let middle = table.entity.relationship(toMany).flatMap({ schema[$0.target] }) else { return [] }
            return [
                "    @Relationship(through: \(path(toMany, of: table)), \(path(toOne, of: middle)))",
                "    var \(SwiftWords.quoted(name(relationship.name, of: table))): Through<\(targetType)>",
            ]
        }
        if relationship.order != nil { arguments.append("ordered: true") }
        if case .manyToMany = relationship.kind, case .join(let number, _)? = table.links[relationship.name] {
            let join = schema.joins[number]
            let columns = (join.sourceColumns + join.targetColumns).map(SwiftWords.literal).joined(separator: ", ")
            arguments += ["joinTable: \(SwiftWords.literal(join.table))", "joinColumns: [\(columns)]"]
        }
        let marker = arguments.isEmpty ? "" : "@Relationship(\(arguments.joined(separator: ", "))) "
        let key = table.entity.key.contains(relationship.name) ? "@Attribute(.primaryKey) " : ""
        return ["    \(key)\(marker)var \(SwiftWords.quoted(name(relationship.name, of: table))): \(type)"]
    }
}

/// Words of Swift, and text as Swift writes it.
enum SwiftWords {
    /// Types that a model's name would hide in its file, or that would hide it.
    static let types: Set<String> = [
        "Any", "AnyObject", "Array", "Attribute", "Bool", "Character", "Data", "Date", "Decimal", "Dictionary",
        "Double",
        "Entity", "Error", "Fields", "Float", "HasOne", "Hashable", "ID", "Identifiable", "Index", "Int", "JSON", "Key",
        "Model",
        "Never", "Optional", "Property", "Protocol", "Relata", "Relationship", "Result", "Schema", "Self", "Set",
        "Store",
        "String", "Swift", "Through", "ToMany", "ToOne", "Transient", "Type", "UUID", "Unique", "Value", "Void",
    ]
    /// Members that every model has.
    static let members: Set<String> = [
        "bind", "entity", "entityName", "hash", "hashValue", "init", "keyTypes", "linkedModels", "loadLinks",
        "primaryKey", "readKey", "self", "Type", "Protocol", "validate", "visitLinks", "related", "ancestors",
        "descendants", "",
    ]
    private static let keywords: Set<String> = [
        "actor", "any", "as", "associatedtype", "async", "await", "break", "case", "catch", "class", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
        "func", "guard", "if", "import", "in", "indirect", "infix", "inout", "internal", "is", "lazy", "let",
        "mutating",
        "nil", "open", "operator", "override", "postfix", "precedencegroup", "prefix", "private", "protocol", "public",
        "repeat", "required", "rethrows", "return", "some", "static", "struct", "subscript", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "unowned", "var", "weak", "where", "while",
    ]

    /// The name with nothing that Swift's names can't have.
    static func identifier(_ name: String, orElse other: String) -> String {
        let kept = name.filter { $0 == "_" || ($0.isLetter || $0.isNumber) && $0.unicodeScalars.allSatisfy(isPart) }
        guard let first = kept.first, kept.contains(where: { $0 != "_" }) else { return other }
        return first.isLetter || first == "_" ? kept : "_" + kept
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isXIDContinue && scalar.value < 0xF0000
    }

    /// The name in backticks if it is a keyword of Swift.
    static func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The text as a literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case _ where scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
