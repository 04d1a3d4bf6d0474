import RelataCore

extension ParseTransaction {
    /// Checks what a request says of a role: lists of rights name it, and so its name is its own and never changes.
    ///
    /// - Throws: ``ParseError`` 139 for a name that a role can't have, 119 for a new role in production without the master
    ///   key.
    func checkRole(_ body: ObjectBody, isNew: Bool) throws(ParseError) {
        let changes = zip(body.fields.names, body.changes).filter { $0.0 == "name" }.map(\.1)
        guard isNew else {
            guard changes.isEmpty else {
                throw ParseError(.invalidRoleName, "A role's name can only be set before it has been saved.")
            }
            return
        }
        guard mode == .development || caller.isMaster else {
            throw ParseError(
                .operationForbidden, "Permission denied for action create on class \(InternalClasses.role).")
        }
        guard case .set(let value)? = changes.last, let name = value.string, Self.canBeRole(name) else {
            throw ParseError(
                .invalidRoleName,
                "A role's name must be 1 to 128 letters, digits, spaces, underscores and hyphens")
        }
    }

    private static func canBeRole(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "_- ".utf8.contains(byte)
            }
    }
}
