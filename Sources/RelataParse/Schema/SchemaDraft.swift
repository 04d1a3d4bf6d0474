import RelataCore
import RelataRecords
import RelataEngine

/// The classes of a store while they are being changed.
struct SchemaDraft {
    private(set) var entities: EntityList
    private(set) var options: OptionsDraft
    /// Whether there may be users.
    let hasUsers: Bool

    /// - Parameter schema: The entities, resolved, if they are.
    init(
        entities: [Entity], options: [String: ClassOptions], hasUsers: Bool = false, resolved schema: Schema? = nil
    ) {
        self.hasUsers = hasUsers
        self.entities = EntityList(entities, resolved: schema)
        self.options = OptionsDraft(options)
    }

    /// The entity of a class.
    func entity(_ name: String) -> Entity? { entities.place(of: name).map { entities[$0] } }

    /// Runs `change`, and undoes it if it throws: without a copy of all classes.
    ///
    /// - Parameter className: The one class that may be changed. Others may only be added.
    mutating func attempt(
        changing className: String, _ change: (inout SchemaDraft) throws(ParseError) -> Void
    ) throws(ParseError) {
        let count = entities.count
        let place = entities.place(of: className)
        let (entity, known) = (place.map { entities[$0] }, options[className])
        do {
            try change(&self)
        } catch {
            for added in entities[count...] { options[added.name] = nil }
            entities.removeLast(entities.count - count)
            if let place, let entity { entities[place] = entity }
            options[className] = known
            throw error
        }
    }

    /// The webhooks of the store.
    var webhooks: Webhooks {
        get { options[Webhooks.key]?.webhooks ?? Webhooks() }
        set { options[Webhooks.key] = newValue.count == 0 ? nil : ClassOptions(webhooks: newValue) }
    }

    // MARK: Classes

    /// Whether a class of that name exists.
    func hasClass(_ name: String) -> Bool { entities.place(of: name) != nil }

    /// Whether a class exists only as the target of other fields.
    func isImplied(_ name: String) -> Bool { options[name]?.isImplied == true }

    /// Adds a class with the fields that every object has, if it doesn't exist.
    ///
    /// - Parameter isImplied: Whether it is only the target of a field.
    /// - Throws: ``ParseError`` 103 for a name that no class can have, or that differs from another's only in case; 119
    ///   for classes of features that are off.
    mutating func addClass(_ name: String, isImplied: Bool = false) throws(ParseError) {
        // Refused even if the class exists: no field of clients may lead to it.
        if InternalClasses.hidden.contains(name), let error = DisabledFeature.error(forClass: name) { throw error }
        if hasClass(name) {
            if !isImplied, self.isImplied(name) {
                options[name]?.isImplied = nil
                forgetOptions(of: name)
            }
            return
        }
        if let error = DisabledFeature.error(forClass: name) { throw error }
        if InternalClasses.ofClients.contains(name) {
            guard hasUsers else { throw .usersAreOff }
            return addUsers()
        }
        if ServiceClasses.visible.contains(name) { return addInternalClass(name) }
        try ParseNames.checkClass(name)
        if let other = entities.first(where: { $0.name.isSameName(as: name) || $0.table.isSameName(as: name) }) {
            throw ParseError(
                .invalidClassName,
                "Invalid classname: \(name): there is a class \(other.name), which differs only in case: use that, or another name"
            )
        }
        if isImplied { options[name, default: ClassOptions()].isImplied = true }
        entities.append(Self.newEntity(name))
    }

    /// Adds a class of the server itself, if it doesn't exist.
    mutating func addInternalClass(_ name: String) {
        if hasClass(name) { return }
        entities.append(InternalClasses.entity(name))
        options[name] = InternalClasses.options(name)
    }

    /// A class with the fields that every object has.
    static func newEntity(_ name: String) -> Entity {
        Entity(
            name: name,
            properties: [
                .attribute(Attribute("objectId", type: .text)),
                .attribute(Attribute("createdAt", type: .date(.microseconds))),
                .attribute(Attribute("updatedAt", type: .date(.microseconds))),
            ], key: ["objectId"], createdAt: "createdAt", updatedAt: "updatedAt")
    }

