import RelataCore
import RelataRecords
import RelataEngine
import Synchronization

/// All classes of a store at one moment, as clients know them. Never changed: a change of the schema makes another.
final class ClassSet: Sendable {
    private let stored: RecordClasses
    /// The entities behind the classes, resolved. What clients know besides is enforced by their rules.
    let schema: Schema
    /// What clients know besides, by class.
    let options: [String: ClassOptions]
    /// How their objects are fetched.
    let prepared = PreparedFetches()
    /// The classes that somebody asked for, in the order of the tables.
    private let classes: [Slot]

    /// A class, once it was asked for.
    private final class Slot: Sendable {
        let parseClass = AtomicLazyReference<ParseClass>()
    }

    init(_ stored: RecordClasses, options: [String: ClassOptions]) throws(RelataError) {
        self.stored = stored
        // Few classes need rules other than their entities'.
        let needsOthers = options.values.contains { $0.fields.values.contains(where: \.isRequired) }
        schema = needsOthers ? try Schema(Self.keepingRequiredPointers(stored.entities, options)) : stored.schema
        self.options = options
        classes = stored.entities.map { _ in Slot() }
    }

    /// The entities as they are stored.
    var entities: [Entity] { stored.entities }
    /// The same, resolved.
    var storedSchema: Schema { stored.schema }
    /// The number that SQLite gives the tables; another one means that they were changed.
    var version: Int64 { stored.version }

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
