public import RelataCore

/// The classes of a store while they are being changed: see ``RecordStore/alter(_:)``.
public struct ClassesDraft: Sendable {
    private(set) var entities: [Entity]

    init(_ entities: [Entity]) { self.entities = entities }

    // MARK: Classes

    /// Adds a class with the fields of classes created by use: `id`, a UUID that is the key, `createdAt` and
    /// `updatedAt`. Does nothing if it exists.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a name that no class can have.
    public mutating func addClass(_ name: String) throws {
        if entities.contains(where: { $0.name == name }) { return }
        try entities.checkName(ofNewClass: name)
        entities.append(ClassDemand.newEntity(name))
    }

    /// Removes a class with all its objects.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if fields of other classes lead to it.
    public mutating func removeClass(_ name: String) throws {
        let index = try index(of: name)
        for entity in entities where entity.name != name {
            if let field = entity.relationships.first(where: { $0.target == name }) {
                throw RelataError.invalidUse(
                    "\(entity.name).\(field.name) leads to the class \(name): remove that field first")
            }
        }
        entities.remove(at: index)
    }

    // MARK: Fields

    /// Adds a field for values of a type.
    ///
    /// - Parameters:
    ///   - isRequired: Whether objects are refused without a value.
    ///   - value: The value of existing objects, and of new ones without one.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a missing class, a name that is taken, and a default of another
    ///   type.
    public mutating func addField(
        _ name: String, _ type: AttributeType, to className: String, isRequired: Bool = false,
        default value: RecordValue = nil
    ) throws {
        guard let stored = value.stored(as: type) else {
            throw RelataError.invalidUse(
                "\(className).\(name) takes \(type.wanted), and its default is \(value.kind): give it one of its type")
        }
        try add(
            .attribute(
                Attribute(name, type: type, isOptional: !isRequired, defaultValue: value.isNull ? nil : stored)),
            to: className)
    }

    /// Adds a link to at most one object of a class.
    ///
    /// - Parameters:
    ///   - isRequired: Whether objects are refused without one.
    ///   - onTargetDelete: The effect on an object when its target is deleted. By default the link is unset; a required
    ///     one denies the deletion.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a missing class and a name that is taken.
    public mutating func addLink(
        _ name: String, to target: String, in className: String, isRequired: Bool = false,
        onTargetDelete: DeleteRule? = nil
    ) throws {
        let isSingle = try entities[index(of: target)].key.count == 1
        try add(
            .relationship(
                Relationship(
                    name, target: target, kind: .toOne(isOptional: !isRequired, columns: isSingle ? [name] : []),
                    onTargetDelete: onTargetDelete)), to: className)
    }

    /// Adds the inverse of a link that at most one object has to a target: a passport's person and the person's
    /// passport.
    ///
    /// ```swift
    /// try schema.addLink("holder", to: "Person", in: "Passport")
    /// try schema.addLink("passport", to: "Passport", in: "Person", inverse: "holder", deleteRule: .cascade)
    /// ```
    ///
    /// - Parameters:
    ///   - inverse: The link of the target whose inverse this is. From now on its values are unique.
    ///   - deleteRule: The effect on the object at the other end when the one with this side is deleted.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a missing class and a name that is taken.
    public mutating func addLink(
        _ name: String, to target: String, in className: String, inverse: String, deleteRule: DeleteRule? = nil
    ) throws {
        _ = try index(of: target)
        try add(
            .relationship(
                Relationship(name, target: target, kind: .hasOne(inverse: inverse), deleteRule: deleteRule)),
            to: className)
    }

    /// Adds a list of links.
    ///
    /// - Parameters:
    ///   - target: The class of the objects in the list.
    ///   - className: The class whose objects have the list.
    ///   - inverse: The link or list of the target whose inverse the list is; `nil` for an independent list, in which
    ///     an object may be with several others.
    ///   - isOrdered: Whether the store keeps the order in which the list is given.
    ///   - deleteRule: The effect on the objects of the list when its owner is deleted.
    ///   - minimum: The least number of objects.
    ///   - maximum: The largest number of objects.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a class that doesn't exist, and a name that no field can have.
    public mutating func addList(
        _ name: String, of target: String, to className: String, inverse: String? = nil, isOrdered: Bool = true,
        deleteRule: DeleteRule? = nil, minimum: Int? = nil, maximum: Int? = nil
    ) throws {
        let other = try entities[index(of: target)].relationship(inverse ?? "")
        let kind: Relationship.Kind =
            switch (inverse, other?.isToMany) {
            case (nil, _): .manyToMany()
            case (let inverse?, true?): .manyToManyInverse(inverse: inverse)
            case (let inverse?, _): .toMany(inverse: inverse)
            }
        try add(
            .relationship(
                Relationship(
                    name, target: target, kind: kind, deleteRule: deleteRule, order: isOrdered ? .stored : nil,
                    minimumCount: minimum,
                    maximumCount: maximum)), to: className)
    }

