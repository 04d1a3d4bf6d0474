import RelataCore
import RelataSQLite

/// All classes of a store at one moment. Never changed: a change of the schema makes another.
final class ClassSet: Sendable {
    /// The entities behind the classes, resolved.
    let schema: Schema
    /// What clients know besides, by class.
    let options: [String: ClassOptions]
    /// The number that SQLite gives the tables; another one means that they were changed.
    let version: Int64
    /// Whether any relation declares how many objects it must or may hold.
    let hasCounts: Bool
    /// How their objects are fetched.
    let prepared = PreparedFetches()
    private let classes: [String: ParseClass]

    init(_ entities: [Entity], options: [String: ClassOptions], version: Int64) throws(RelataError) {
        schema = try Schema(entities)
        hasCounts = CountCheck.isNeeded(in: schema)
        self.options = options
        self.version = version
        var classes: [String: ParseClass] = [:]
        for table in schema.tables {
            classes[table.name] = ParseClass(table, in: schema, options: options[table.name] ?? ClassOptions())
        }
        self.classes = classes
    }

    /// All classes in the order they were made.
    var all: [ParseClass] { schema.tables.compactMap { classes[$0.name] } }

    /// The class of that name.
    subscript(name: String) -> ParseClass? { classes[name] }

    /// The class of an entity.
    subscript(entity number: Int) -> ParseClass? { classes[schema.tables[number].name] }
}
