import RelataCore
import RelataRecords
import RelataEngine
import Synchronization

/// All classes of a store at one moment, as clients see them. Immutable: a change of the schema makes a new set.
final class ClassSet: Sendable {
    private let stored: RecordClasses
    /// The entities behind the classes, resolved. The rules of clients' descriptions are enforced in them.
    let schema: Schema
    /// The facts about classes besides their entities, by class.
    let options: [String: ClassOptions]
    /// The prepared fetches of their objects.
    let prepared = PreparedFetches()
    /// The rights of their callers.
    let preparedCallers = PreparedCallers()
    /// The classes that were used, in the order of the tables.
    private let classes: [Slot]
    /// The classes whose objects have access lists or permissions.
    let guarded: Set<String>
    /// Whether there are users.
    let hasUsers: Bool
    /// Whether there are roles.
    let hasRoles: Bool
    /// The classes that don't allow everybody everything.
    let permissions: [String: ClassPermissions]
    /// The classes whose objects are refused without a value of some field.
    private let strict: Set<String>
    /// The functions and triggers that other servers answer.
    let webhooks: Webhooks
    /// The hidden fields, by class: only some of the callers who see an object get them.
    private let hidden: [String: Set<String>]
    /// Copies of the classes without some fields, by the hidden fields.
    private let views = Mutex<[[String: Set<String>]: ClassSet]>([:])

    /// A class, once it is used.
    private final class Slot: Sendable {
        let parseClass = AtomicLazyReference<ParseClass>()
    }

    /// Another set, and the classes in which a new one may differ from it.
    struct Change {
        /// The classes before the change.
        let before: ClassSet
        /// The positions of new and changed entities; all others are the same, in their positions.
        let places: Set<Int>
        /// The names of the classes with other facts.
        let options: Set<String>
    }

    /// - Parameter change: The changes since earlier classes: unchanged ones are neither checked nor resolved again.
    ///   `nil` if there are no earlier ones, or a class was removed.
    init(
        _ stored: RecordClasses, options: [String: ClassOptions], since change: Change? = nil
    ) throws(RelataError) {
        self.stored = stored
        let old = change?.before
        var (guarded, permissions, strict) = (old?.guarded ?? [], old?.permissions ?? [:], old?.strict ?? [])
        for place in change.map({ Array($0.places) }) ?? Array(stored.entities.indices) {
            let entity = stored.entities[place]
            if entity.isGuarded || entity.isSession {
                guarded.insert(entity.name)
            } else {
                guarded.remove(entity.name)
            }
        }
        let named = change.map { $0.options.union($0.places.map { stored.entities[$0].name }) } ?? Set(options.keys)
        for name in named {
            let known = options[name]
            permissions[name] = stored.schema.index(of: name).flatMap { _ in known?.permissions }
            if known?.hasRequiredFields == true { strict.insert(name) } else { strict.remove(name) }
        }
        (self.guarded, self.permissions, self.strict) = (guarded, permissions, strict)
        // Few classes need rules other than their entities'.
        let kept = Self.keepingRequiredPointers(stored, options, strict, since: change)
        let known = old?.schema ?? stored.schema
        schema =
            try kept.map { (kept) throws(RelataError) in
                try Schema(kept.entities, since: known, changedAt: kept.concerned)
            } ?? stored.schema
        hasUsers = schema[InternalClasses.user]?.entity.property("_password") != nil
        hasRoles = schema[InternalClasses.role]?.entity.isGuarded == true
        self.options = options
        classes = stored.entities.map { _ in Slot() }
        webhooks = options[Webhooks.key]?.webhooks ?? Webhooks()
        hidden = [:]
    }

    private init(_ all: ClassSet, hiding fields: [String: Set<String>]) {
        stored = all.stored
        schema = all.schema
        options = all.options
        classes = all.stored.entities.map { _ in Slot() }
        guarded = all.guarded
        permissions = all.permissions
        strict = all.strict
        hasUsers = all.hasUsers
        hasRoles = all.hasRoles
        webhooks = all.webhooks
        hidden = fields
    }

    /// The maximum number of kept copies: one for each group of users who see different fields.
    private static let maximumViews = 64

    /// A copy of the classes without some fields.
    func hiding(_ fields: [String: Set<String>]) -> ClassSet {
        if fields.isEmpty { return self }
        if let known = views.withLock({ $0[fields] }) { return known }
        let view = ClassSet(self, hiding: fields)
        return views.withLock { views in
            if let known = views[fields] { return known }
            if views.count >= Self.maximumViews { views = [:] }
            views[fields] = view
            return view
        }
    }

    /// The inverse relations of some pointers, which would reveal them.
    func otherSides(of fields: Set<String>, in className: String) -> [(className: String, field: String)] {
        fields.sorted().flatMap { field -> [(className: String, field: String)] in
            guard let target = storedSchema[className]?.entity.relationship(field)?.target else { return [] }
            let relations = storedSchema[target]?.entity.relationships ?? []
            return relations.filter { $0.target == className && RelationshipDetails($0).inverse == field }
                .map { (target, $0.name) }
        }
    }

    /// The names of the classes in a part of the database.
    func entities(in region: TableRegion) -> Set<String> { stored.entities(in: region) }

