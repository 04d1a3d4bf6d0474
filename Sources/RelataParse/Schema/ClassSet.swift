import RelataCore
import RelataSQLite
import Synchronization

/// All classes of a store at one moment. Never changed: a change of the schema makes another.
final class ClassSet: Sendable {
    /// The entities as they are stored.
    let entities: [Entity]
    /// The same, resolved.
    let storedSchema: Schema
    /// Whether the file remembers these entities, and its tables fit them: a change concerns what is changed, and nothing
    /// else need be looked at.
    let isRemembered: Bool
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
    /// The classes that somebody asked for, in the order of the tables.
    private let classes: [Slot]

    /// A class, once it was asked for.
    private final class Slot: Sendable {
        let parseClass = AtomicLazyReference<ParseClass>()
    }

    /// - Parameter stored: The entities, if they were resolved before.
    init(
        _ entities: [Entity], schema stored: Schema? = nil, options: [String: ClassOptions], version: Int64,
        isRemembered: Bool
    ) throws(RelataError) {
        self.entities = entities
        self.isRemembered = isRemembered
        let stored = if let stored { stored } else { try Schema(entities) }
        storedSchema = stored
        // Few classes need rules other than their entities'.
        let needsOthers = options.values.contains { $0.fields.values.contains(where: \.isRequired) }
        schema = needsOthers ? try Schema(Self.keepingRequiredPointers(entities, options)) : stored
        hasCounts = CountCheck.isNeeded(in: schema)
        self.options = options
        self.version = version
        classes = entities.map { _ in Slot() }
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
    var all: [ParseClass] { classes.indices.map(parseClass) }

    /// The class of that name.
    subscript(name: String) -> ParseClass? { schema.index(of: name).map(parseClass) }

    /// The class of an entity.
    subscript(entity number: Int) -> ParseClass? { parseClass(number) }

    private func parseClass(_ number: Int) -> ParseClass {
        let slot = classes[number]
        if let known = slot.parseClass.load() { return known }
        // Of several that are made at once, all get the first.
        let table = schema.tables[number]
        return slot.parseClass.storeIfNil(
            ParseClass(
                table, stored: entities[number], in: schema, options: options[table.name] ?? ClassOptions()))
    }
}
