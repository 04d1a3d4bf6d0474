import RelataCore

extension ParseTransaction {
    /// Checks a new role. Access lists contain the names of roles, so a role's name is unique and never changes.
    ///
    /// - Returns: The body to write. A role without an access list gets one: everyone can read the role, and only the
    ///   master key can change it. Without the list, anyone could join the role.
    /// - Throws: ``ParseError`` 139 for an invalid name; 119 in production without the master key.
    func newRole(_ body: ObjectBody) throws(ParseError) -> ObjectBody {
        guard mode == .development || caller.isMaster else {
            throw ParseError(
                .operationForbidden, "Permission denied for action create on class \(InternalClasses.role).")
        }
        guard case .set(let value)? = changes(ofNameIn: body).last, let name = value.string, Self.canBeRole(name) else {
            throw ParseError(
                .invalidRoleName,
                "A role's name must be 1 to 128 letters, digits, spaces, underscores and hyphens")
        }
        return body.access == nil ? body.with(.list(AccessList(["*": AccessList.Rights(canRead: true)]))) : body
    }

    /// - Throws: ``ParseError`` 139 if the body changes the name.
    func checkChange(ofRole body: ObjectBody) throws(ParseError) {
        guard changes(ofNameIn: body).isEmpty else {
            throw ParseError(.invalidRoleName, "A role's name can only be set before it has been saved.")
        }
    }

    private func changes(ofNameIn body: ObjectBody) -> [FieldChange] {
        zip(body.fields.names, body.changes).filter { $0.0 == "name" }.map(\.1)
    }

    private static func canBeRole(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "_- ".utf8.contains(byte)
            }
    }
}
