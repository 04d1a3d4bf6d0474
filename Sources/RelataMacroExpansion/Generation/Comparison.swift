extension ModelDeclaration {
    /// Equality of everything the value holds, and the hash of its key.
    var comparison: [String] {
        var members: [String] = []
        if !declaredMembers.hasHash {
            members.append(
                member("\(access)func hash(into hasher: inout Hasher)", ["hasher.combine(self.primaryKey)"]))
        }
        if !declaredMembers.hasEquality { members.append(equality) }
        return members
    }

    /// One statement a property: a chain of `&&` would take the compiler long to check.
    private var equality: String {
        member(
            "\(access)static func == (lhs: Self, rhs: Self) -> Bool",
            properties.map {
                "guard Relata.isEqual(lhs.\($0.identifier), rhs.\($0.identifier)) else { return false }"
            } + ["return true"])
    }
}