    /// Removes a class.
    ///
    /// - Throws: ``ParseError`` 255 if fields of other classes lead to it.
    mutating func removeClass(_ name: String) throws(ParseError) {
        guard !InternalClasses.contains(name) else {
            throw ParseError(.operationForbidden, "the class \(name) belongs to the server: it can't be deleted")
        }
        for entity in entities where entity.name != name && entity.name != InternalClasses.file {
            if let field = entity.relationships.first(where: { $0.target == name }) {
                throw ParseError(
                    .classNotEmpty, "\(entity.name).\(field.name) leads to the class \(name): delete that field first")
            }
        }
        unlinkFiles(of: name)
        entities.removeAll { $0.name == name }
        options[name] = nil
    }

    // MARK: Fields

    /// Adds a field to an existing class, and its target class. Does nothing if the field exists with that type.
    ///
    /// - Throws: ``ParseError`` 105 for an invalid name, or one that differs from another's only in case; 111 if the
    ///   field has another type.
    mutating func addField(
        _ name: String, _ type: FieldType, to className: String, details: RelationshipDetails = RelationshipDetails(),
        options new: FieldOptions = FieldOptions()
    ) throws(ParseError) {
        guard let index = entities.place(of: className) else {
            throw ParseError(.invalidClassName, "Class \(className) does not exist.")
        }
        // Another program's names may be any.
        if let known = entities[index].property(name) { return try check(known, is: type, of: className) }
        try ParseNames.checkField(name)
        guard entities[index].properties.count < ParseNames.maximumFields else {
            throw ParseError(
                .invalidKeyName,
                "\(name) can't be added: \(className) has \(ParseNames.maximumFields) fields, as many as a class can have"
            )
        }
        if let other = entities[index].properties.first(where: { $0.name.isSameName(as: name) }) {
            throw ParseError(
                .invalidKeyName,
                "Invalid field name: \(name): \(className) has a field \(other.name), which differs only in case: use that, or another name"
            )
        }
        guard name != "id" else { throw ParseError(.invalidKeyName, "id is an invalid field name.") }
        if let target = type.targetClass { try addClass(target, isImplied: true) }
        var options = new
        let property: Property
        switch type {
        case .pointer(let target):
            property = .relationship(details.pointer(name, to: target))
        case .relation(let target):
            property = .relationship(details.relation(name, of: className, to: target))
        default:
            guard let stored = type.attributeType else {
                throw ParseError(.incorrectType, "a field can't be of the type \(type): every object has an ACL")
            }
            property = .attribute(
                Attribute(name, type: stored, isOptional: true, keepsIntegers: type == .number))
            if stored == .json { options.type = type }
        }
        entities[index].properties.append(property)
        if options != FieldOptions() { self.options[className, default: ClassOptions()].fields[name] = options }
    }

    /// Lets a Number of a class that clients made hold integers beyond 2⁵³ exactly, which fields of earlier versions
    /// don't.
    mutating func keepIntegers(of name: String, in className: String) {
        edit(className) { entity, _ in
            guard entity.isOfClients, let index = entity.properties.firstIndex(where: { $0.name == name }),
                case .attribute(var attribute) = entity.properties[index], attribute.type == .real
            else { return }
            attribute.keepsIntegers = true
            entity.properties[index] = .attribute(attribute)
        }
    }

    private func check(_ property: Property, is type: FieldType, of className: String) throws(ParseError) {
        let known = self.type(of: property, in: className)
        guard known == type else { throw Self.mismatch(className, property.name, known, type) }
    }

    /// The type of a property for clients.
    func type(of property: Property, in className: String) -> FieldType {
        switch property {
        case .attribute(let attribute):
            options[className]?.fields[attribute.name]?.type ?? FieldType(attribute.type)
        case .relationship(let relationship):
            if relationship.target == InternalClasses.accessList {
                .acl
            } else {
                relationship.isToMany ? .relation(relationship.target) : .pointer(relationship.target)
            }
        }
    }

    /// The error for a value of another type than the field's.
    static func mismatch(_ className: String, _ field: String, _ known: FieldType, _ given: FieldType) -> ParseError {
        ParseError(
            .incorrectType, "schema mismatch for \(className).\(field); expected \(known) but got \(given)")
    }

