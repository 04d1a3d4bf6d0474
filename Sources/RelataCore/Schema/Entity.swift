/// A kind of object as the schema sees it: its table, its properties and how it is related.
///
/// `@Model` writes one for each model; the command-line tool reads them from an existing database. An entity alone
/// names other entities by name only; ``Schema`` checks that they exist and fit.
public struct Entity: Hashable, Sendable, Codable {
    /// The model's type name, such as `Book`; nested types carry their context: `Library.Book`.
    public var name: String
    /// The table's name.
    public var table: String
    /// The table's names in older versions of the model, if it was renamed.
    package var originalTable: OriginalNames?
    /// Stored properties and links in the order of their declaration, which is the order of the columns.
    package var properties: [Property]
    /// The names of the properties that make up the primary key, in order.
    public var key: [String]
    /// Whether the database assigns the key on insert (a single optional integer).
    package var isKeyAssigned: Bool
    /// Sets of properties whose values together must be unique, besides the key.
    package var uniques: [[String]]
    /// Properties that are indexed together, besides keys, uniques and references.
    package var indexes: [[String]]
    /// The searched attributes; `nil` for none.
    package var search: [String]?
    /// The integer attribute that counts the changes of a row, for optimistic locking.
    package var revision: String?
    /// The date attribute that is set when a row is inserted.
    package var createdAt: String?
    /// The date attribute that is set whenever a row is written.
    package var updatedAt: String?
    /// The foreign keys of the table without a relationship. Read from a database; models have none.
    package var foreignKeys: [ForeignKey] = []
    /// The source of its rows if another program made the table on a server; `nil` for a plain table.
    package var source: TableSource?

    /// The defaults of columns that the database computes, or that no property has, in SQL, by the columns' names. Read
    /// from a database; models have none.
    package var columnDefaults: [String: String] = [:]

    /// Whether rows may have no key, so that they can't be identified: queries leave such rows out. Read from a
    /// database; models have none.
    package var mayLackKeys = false

    private enum CodingKeys: String, CodingKey {
        case name, table, originalTable, properties, key, isKeyAssigned, uniques, indexes, search, revision,
            createdAt, updatedAt
    }

    /// Describes an entity. See the properties for the arguments.
    public init(
        name: String, table: String? = nil, originalTable: OriginalNames? = nil, properties: [Property],
        key: [String] = ["id"],
        isKeyAssigned: Bool = false, uniques: [[String]] = [], indexes: [[String]] = [], search: [String]? = nil,
        revision: String? = nil, createdAt: String? = nil, updatedAt: String? = nil
    ) {
        self.name = name
        self.table = table ?? name.split(separator: ".").last.map(String.init) ?? name
        self.originalTable = originalTable
        self.properties = properties
        self.key = key
        self.isKeyAssigned = isKeyAssigned
        self.uniques = uniques
        self.indexes = indexes
        self.search = search
        self.revision = revision
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    /// Removes properties from the search.
    package mutating func removeFromSearch(_ names: Set<String>) {
        guard let rest = search?.filter({ !names.contains($0) }) else { return }
        search = rest.isEmpty ? nil : rest
    }

    /// The attributes, in order.
    package var attributes: [Attribute] {
        properties.compactMap { if case .attribute(let attribute) = $0 { attribute } else { nil } }
    }

    /// The relationships, in order.
    package var relationships: [Relationship] {
        properties.compactMap { if case .relationship(let relationship) = $0 { relationship } else { nil } }
    }

    /// The property of that name, if there is one.
    package func property(_ name: String) -> Property? { properties.first { $0.name == name } }

    /// The attribute of that name, if there is one.
    package func attribute(_ name: String) -> Attribute? {
        if case .attribute(let attribute)? = property(name) { attribute } else { nil }
    }

    /// The relationship of that name, if there is one.
    package func relationship(_ name: String) -> Relationship? {
        if case .relationship(let relationship)? = property(name) { relationship } else { nil }
    }
}

/// An attribute or a relationship: a stored property of a model that isn't transient.
public enum Property: Hashable, Sendable, Codable {
    /// A stored value.
    case attribute(Attribute)
    /// A link to other objects.
    case relationship(Relationship)

    /// The property's name in Swift.
    package var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }
}
