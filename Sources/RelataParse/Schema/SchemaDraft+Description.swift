import RelataCore

extension SchemaDraft {
    /// Changes a class by its description in a request: named fields and indexes are added, changed or removed.
    ///
    /// - Parameters:
    ///   - isNew: Whether the class is being created.
    ///   - isWhole: Whether a field has only the rules of the description; otherwise, it keeps those that aren't named.
    /// - Throws: ``ParseError`` 255 for a field that has another type or inverse, or doesn't exist for a removal; 136
    ///   for a changed field that every class has.
    mutating func apply(
        _ description: ClassDescription, isNew: Bool = false, isWhole: Bool = false
    ) throws(ParseError) {
        let name = description.className
        // Indexes are deleted first: deleting a field would delete those on it, and a class has only one text index.
        for (index, wanted) in description.indexes.sorted(by: { $0.key < $1.key }) where wanted == nil {
            try apply(nil, index, of: name)
        }
        var removed: Set<String> = []
        for (field, wanted) in description.fields.sorted(by: { $0.key < $1.key }) {
            if let type = ClassDescription.givenFields[field] {
                try check(wanted, asGiven: field, type, of: name, isNew: isNew)
            } else if let wanted {
                try apply(wanted, as: field, of: name, isWhole: isWhole)
            } else {
                guard !InternalClasses.needs(field, in: name) else {
                    throw ParseError(.changedImmutableField, "field \(field) cannot be changed")
                }
                guard entity(name)?.property(field) != nil else {
                    throw ParseError(.classNotEmpty, "Field \(field) does not exist, cannot delete.")
                }
                removed.insert(field)
            }
        }
        try removeFields(removed, of: name)
        for case (let index, let wanted?) in description.indexes.sorted(by: { $0.key < $1.key }) {
            try apply(wanted, index, of: name)
        }
        if let permissions = description.permissions { try apply(permissions, to: name) }
    }

    /// Sets the permissions of a class.
    ///
    /// - Throws: ``ParseError`` 107 for unknown fields, and fields that aren't pointers to users, with the text of
    ///   Parse's own server; 119 for a default access list in a store without users.
    private mutating func apply(_ permissions: ClassPermissions, to name: String) throws(ParseError) {
        func type(of field: String) -> FieldType? {
            entity(name)?.property(field).map { self.type(of: $0, in: name) }
        }
        for field in permissions.userFields.sorted()
        where ![.pointer(InternalClasses.user), .array].contains(type(of: field)) {
            throw ParseError(
                .invalidJSON,
                "'\(field.prefix(128))' is not a valid column for class level pointer permissions: it must be a Pointer to \(InternalClasses.user), or an Array"
            )
        }
        for field in permissions.hiddenFields.sorted() where type(of: field) == nil {
            throw ParseError(.invalidJSON, "Field '\(field.prefix(128))' in protectedFields does not exist")
        }
        if permissions.hasDefaultAccess {
            guard hasUsers else { throw .accessIsOff }
            guardClass(name)
        }
        edit(name) { _, options in options.permissions = permissions == .open ? nil : permissions }
        forgetOptions(of: name)
    }

    /// The fields of every class may be named unchanged, and never change.
    private func check(
        _ wanted: FieldDescription?, asGiven field: String, _ type: FieldType, of name: String, isNew: Bool
    ) throws(ParseError) {
        guard let wanted, wanted.defaultValue == nil, !wanted.isRequired else {
            throw ParseError(.changedImmutableField, "field \(field) cannot be changed")
        }
        // Another program's table may have a column of that name.
        let own = entity(name)?.property(field).map { self.type(of: $0, in: name) }
        if wanted.type == type || wanted.type == own { return }
        throw isNew
            ? ParseError(.changedImmutableField, "field \(field) cannot be added")
            : ParseError(.classNotEmpty, "Field \(field) exists, cannot update.")
    }

