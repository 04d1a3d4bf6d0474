import RelataCore
import RelataEngine

extension ParseTransaction {
    /// Compiles statements that find the objects the caller may change.
    var writeCompiler: QueryCompiler { compiler(under: caller.write) }

    /// Compiles statements that find all objects, for any caller.
    var unlimitedCompiler: QueryCompiler { compiler(under: .everything) }

    /// Compiles statements that find the objects of an access.
    func compiler(under access: Access) -> QueryCompiler {
        QueryCompiler(schema: schema, access: access, dialect: connection.dialect)
    }

    /// Returns the column's value for a list, and stores the list if it isn't stored yet.
    ///
    /// - Throws: ``ParseError`` 119 if the store has no users.
    func stored(_ list: AccessList) throws -> Value {
        guard let secrets, let lists = schema[InternalClasses.accessList],
            let entries = schema[InternalClasses.accessEntry]
        else { throw ParseError.accessIsOff }
        let text = JSONWriter.canonicalText(list.json)
        // Equal lists have the same id in every database and process.
        let id = Value.text(secrets.digestText(of: text))
        let key = KeyValue(id)
        if try connection.isStored(key, in: lists) { return id }
        try write(
            [
                ValueBatch.Row(
                    key: key, values: lists.values(["objectId": id, InternalClasses.permissions: .text(text)]))
            ],
            of: lists, insertion: ValueBatch.Insertion(ofSharedRowsInto: lists, connection.dialect))
        let rows = list.rights.map { principal, rights in
            ValueBatch.Row(
                key: KeyValue([id, .text(principal)]),
                values: entries.values([
                    "list": id, "principal": .text(principal), "canRead": .integer(rights.canRead ? 1 : 0),
                    "canWrite": .integer(rights.canWrite ? 1 : 0),
                ]))
        }
        if !rows.isEmpty { try write(rows, of: entries) }
        return id
    }
}

extension Table {
    /// The values of a row by the names of its properties, in the order of the columns. Missing values are unset.
    func values(_ named: [String: Value]) -> [Value] { columns.map { named[$0.property] ?? .null } }
}

extension ParseError {
    /// The error for an access list in a store without users.
    static let accessIsOff = ParseError(
        .operationForbidden,
        "access control is off: an object can't be saved with an ACL other than public read and write, which would not be enforced"
    )
}
