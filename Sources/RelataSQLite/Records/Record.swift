import RelataCore

/// An object whose type is known only at run time: the values of its columns, and what was loaded with it.
public struct Record: Hashable, Sendable {
    /// The entity, as a number in ``Schema/tables``.
    public let entity: Int
    /// The values in the order of ``Table/columns``.
    public let values: [Value]
    /// The relationships that were loaded, by name.
    public internal(set) var links: [String: LoadedLink]

    /// An object with nothing loaded.
    public init(entity: Int, values: [Value]) {
        self.entity = entity
        self.values = values
        links = [:]
    }

    /// The object's primary key.
    public func key(in schema: Schema) -> KeyValue { key(at: schema.tables[entity].keyColumns) }

    /// The values of a property's columns, or those of a to-one's key.
    public func key(at columns: [Int]) -> KeyValue { KeyValue(columns.map { values[$0] }) }
}

/// The objects at the other end of a relationship that was loaded.
public enum LoadedLink: Hashable, Sendable {
    /// Of a to-one or has-one; `nil` where there is none, or the one it names isn't stored.
    case one(Record?)
    /// Of a to-many, in its order.
    case many([Record])

    /// All of them.
    public var records: [Record] {
        switch self {
        case .one(let record): record.map { [$0] } ?? []
        case .many(let records): records
        }
    }
}
