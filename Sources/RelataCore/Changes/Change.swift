/// The changes of one kind that one transaction made to objects of one entity.
public struct Change: Hashable, Sendable, Codable {
    /// The kind of change.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// New objects.
        case insert
        /// Some properties of the objects were written.
        case update
        /// Deleted objects, including those that a delete rule deleted.
        case delete
        /// An unknown change: SQL of the program's own, a trigger or another process wrote to the table.
        case unknown
    }

    /// The entity's name; the table's for one without an entity.
    public let entity: String
    /// The kind of change.
    public let kind: Kind
    /// The objects; empty if they aren't known (``Kind/unknown``).
    public let keys: KeyList
    /// The properties that an update wrote. A to-one is a property of the object that holds its key; a many-to-many is
    /// one of both sides. A value that is saved as a whole writes all of its properties. Empty for other kinds.
    public let properties: [String]

    /// Describes a change.
    package init(entity: String, kind: Kind, keys: KeyList = KeyList(), properties: [String] = []) {
        self.entity = entity
        self.kind = kind
        self.keys = keys
        self.properties = properties
    }
}

/// The origin of a transaction: a device or a session, by a name that the program chooses.
///
/// ```swift
/// try await store.write { tx in
///     tx.origin = ChangeOrigin("Ada's phone", number: 42)
///     try tx.insert(Ship(name: "Aurora", tons: 120))
/// }
/// ```
public struct ChangeOrigin: Hashable, Sendable, Codable {
    /// The name of the device or the session.
    public let name: String
    /// The program's own number for the transaction, by which it recognises it.
    public let number: Int64?

    /// Names who made a transaction.
    public init(_ name: String, number: Int64? = nil) {
        self.name = name
        self.number = number
    }
}

/// The changes of one committed transaction.
public struct ChangeSet: Hashable, Sendable {
    /// The changes. Those of one entity are in the order in which they were made.
    public let changes: [Change]
    /// The end of the durable change log after this transaction; `nil` without a log.
    public let position: ChangePosition?

    /// The origin, if the transaction has one.
    public let origin: ChangeOrigin?

    /// Describes a transaction.
    package init(_ changes: [Change], position: ChangePosition? = nil, origin: ChangeOrigin? = nil) {
        self.changes = changes
        self.position = position
        self.origin = origin
    }

    /// Whether objects of the entity may have changed.
    public func touches(_ entity: String) -> Bool { changes.contains { $0.entity == entity } }

    /// The keys of the entity's objects that were changed in that way, in order.
    public func keys(of entity: String, _ kind: Change.Kind) -> KeyList {
        var result: KeyList?
        for change in changes where change.entity == entity && change.kind == kind {
            if result == nil { result = KeyList(width: change.keys.width) }
            for key in change.keys { result?.append(key) }
        }
        return result ?? KeyList()
    }
}

extension KeyList: Codable {
    private enum CodingKeys: String, CodingKey { case width, values }

    /// Reads a list of keys.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            values: try container.decode([Value].self, forKey: .values),
            width: try container.decode(Int.self, forKey: .width))
    }

    /// Writes a list of keys.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(width, forKey: .width)
        try container.encode(values, forKey: .values)
    }
}
