import RelataCore

extension [Entity] {
    /// - Throws: ``RelataError/invalidUse(_:)`` for a name that a new class can't have.
    func checkName(ofNewClass name: String) throws(RelataError) {
        guard !name.isEmpty, !name.utf8.contains(0), !ReservedNames.isInternal(name), !ReservedNames.isFunction(name)
        else {
            throw .invalidUse(
                "a class can't be called \"\(name)\", which is empty or a name of the database's own: choose another")
        }
        if let other = first(where: { $0.name.isSameName(as: name) || $0.table.isSameName(as: name) }) {
            throw .invalidUse(
                "there can't be a class \(name) beside \(other.name), which differs only in case or has that table: use that, or another name"
            )
        }
    }
}

extension Entity {
    /// - Throws: ``RelataError/invalidUse(_:)`` for a name that a new field can't have.
    func checkName(ofNewField field: String) throws(RelataError) {
        guard !field.isEmpty, !field.utf8.contains(0) else {
            throw .invalidUse("\(name): a field's name can't be empty or contain U+0000: choose another")
        }
        if let other = properties.first(where: { $0.name.isSameName(as: field) }) {
            throw .invalidUse(
                "\(name) can't have a field \(field) beside \(other.name)\(other.name == field ? "" : ", which differs only in case"): use that, or another name"
            )
        }
    }
}
