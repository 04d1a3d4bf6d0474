extension ModelDeclaration {
    /// Equality of everything the value holds. `Model` has the hash.
    ///
    /// One statement for each property: the compiler would take long to check a chain of `&&`.
    var comparison: [String] {
        if declaredMembers.hasEquality { return [] }
        return [
            member(
                "\(access)static func == (lhs: Self, rhs: Self) -> Bool",
                properties.map { "guard \($0.comparison) else { return false }" } + ["return true"])
        ]
    }
}

extension StoredProperty {
    /// Whether two values have equal properties.
    fileprivate var comparison: String {
        if link != nil { return "lhs.\(identifier)._isEqual(to: rhs.\(identifier))" }
        // A type that is known by its name needs no choice between overloads.
        let function = plainType == nil ? "isEqual" : "isSame"
        return "Relata.\(function)(lhs.\(identifier), rhs.\(identifier))"
    }
}