    private mutating func apply(
        _ wanted: FieldDescription, as field: String, of name: String, isWhole: Bool
    ) throws(ParseError) {
        var options = FieldOptions()
        options.isRequired = wanted.isRequired
        options.defaultValue = wanted.defaultValue.map(JSONWriter.canonicalText)
        defer {
            if isWhole || wanted.members.contains("required"), hasClass(name) { noteOptional(field, of: name, wanted) }
        }
        guard let property = entity(name)?.property(field) else {
            do throws(ParseError) {
                try addField(field, wanted.type, to: name, details: wanted.details, options: options)
            } catch  where error.code == .invalidKeyName && !ParseNames.canBeField(field) {
                // Parse's own server has this text for descriptions of classes.
                throw ParseError(.invalidKeyName, "invalid field name: \(field.prefix(128))")
            }
            return
        }
        do throws(ParseError) {
            try addField(field, wanted.type, to: name)
        } catch  where error.code == .incorrectType {
            // A deployment gets a detailed error; clients recognise it by its first words.
            let detail = isWhole ? ": it is \(type(of: property, in: name)), not \(wanted.type)" : "."
            throw ParseError(.classNotEmpty, "Field \(field) exists, cannot update\(detail)")
        }
        let members = isWhole ? RelationshipDetails.members : wanted.members
        if case .relationship(let old) = property, members.contains("inverse"),
            wanted.details.inverse != RelationshipDetails(old).inverse
        {
            throw ParseError(
                .classNotEmpty, "Field \(field) exists, cannot update: the inverse of a relation can't be changed")
        }
        edit(name) { entity, known in
            // Rules that the column itself has needn't be stored, and can't differ.
            let implied = FieldOptions(isRequired: property.isRequired)
            let old = known.fields[field]
            options.type = old?.type
            if !isWhole {
                if !wanted.members.contains("required") { options.isRequired = old?.isRequired ?? false }
                if !wanted.members.contains("defaultValue") { options.defaultValue = old?.defaultValue }
            }
            options.isRequired = options.isRequired || implied.isRequired
            known.fields[field] = options == implied ? nil : options
            guard case .relationship(let old) = property,
                let index = entity.properties.firstIndex(where: { $0.name == field })
            else { return }
            entity.properties[index] = .relationship(wanted.details.applied(to: old, members))
        }
    }

    /// Records that a field was declared as not required.
    private mutating func noteOptional(_ field: String, of name: String, _ wanted: FieldDescription) {
        edit(name) { _, options in
            var fields = options.optionalFields ?? []
            if wanted.isOptional { fields.insert(field) } else { fields.remove(field) }
            options.optionalFields = fields.isEmpty ? nil : fields
        }
    }

    /// An index with the fields' names here, if clients used the name of a pointer's column.
    private func named(_ index: IndexOptions, of name: String) -> IndexOptions {
        var index = index
        index.fields = index.fields.map { field in
            let pointer = String(field.name.dropFirst(3))
            guard field.name.hasPrefix("_p_"), entity(name)?.property(field.name) == nil,
                let relationship = entity(name)?.relationship(pointer), !relationship.isToMany
            else { return field }
            return IndexOptions.IndexedField(name: pointer, direction: field.direction, isPointerColumn: true)
        }
        return index
    }

    private mutating func apply(_ wanted: IndexOptions?, _ index: String, of name: String) throws(ParseError) {
        guard let wanted = wanted.map({ named($0, of: name) }) else {
            guard options[name]?.indexes[index] != nil else {
                throw ParseError(.invalidQuery, "Index \(index.prefix(128)) does not exist, cannot delete.")
            }
            removeIndex(index, of: name)
            return
        }
        if let known = options[name]?.indexes[index] {
            guard known == wanted else {
                throw ParseError(.invalidQuery, "Index \(index.prefix(128)) exists, cannot update.")
            }
            return
        }
        let names = wanted.fields.map(\.name)
        for field in names where entity(name)?.property(field).map({ Self.isIndexable($0) }) != true {
            throw ParseError(.invalidQuery, "Field \(field.prefix(128)) does not exist, cannot add index.")
        }
        if wanted.isText { try checkText(names, of: name) }
        edit(name) { entity, options in
            options.indexes[index] = wanted
            if wanted.isText {
                entity.search = names
            } else if wanted.isUnique {
                if !entity.uniques.contains(names) { entity.uniques.append(names) }
            } else if !entity.indexes.contains(names) {
                entity.indexes.append(names)
            }
        }
    }

