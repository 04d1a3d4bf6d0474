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

    /// Entities in which no deletion unsets a pointer that objects are refused without: what would be unset on either side
    /// is denied.
    private static func keepingRequiredPointers(
        _ entities: [Entity], _ options: [String: ClassOptions]
    ) -> [Entity] {
        /// Whether a pointer may be unset in its column, and not by clients.
        func isRequired(_ pointer: Relationship, of entity: Entity) -> Bool {
            guard case .toOne(isOptional: true, _) = pointer.kind else { return false }
            return options[entity.name]?.fields[pointer.name]?.isRequired == true
        }
        let known = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        return entities.map { entity in
            var entity = entity
            entity.properties = entity.properties.map { property in
                guard case .relationship(var own) = property, let target = known[own.target] else { return property }
                if isRequired(own, of: entity) {
                    let view = target.relationships.first {
                        $0.target == entity.name && RelationshipDetails($0).inverse == own.name
                    }
                    // A rule of the other side comes first; where neither has one, it would be unset.
                    if own.onTargetDelete == .nullify || own.onTargetDelete == nil && view?.deleteRule == nil {
                        own.onTargetDelete = .deny
                    }
                } else if own.deleteRule == .nullify, let name = RelationshipDetails(own).inverse,
                    let pointer = target.relationship(name), pointer.target == entity.name,
                    isRequired(pointer, of: target)
                {
                    own.deleteRule = .deny
                }
                return .relationship(own)
            }
            return entity
        }
    }

    /// All classes in the order they were made.
    var all: [ParseClass] { schema.tables.compactMap { classes[$0.name] } }

    /// The class of that name.
    subscript(name: String) -> ParseClass? { classes[name] }

    /// The class of an entity.
    subscript(entity number: Int) -> ParseClass? { classes[schema.tables[number].name] }
}
