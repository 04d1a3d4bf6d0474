extension ModelDeclaration {
    /// The type that predicates, sort orders and includes name the properties with.
    var fields: String {
        declaration(
            "\(access)struct Fields: Relata.ModelFields",
            [
                "\(access)let fieldPath: Relata.FieldPath",
                "\(access)init(path: Relata.FieldPath) {\n    self.fieldPath = path\n}",
            ] + persistent.map(\.field))
    }
}

extension StoredProperty {
    /// The property's field, which is seen as far as the property itself.
    fileprivate var field: String {
        let (type, arguments) = fieldType
        return """
            \(access.modifier)var \(identifier): Relata.\(type) {
                Relata.\(type)(fieldPath, \(name.literal)\(arguments))
            }
            """
    }

    private var fieldType: (type: String, arguments: String) {
        guard let link else {
            return ("Field<\(typeName)>", ", \(codingExpression)")
        }
        return switch link.kind {
        case .toOne: ("ToOneField<\(link.target)>", "")
        case .hasOne: ("HasOneField<\(link.target)>", "")
        case .toMany, .through: ("ToManyField<\(link.target)>", "")
        }
    }
}