    /// The entities as they are stored.
    var entities: [Entity] { stored.entities }
    /// The resolved schema of the stored entities.
    var storedSchema: Schema { stored.schema }
    /// The number that the database gives the tables; another one means that they were changed.
    var version: Int64 { stored.version }

    /// The pointers of a class that look unset to callers who don't see the object at their end.
    func limitedPointers(of entity: Entity) -> Set<String> {
        Set(
            entity.relationships.filter {
                $0.name != InternalClasses.link && (guarded.contains($0.target) || permissions[$0.target] != nil)
            }.map(\.name))
    }

    /// The SQL that the database understands.
    var dialect: Dialect { stored.dialect }

    /// Entities in which no deletion unsets a required pointer: a rule that would unset it becomes a denial, on either
    /// side.
    ///
    /// - Parameters:
    ///   - strict: The classes with required fields.
    ///   - change: The changes. Rules of unaffected classes are taken from the classes before.
    /// - Returns: The entities, and the numbers of those that may differ from the classes before; `nil` if no rule has
    ///   to be changed.
    private static func keepingRequiredPointers(
        _ stored: RecordClasses, _ options: [String: ClassOptions], _ strict: Set<String>, since change: Change?
    ) -> (entities: [Entity], concerned: Set<Int>?)? {
        if strict.isEmpty { return nil }
        var entities = stored.entities
        let concerned = change.flatMap { Self.concerned(stored, options, strict, since: $0) }
        if let previous = change?.before, let concerned, previous.schema !== previous.storedSchema {
            for table in previous.schema.tables where !concerned.contains(table.index) {
                entities[table.index] = table.entity
            }
        }
        for name in strict {
            guard let index = stored.schema.index(of: name) else { continue }
            for (field, options) in options[name]?.fields ?? [:] where options.isRequired {
                guard let place = entities[index].properties.firstIndex(where: { $0.name == field }),
                    case .relationship(var pointer) = entities[index].properties[place],
                    // Whether it may be unset in its column, and not by clients.
                    case .toOne(isOptional: true, _) = pointer.kind,
                    let target = stored.schema.index(of: pointer.target),
                    concerned.map({ $0.contains(index) || $0.contains(target) }) ?? true
                else { continue }
                let view = entities[target].properties.firstIndex {
                    guard case .relationship(let view) = $0, view.target == name else { return false }
                    return RelationshipDetails(view).inverse == field
                }
                var rule: DeleteRule?
                if let view, case .relationship(var relationship) = entities[target].properties[view] {
                    rule = relationship.deleteRule
                    if rule == .nullify {
                        relationship.deleteRule = .deny
                        entities[target].properties[view] = .relationship(relationship)
                    }
                }
                // A rule of the inverse has precedence; without any rule, the pointer would be unset.
                if pointer.onTargetDelete == .nullify || pointer.onTargetDelete == nil && rule == nil {
                    pointer.onTargetDelete = .deny
                    entities[index].properties[place] = .relationship(pointer)
                }
            }
        }
        return entities == stored.entities ? nil : (entities, concerned)
    }

    /// The classes whose rules a change may affect: new or changed ones, those that their pointers lead to, and those
    /// whose required pointers lead to them.
    ///
    /// - Returns: Their numbers; `nil` for all.
    private static func concerned(
        _ stored: RecordClasses, _ options: [String: ClassOptions], _ strict: Set<String>, since change: Change
    ) -> Set<Int>? {
        let (entities, old) = (stored.entities, change.before.entities)
        guard entities.count >= old.count else { return nil }
        for index in change.places where index < old.count && entities[index].name != old[index].name { return nil }
        let changed = change.places.union(change.options.compactMap { stored.schema.index(of: $0) })
        var concerned = changed
        for index in changed {
            let relationships = entities[index].relationships + (index < old.count ? old[index].relationships : [])
            concerned.formUnion(relationships.compactMap { stored.schema.index(of: $0.target) })
        }
        for name in strict {
            guard let index = stored.schema.index(of: name), !concerned.contains(index) else { continue }
            let leadsToChanged = stored.schema.references(of: index).contains {
                changed.contains($0.target) && options[name]?.fields[$0.property]?.isRequired == true
            }
            if leadsToChanged { concerned.insert(index) }
        }
        return concerned
    }

    /// All classes that clients see, in the order of their creation.
    var all: [ParseClass] {
        classes.indices.filter { !InternalClasses.hidden.contains(schema.tables[$0].name) }.map(parseClass)
    }

    /// The class of that name; `nil` for one that clients don't see.
    subscript(name: String) -> ParseClass? {
        InternalClasses.hidden.contains(name) ? nil : schema.index(of: name).map(parseClass)
    }

    /// The class that a field of a class leads to; `nil` for a field that leads to none.
    func target(of field: String, in className: String) -> String? { self[className]?[field]?.type.targetClass }

    /// The class of an entity.
    subscript(entity number: Int) -> ParseClass? { parseClass(number) }

    private func parseClass(_ number: Int) -> ParseClass {
        let slot = classes[number]
        if let known = slot.parseClass.load() { return known }
        // If several threads make the class at once, all get the first one.
        let table = schema.tables[number]
        return slot.parseClass.storeIfNil(
            ParseClass(
                table, stored: entities[number], in: schema, options: options[table.name] ?? ClassOptions(),
                dialect: dialect, hidden: hidden[table.name] ?? []))
    }
}