    /// Removes a field with all its values.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a part of the key, and for a link that is the other side of a list.
    public mutating func removeField(_ name: String, of className: String) throws {
        let index = try index(of: className)
        let field = try property(name, of: index)
        guard !entities[index].key.contains(name) else {
            throw RelataError.invalidUse("\(className).\(name) is a part of the key, which stays")
        }
        for entity in entities {
            for relationship in entity.relationships where relationship.target == className {
                guard relationship.views(name) else { continue }
                throw RelataError.invalidUse(
                    "\(entity.name).\(relationship.name) is the other side of \(className).\(name): remove that field first"
                )
            }
        }
        entities[index].properties.removeAll { $0.name == field.name }
        entities[index].uniques.removeAll { $0.contains(name) }
        entities[index].indexes.removeAll { $0.contains(name) }
        entities[index].removeFromSearch([name])
        if entities[index].revision == name { entities[index].revision = nil }
        if entities[index].createdAt == name { entities[index].createdAt = nil }
        if entities[index].updatedAt == name { entities[index].updatedAt = nil }
    }

    // MARK: Rules

    /// Makes the values of some fields unique together.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a class or a field that doesn't exist.
    public mutating func addUnique(_ fields: String..., in className: String) throws {
        let index = try index(of: className)
        for field in fields { _ = try property(field, of: index) }
        if !entities[index].uniques.contains(fields) { entities[index].uniques.append(fields) }
    }

    /// Indexes some fields together, so that objects are found by them without a scan. Links are indexed by themselves.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a class or a field that doesn't exist.
    public mutating func addIndex(_ fields: String..., in className: String) throws {
        let index = try index(of: className)
        for field in fields { _ = try property(field, of: index) }
        if !entities[index].indexes.contains(fields) { entities[index].indexes.append(fields) }
    }

    /// Declares the searched text fields of a class, and no others: see ``RecordQuery/search``. Without fields the
    /// class isn't searched any more.
    ///
    /// ```swift
    /// try await store.alter { try $0.addSearch("title", "lyrics", in: "Song") }
    /// ```
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a class or a field that doesn't exist.
    public mutating func addSearch(_ fields: String..., in className: String) throws {
        let index = try index(of: className)
        for field in fields { _ = try property(field, of: index) }
        entities[index].search = fields.isEmpty ? nil : fields
    }

    /// Lets a class count the changes of each object in a field, which is added if it doesn't exist: saving an object
    /// that was changed since it was read is a conflict then.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a class that doesn't exist.
    public mutating func countRevisions(in className: String, field: String = "revision") throws {
        let index = try index(of: className)
        if entities[index].property(field) == nil {
            entities[index].properties.append(
                .attribute(Attribute(field, type: .integer, defaultValue: .integer(1))))
        }
        entities[index].revision = field
    }

    // MARK: Finding

    private mutating func add(_ property: Property, to className: String) throws {
        let index = try index(of: className)
        try entities[index].checkName(ofNewField: property.name)
        entities[index].properties.append(property)
    }

    private func index(of className: String) throws(RelataError) -> Int {
        if let index = entities.firstIndex(where: { $0.name == className }) { return index }
        throw .invalidUse(
            "there is no class \(className)" + NameSuggestion.hint(for: className, among: entities.map(\.name))
                + ": add it first")
    }

    private func property(_ name: String, of index: Int) throws(RelataError) -> Property {
        if let property = entities[index].property(name) { return property }
        throw .invalidUse(
            "\(entities[index].name) has no field \(name)"
                + NameSuggestion.hint(for: name, among: entities[index].properties.map(\.name)))
    }
}

extension Relationship {
    /// Whether it is the other side of a to-one of that name.
    fileprivate func views(_ name: String) -> Bool {
        switch kind {
        case .hasOne(let inverse), .toMany(let inverse), .manyToManyInverse(let inverse): inverse == name
        case .through(let list, _): list == name
        case .toOne, .manyToMany, .matched: false
        }
    }
}
