import RelataCore
import RelataEngine
import Synchronization

/// All classes of a store at one moment. Immutable: a change of the schema makes a new set.
package final class RecordClasses: Sendable {
    /// The entities as they are stored.
    package let entities: [Entity]
    /// The resolved schema.
    package let schema: Schema
    /// The number that the database gives the tables; another one means that they were changed.
    package let version: Int64
    /// Whether the file has recorded these entities, and its tables fit them: then only changed parts need to be
    /// checked.
    package let isRemembered: Bool
    /// The SQL that their database understands.
    package let dialect: Dialect
    /// Facts about the tables that no entity can describe.
    package let notes: [SchemaProblem]
    /// The classes for reports of changes.
    let changes: ChangeEntities
    /// The names of the classes in a part of the database.
    package func entities(in region: TableRegion) -> Set<String> {
        Set(changes.unknownChanges(of: region).map(\.entity))
    }
    /// Finds classes and fields by their names, and by those of their tables and columns.
    package let names: NameResolver
    /// The classes that were used, in the order of the tables.
    private let layouts: [Slot<RecordLayout>]
    /// A higher layer's view of the classes, once it was requested.
    private let view = Slot<View>()

    private final class Slot<Content: AnyObject & Sendable>: Sendable {
        let content = AtomicLazyReference<Content>()
    }

    private final class View: Sendable {
        let value: any Sendable

        init(_ value: any Sendable) { self.value = value }
    }

    /// - Parameter schema: The entities, if they were resolved before.
    package init(
        _ entities: [Entity], schema: Schema? = nil, version: Int64, isRemembered: Bool, dialect: Dialect,
        notes: [SchemaProblem] = []
    ) throws(RelataError) {
        let schema = if let schema { schema } else { try Schema(entities) }
        self.entities = entities
        self.schema = schema
        self.version = version
        self.isRemembered = isRemembered
        self.dialect = dialect
        self.notes = notes
        changes = ChangeEntities(schema)
        names = NameResolver(schema)
        layouts = entities.map { _ in Slot() }
    }

    /// The classes that a connection sees.
    ///
    /// - Parameter followsAllKeys: Whether foreign keys that hold no primary key of their target are relationships, too,
    ///   which are only read. Not for the classes of a store, which hides, changes and remembers relationships.
    package static func read(
        _ connection: Connection, followsAllKeys: Bool = false
    ) throws(RelataError) -> RecordClasses {
        let found = try Introspection.read(connection, followsAllKeys: followsAllKeys)
        return try RecordClasses(
            found.entities, version: try version(of: connection), isRemembered: found.isDeclared,
            dialect: connection.dialect, notes: found.notes)
    }

    /// The number that is raised whenever a table is changed.
    package static func version(of connection: Connection) throws(RelataError) -> Int64 {
        try connection.driver.tableVersion(connection)
    }

    /// The class of that name.
    subscript(name: String) -> RecordLayout? { schema.index(of: name).map(layout) }

    /// The class of an entity.
    func layout(_ number: Int) -> RecordLayout {
        let slot = layouts[number]
        // If several threads make it at once, all get the first.
        return slot.content.load() ?? slot.content.storeIfNil(RecordLayout(schema.tables[number]))
    }

    /// A higher layer's view of these classes, made on first use. There is one such layer.
    package func view<Value: Sendable>(_ make: () throws -> Value) rethrows -> Value {
        if let known = view.content.load()?.value as? Value { return known }
        let made = try make()
        return view.content.storeIfNil(View(made)).value as? Value ?? made
    }
}

/// The positions of a class's values in its rows.
final class RecordLayout: Sendable {
    let table: Table
    /// The names of the fields, in order.
    let names: [String]
    private let places: [String: Place]

    /// The position of a field's value.
    enum Place: Sendable {
        /// An attribute: its column, as an index in ``Table/columns``, and its type.
        case column(Int, AttributeType)
        /// A to-one: the columns that hold the key of an object of that class.
        case link([Int], String)
        /// A to-many, or the other side of a one-to-one: no column.
        case related(Link, String, isToMany: Bool)
    }

    init(_ table: Table) {
        self.table = table
        names = table.entity.properties.map(\.name)
        var places: [String: Place] = [:]
        for property in table.entity.properties {
            switch property {
            case .attribute(let attribute):
                guard let column = table.columnIndexes(of: attribute.name).first else { continue }
                places[attribute.name] = .column(column, attribute.type)
            case .relationship(let relationship):
                guard let link = table.links[relationship.name] else { continue }
                places[relationship.name] =
                    link.isReference
                    ? .link(table.columnIndexes(of: relationship.name), relationship.target)
                    : .related(link, relationship.target, isToMany: relationship.isToMany)
            }
        }
        self.places = places
    }

    /// The position of a field's value; `nil` for an unknown name.
    subscript(name: String) -> Place? { places[name] }
}
