import RelataCore

extension Connection {
    /// The reason why an update of an object has changed no row: the object doesn't exist; or the database skipped it,
    /// for example by a trigger of another program (`RAISE(IGNORE)`).
    package func reasonOfNoUpdate(of key: KeyValue, in table: Table) throws(RelataError) -> RelataError {
        guard try isStored(key, in: table) else { return .notFound(ObjectReference(entity: table.name, key: key)) }
        return .ignoredUpdate(of: key, in: table)
    }
}

extension RelataError {
    /// An update that the database skips for an existing object.
    package static func ignoredUpdate(of key: KeyValue, in table: Table) -> RelataError {
        .validation([
            ValidationFailure(
                entity: table.name, property: nil, key: key,
                message: "\(key) was not updated: a trigger of the table \(table.sqlName) ignores the change")
        ])
    }
}
