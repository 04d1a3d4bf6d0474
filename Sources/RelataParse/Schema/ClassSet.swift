import RelataCore
import RelataSQLite

/// All classes of a store at one moment. Never changed: a change of the schema makes another.
final class ClassSet: Sendable {
    /// The entities as they are stored.
    let entities: [Entity]
    /// The entities behind the classes, resolved. What clients know besides is enforced by their rules.
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
        self.entities = entities
        schema = try Schema(Self.keepingRequiredPointers(entities, options))
        hasCounts = CountCheck.isNeeded(in: schema)
        self.options = options
        self.version = version
        let stored = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        var classes: [String: ParseClass] = [:]
        for table in schema.tables {
            classes[table.name] = ParseClass(
                table, stored: stored[table.name] ?? table.entity, in: schema,
                options: options[table.name] ?? ClassOptions())
        }
        self.classes = classes
    }

    /// Entities in which no deletion unsets a pointer that objects are refused without.
    private static func keepingRequiredPointers(
        _ entities: [Entity], _ options: [String: ClassOptions]
    ) -> [Entity] {
        var result = entities
        for (place, entity) in entities.enumerated() {
            guard let fields = options[entity.name]?.fields else { continue }
            for (index, property) in entity.properties.enumerated() {
                guard case .relationship(var pointer) = property, case .toOne(isOptional: true, _) = pointer.kind,
                    fields[pointer.name]?.isRequired == true
                else { continue }
                let view = result.indices.lazy.compactMap { owner -> (owner: Int, index: Int)? in
                    guard result[owner].name == pointer.target else { return nil }
                    let index = result[owner].properties.firstIndex { property in
                        guard case .relationship(let view) = property, view.target == entity.name else { return false }
                        return RelationshipDetails(view).inverse == pointer.name
                    }
                    return index.map { (owner, $0) }
                }.first
                var rule = pointer.onTargetDelete
                if let view, case .relationship(var other) = result[view.owner].properties[view.index],
                    let first = other.deleteRule
                {
                    rule = first
                    if first == .nullify {
                        other.deleteRule = .deny
                        result[view.owner].properties[view.index] = .relationship(other)
                        if pointer.onTargetDelete != nil { pointer.onTargetDelete = .deny }
                    }
                } else if rule ?? .nullify == .nullify {
                    pointer.onTargetDelete = .deny
                }
                result[place].properties[index] = .relationship(pointer)
            }
        }
        return result
    }

    /// All classes in the order they were made.
    var all: [ParseClass] { schema.tables.compactMap { classes[$0.name] } }

    /// The class of that name.
    subscript(name: String) -> ParseClass? { classes[name] }

    /// The class of an entity.
    subscript(entity number: Int) -> ParseClass? { classes[schema.tables[number].name] }
}
