import RelataCore

/// An object of a type known at run time: the values of its columns, and its loaded links.
package struct FetchedRecord: Hashable, Sendable {
    /// The entity, as a number in ``Schema/tables``.
    package let entity: Int
    /// The values in the order of ``Table/columns``.
    package let values: [Value]
    /// The relationships that were loaded, by name.
    package internal(set) var links: [String: LoadedLink]

    /// An object with nothing loaded.
    package init(entity: Int, values: [Value]) {
        self.entity = entity
        self.values = values
        links = [:]
    }

    /// The object's primary key.
    package func key(in schema: Schema) -> KeyValue { key(at: schema.tables[entity].keyColumns) }

    /// The values of a property's columns, or those of a to-one's key.
    package func key(at columns: [Int]) -> KeyValue { KeyValue(columns.map { values[$0] }) }
}

/// The objects at the other end of a relationship that was loaded.
package enum LoadedLink: Hashable, Sendable {
    /// Of a to-one or has-one; `nil` if it is unset or dangles.
    case one(FetchedRecord?)
    /// Of a to-many, in its order.
    case many([FetchedRecord])

    /// All linked records.
    package var records: [FetchedRecord] {
        switch self {
        case .one(let record): record.map { [$0] } ?? []
        case .many(let records): records
        }
    }
}
