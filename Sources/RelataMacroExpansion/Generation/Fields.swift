extension ModelDeclaration {
    /// The type that predicates, sort orders and includes name the properties with.
    var fields: String {
        declaration(
            "\(access)struct Fields: Relata.ModelFields",
            [
                "\(access)let fieldPath: Relata.FieldPath",
                "\(access)init(path: Relata.FieldPath) {\n    self.fieldPath = path\n}",
            ] + persistent.map { $0.field(body: isBroken ? Self.unreachable : nil) })
    }
}

extension StoredProperty {
    /// The property's field, with the access level of the property.
    fileprivate func field(body: String?) -> String {
        let (type, arguments) = fieldType
        let value =
            plainType == nil
            ? "Relata.\(link == nil ? attributeField : type)(fieldPath, \(name.literal)\(arguments))"
            : "fieldPath.\(isOptional ? "optional" : "value")(\(name.literal))"
        return """
            \(access.modifier)var \(identifier): Relata.\(type) {
                \(body ?? value)
            }
            """
    }

    /// Values of a type that isn't known by its name may have members.
    private var attributeField: String { type?.known == nil ? "ValueField" : "Field" }

    private var fieldType: (type: String, arguments: String) {
        guard let link else {
            return ("\(attributeField)<\(typeName)>", ", \(codingExpression)")
        }
        return switch link.kind {
        case .toOne: ("ToOneField<\(link.target)>", "")
        case .hasOne: ("HasOneField<\(link.target)>", "")
        case .toMany, .through: ("ToManyField<\(link.target)>", "")
        }
    }
}