    /// A class has one text index, as MongoDB's collections do.
    private func checkText(_ names: [String], of name: String) throws(ParseError) {
        for field in names {
            guard case .attribute(let attribute)? = entity(name)?.property(field), attribute.type == .text,
                type(of: .attribute(attribute), in: name) == .string
            else {
                throw ParseError(
                    .invalidQuery, "Field \(field.prefix(128)) is no String, cannot add text index.")
            }
        }
        guard entity(name)?.search == nil else {
            throw ParseError(
                .invalidQuery, "Class \(name) has a text index, and only one is possible: delete it first.")
        }
    }

    private static func isIndexable(_ property: Property) -> Bool {
        if case .relationship(let relationship) = property { !relationship.isToMany } else { true }
    }

    /// - Throws: ``ParseError`` 111 for a second field of the type GeoPoint in a class.
    ///
    /// - Parameter before: Its fields before the change.
    func checkGeoPoints(of className: String, since before: [String]) throws(ParseError) {
        let points = geoPoints(of: className)
        // A deleted field makes room for another.
        guard let first = before.first(where: points.contains) ?? points.first,
            let second = points.first(where: { $0 != first && !before.contains($0) })
        else { return }
        throw Self.secondGeoPoint(second, beside: first)
    }

    /// The fields of a class that hold places.
    func geoPoints(of className: String) -> [String] {
        (entity(className)?.properties ?? []).filter { type(of: $0, in: className) == .geoPoint }.map(\.name)
    }

    /// The error for a second field of the type GeoPoint.
    static func secondGeoPoint(_ field: String, beside other: String) -> ParseError {
        ParseError(
            .incorrectType,
            "currently, only one GeoPoint field may exist in an object. Adding \(field) when \(other) already exists.")
    }

    /// Restores a field, or removes a new one.
    mutating func takeBack(_ field: String, of name: String, to old: SchemaDraft) {
        edit(name) { entity, options in
            guard let index = entity.properties.firstIndex(where: { $0.name == field }) else { return }
            options.fields[field] = old.options[name]?.fields[field]
            if let known = old.entity(name)?.property(field) {
                entity.properties[index] = known
            } else {
                entity.properties.remove(at: index)
            }
        }
    }

    /// Removes the unique indexes on the given fields, and returns their names.
    mutating func takeBack(unique fields: [String], of name: String) -> [String] {
        let indexes = (options[name]?.indexes ?? [:]).filter {
            $0.value.isUnique && $0.value.fields.map(\.name) == fields
        }
        for index in indexes.keys { removeIndex(index, of: name) }
        return indexes.keys.sorted()
    }

    private mutating func removeIndex(_ index: String, of name: String) {
        edit(name) { entity, options in
            guard let removed = options.indexes.removeValue(forKey: index) else { return }
            // Another index may be on the same fields.
            guard !options.indexes.values.contains(removed) else { return }
            let names = removed.fields.map(\.name)
            if removed.isText {
                entity.search = nil
            } else if removed.isUnique {
                entity.uniques.removeAll { $0 == names }
            } else {
                entity.indexes.removeAll { $0 == names }
            }
        }
    }
}

extension Property {
    /// Whether its column must have a value, which objects must then contain.
    var isRequired: Bool {
        switch self {
        case .attribute(let attribute): !attribute.isOptional && attribute.defaultValue == nil
        case .relationship(let relationship):
            if case .toOne(isOptional: false, _) = relationship.kind { true } else { false }
        }
    }
}

extension RelationshipDetails {
    /// The words that describe it.
    fileprivate static let members: Set<String> = ["deleteRule", "onTargetDelete", "order", "inverse"]

    /// The changed relationship: named rules and orders change, its storage doesn't.
    fileprivate func applied(to old: Relationship, _ members: Set<String>) -> Relationship {
        var new = old
        if members.contains("deleteRule") { new.deleteRule = deleteRule }
        if members.contains("onTargetDelete") { new.onTargetDelete = onTargetDelete }
        if members.contains("order"), old.isToMany {
            let isView = RelationshipDetails(old).inverse != nil
            new.order = isView && order == .stored ? nil : order
        }
        return new
    }

    /// The description of an existing relationship.
    init(_ relationship: Relationship) {
        onTargetDelete = relationship.onTargetDelete
        deleteRule = relationship.deleteRule
        order = relationship.order
        switch relationship.kind {
        case .toMany(let inverse), .manyToManyInverse(let inverse), .hasOne(let inverse): self.inverse = inverse
        case .toOne, .manyToMany, .through, .matched: break
        }
    }
}
