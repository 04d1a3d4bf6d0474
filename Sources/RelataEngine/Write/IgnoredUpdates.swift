import RelataCore

extension Connection {
    /// Why a statement that was to update an object has changed no row: the object is gone; or it is there, and the database
    /// passed it over, as a trigger of another program may have it do (`RAISE(IGNORE)`).
    package func reasonOfNoUpdate(of key: KeyValue, in table: Table) throws(RelataError) -> RelataError {
        guard try isStored(key, in: table) else { return .notFound(ObjectReference(entity: table.name, key: key)) }
        return .ignoredUpdate(of: key, in: table)
    }
}

extension RelataError {
    /// An update of an object that is there, and stays as it is.
    package static func ignoredUpdate(of key: KeyValue, in table: Table) -> RelataError {
        .validation([
            ValidationFailure(
                entity: table.name, property: nil, key: key,
                message: "\(key) was not updated: a trigger of the table \(table.sqlName) ignores the change")
        ])
    }
}
