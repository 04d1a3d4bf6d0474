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
    /// How their objects are fetched.
    let prepared = PreparedFetches()
    /// The classes that were used, in the order of the tables.
    private let classes: [Slot]
    /// The classes whose objects have access lists or permissions.
    let guarded: [String]
    /// The classes that don't allow everybody everything.
    let permissions: [String: ClassPermissions]
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

    /// - Parameter previous: The classes before a change: unchanged ones aren't resolved again.
    init(
        _ stored: RecordClasses, options: [String: ClassOptions], since previous: ClassSet? = nil
    ) throws(RelataError) {
        self.stored = stored
        // Few classes need rules other than their entities'.
        let strict = Self.keepingRequiredPointers(stored, options, since: previous)
        let known = previous?.schema ?? stored.schema
        schema =
            try strict.map { (entities) throws(RelataError) in try Schema(entities, since: known) } ?? stored.schema
        self.options = options
        classes = stored.entities.map { _ in Slot() }
        guarded = stored.entities.filter { $0.isGuarded || $0.isSession }.map(\.name)
        permissions = options.compactMapValues(\.permissions).filter { stored.schema.index(of: $0.key) != nil }
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
        webhooks = all.webhooks
        hidden = fields
    }

    /// How many copies are kept: one for each group of users who see different fields.
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

    /// The names of the classes that lie in a part of the database.
    func entities(in region: TableRegion) -> Set<String> { stored.entities(in: region) }

    /// Whether there are users.
    var hasUsers: Bool { schema[InternalClasses.user]?.entity.property("_password") != nil }

    /// The entities as they are stored.
    var entities: [Entity] { stored.entities }
    /// The resolved schema of the stored entities.
    var storedSchema: Schema { stored.schema }
    /// The number that the database gives the tables; another one means that they were changed.
    var version: Int64 { stored.version }

    /// The pointers of a class that look unset to callers who don't see the object at their end.
    func limitedPointers(of entity: Entity) -> Set<String> {
        let limited = Set(guarded).union(permissions.keys)
        return Set(
            entity.relationships.filter { $0.name != InternalClasses.link && limited.contains($0.target) }.map(\.name))
    }

    /// The SQL that the database understands.
    var dialect: Dialect { stored.dialect }

    /// Entities in which no deletion unsets a required pointer: a rule that would unset it becomes a denial, on either
    /// side.
    ///
    /// - Parameter previous: The classes before a change. Rules of unaffected classes are taken from there.
    /// - Returns: `nil` if no rule has to be changed.
    private static func keepingRequiredPointers(
        _ stored: RecordClasses, _ options: [String: ClassOptions], since previous: ClassSet?
    ) -> [Entity]? {
        if !options.contains(where: { $0.value.hasRequiredFields }) { return nil }
        var entities = stored.entities
        let concerned = previous.flatMap { Self.concerned(stored, options, since: $0) }
        if let previous, let concerned, previous.schema !== previous.storedSchema {
            for table in previous.schema.tables where !concerned.contains(table.index) {
                entities[table.index] = table.entity
            }
        }
        for (name, options) in options where options.hasRequiredFields {
            guard let index = stored.schema.index(of: name) else { continue }
            for (field, options) in options.fields where options.isRequired {
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
        return entities == stored.entities ? nil : entities
    }

    /// The classes whose rules a change may affect: new or changed ones, those that their pointers lead to, and those
    /// whose required pointers lead to them.
    ///
    /// - Returns: Their numbers; `nil` for all.
    private static func concerned(
        _ stored: RecordClasses, _ options: [String: ClassOptions], since previous: ClassSet
    ) -> Set<Int>? {
        let (entities, old) = (stored.entities, previous.entities)
        guard entities.count >= old.count else { return nil }
        var changed = Set(old.count..<entities.count)
        for index in old.indices where entities[index] != old[index] {
            guard entities[index].name == old[index].name else { return nil }
            changed.insert(index)
        }
        for (name, value) in options where previous.options[name] != value {
            if let index = stored.schema.index(of: name) { changed.insert(index) }
        }
        for name in previous.options.keys where options[name] == nil {
            if let index = stored.schema.index(of: name) { changed.insert(index) }
        }
        var concerned = changed
        for index in changed {
            let relationships = entities[index].relationships + (index < old.count ? old[index].relationships : [])
            concerned.formUnion(relationships.compactMap { stored.schema.index(of: $0.target) })
        }
        for (name, value) in options where value.hasRequiredFields {
            guard let index = stored.schema.index(of: name), !concerned.contains(index) else { continue }
            let leadsToChanged = stored.schema.references(of: index).contains {
                changed.contains($0.target) && value.fields[$0.property]?.isRequired == true
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
        // If several threads make it at once, all get the first.
        let table = schema.tables[number]
        return slot.parseClass.storeIfNil(
            ParseClass(
                table, stored: entities[number], in: schema, options: options[table.name] ?? ClassOptions(),
                dialect: dialect, hidden: hidden[table.name] ?? []))
    }
}