    /// Removes fields; missing ones are ignored.
    ///
    /// - Throws: ``ParseError`` 255 for a pointer whose inverse is a relation.
    mutating func removeFields(_ names: Set<String>, of className: String) throws(ParseError) {
        if names.isEmpty { return }
        for entity in entities {
            for relationship in entity.relationships where relationship.target == className {
                guard let inverse = RelationshipDetails(relationship).inverse, names.contains(inverse),
                    entity.name != className || !names.contains(relationship.name)
                else { continue }
                throw ParseError(
                    .classNotEmpty,
                    "\(entity.name).\(relationship.name) is the other side of \(className).\(inverse): delete that field first"
                )
            }
        }
        guard let index = entities.place(of: className) else { return }
        entities[index].properties.removeAll { names.contains($0.name) }
        entities[index].uniques.removeAll { !names.isDisjoint(with: $0) }
        entities[index].indexes.removeAll { !names.isDisjoint(with: $0) }
        entities[index].removeFromSearch(Set(names))
        for name in names { options[className]?.fields[name] = nil }
        if let left = options[className]?.optionalFields?.subtracting(names) {
            options[className]?.optionalFields = left.isEmpty ? nil : left
        }
        let gone = (options[className]?.indexes ?? [:]).filter { !names.isDisjoint(with: $0.value.fields.map(\.name)) }
        for name in gone.keys { options[className]?.indexes[name] = nil }
        options[className]?.permissions?.remove(fields: names)
    }

    /// Removes the entry of a class without any facts besides its entity.
    mutating func forgetOptions(of name: String) {
        if options[name] == ClassOptions() { options[name] = nil }
    }

    /// Edits an entity and its other facts.
    mutating func edit<Failure: Error>(
        _ className: String, _ body: (inout Entity, inout ClassOptions) throws(Failure) -> Void
    ) throws(Failure) {
        guard let index = entities.place(of: className) else { return }
        try body(&entities[index], &options[className, default: ClassOptions()])
    }

    // MARK: Migration

    /// - Throws: ``ParseError`` 103 for a new class whose name is taken by a view or an index of the file, or by a
    ///   module of the database.
    static func checkNames(_ changes: EntityChanges, on connection: Connection) throws {
        guard let (entity, owner) = try changes.nameTaken(on: connection) else { return }
        throw ParseError(.invalidClassName, "Invalid classname: \(entity.name): \(owner) of that name")
    }

    /// The new unique sets that stored objects violate.
    ///
    /// - Parameter old: The classes as they were.
    static func duplicates(
        _ changes: EntityChanges, in old: Schema, on connection: Connection
    ) throws -> [(className: String, fields: [String], message: String)] {
        try changes.duplicates(in: old, on: connection).map {
            (
                $0.entity, $0.properties,
                "Tried to ensure field uniqueness for a class that already has duplicates: several objects of \($0.entity) have the same \($0.properties.joined(separator: ", ")) (\($0.values)): change or delete all but one, then make it unique"
            )
        }
    }
}

/// The rules of a pointer or relation beyond its type.
struct RelationshipDetails: Hashable, Sendable {
    /// The effect on the object when the target of its pointer is deleted.
    var onTargetDelete: DeleteRule?
    /// The effect on the targets when the object is deleted.
    var deleteRule: DeleteRule?
    /// For a relation: the pointer of the target class whose inverse it is.
    var inverse: String?
    /// The order of a relation. If clients fill it, it keeps the order in which objects were added.
    var order: Relationship.Order? = .stored
    /// For a pointer: whether the column must be set.
    var isRequired = false

    /// A pointer. Its column has its own name, so that no two fields' columns can meet.
    func pointer(_ name: String, to target: String) -> Relationship {
        Relationship(
            name, target: target, kind: .toOne(isOptional: !isRequired, columns: [name]), deleteRule: deleteRule,
            onTargetDelete: onTargetDelete)
    }

    /// A relation. Its table is named as Parse names it, which no class can be.
    func relation(_ name: String, of className: String, to target: String) -> Relationship {
        if let inverse {
            return Relationship(
                name, target: target, kind: .toMany(inverse: inverse), deleteRule: deleteRule,
                order: order == .stored ? nil : order)
        }
        return Relationship(
            name, target: target, kind: .manyToMany(JoinTableNames(table: "_Join:\(name):\(className)")),
            deleteRule: deleteRule, order: order)
    }
}
