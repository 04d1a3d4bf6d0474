import RelataCore
import RelataRecords
import RelataEngine

extension SchemaDraft {
    /// Changes the classes to those of a document, if possible.
    ///
    /// - Parameter connection: For the contents of the store.
    mutating func deploy(
        _ document: SchemaDocument, removes: Bool, checking connection: Connection
    ) throws -> DeploymentPlan {
        let old = self
        var plan = DeploymentPlan()
        let stored = try Schema(old.entities.all)
        // All classes first: their fields refer to each other, and relations to pointers that may come later.
        for description in document.classes {
            do throws(ParseError) {
                try addClass(description.className)
            } catch {
                plan.refuse("the class \(description.className)", error.message)
            }
        }
        for isView in [false, true] {
            for description in document.classes where hasClass(description.className) {
                for (field, wanted) in description.fields.sorted(by: { $0.key < $1.key })
                where (wanted?.details.inverse != nil) == isView {
                    let place = "\(description.className).\(field)"
                    if wanted == nil, try stored.holdsValues(of: field, description.className, connection) {
                        plan.refuse(place, "it holds values, which would be lost: unset them first")
                        continue
                    }
                    do throws(ParseError) {
                        try apply(description.part(fields: [field: wanted]), isWhole: true)
                    } catch {
                        plan.refuse(place, error.message)
                    }
                }
            }
        }
        for description in document.classes where hasClass(description.className) {
            for (index, wanted) in description.indexes.sorted(by: { $0.key < $1.key }) {
                do throws(ParseError) {
                    try apply(description.part(indexes: [index: wanted]), isWhole: true)
                } catch {
                    plan.refuse("the index \(index) of \(description.className)", error.message)
                }
            }
        }
        for description in document.classes where hasClass(description.className) && description.permissions != nil {
            do throws(ParseError) {
                try apply(description.part(permissions: description.permissions), isWhole: true)
            } catch {
                plan.refuse("the permissions of \(description.className)", error.message)
            }
        }
        for problem in relationProblems {
            plan.refuse("\(problem.className).\(problem.field)", problem.message)
            takeBack(problem.field, of: problem.className, to: old)
        }
        for duplicate in try Self.duplicates(entities.changes, in: stored, on: connection) {
            for name in takeBack(unique: duplicate.fields, of: duplicate.className) {
                plan.refuse("the unique index \(name) of \(duplicate.className)", duplicate.message)
            }
        }
        if removes { try remove(whatIsNotIn: document, stored, &plan, connection) }
        let changes = entities.changes
        if !changes.isEmpty {
            do {
                try Self.checkNames(changes, on: connection)
                try Migrator.prepare(connection, schema: try Schema(entities.all), steps: [changes.step])
                    .checkIsAllowed()
            } catch let error as ParseError {
                plan.refusals.append("can't deploy it: \(error.message)")
            } catch let error as RelataError {
                guard case .schemaMismatch = error else { throw error }
                plan.refusals.append("can't deploy it: \(ParseError(error).message)")
            }
        }
        plan.changes = self.changes(since: old)
        return plan
    }

    // MARK: Removing

    /// Removes classes and fields that a document doesn't have, except those with values and those that others need.
    private mutating func remove(
        whatIsNotIn document: SchemaDocument, _ stored: Schema, _ plan: inout DeploymentPlan, _ connection: Connection
    ) throws {
        let wanted = Dictionary(document.classes.map { ($0.className, Set($0.fields.keys)) }) { first, _ in first }
        var goneClasses: Set<String> = []
        var gone: [String: Set<String>] = [:]
        for entity in stored.tables.map(\.entity) where !InternalClasses.contains(entity.name) {
            guard let fields = wanted[entity.name] else {
                if try stored.holdsObjects(entity.name, connection) {
                    plan.keep("the class \(entity.name)", "it holds objects")
                } else {
                    goneClasses.insert(entity.name)
                }
                continue
            }
            for property in entity.properties where !fields.contains(property.name) && !entity.isGiven(property.name) {
                // Clients don't see the inverse of a one-to-one: it is removed with its pointer.
                if property.hasOneInverse != nil { continue }
                if try stored.holdsValues(of: property.name, entity.name, connection) {
                    plan.keep("\(entity.name).\(property.name)", "it holds values")
                } else {
                    gone[entity.name, default: []].insert(property.name)
                }
            }
        }
        keepWhatIsLedTo(&goneClasses, &gone, &plan)
        for entity in entities {
            var fields = goneClasses.contains(entity.name) ? entity.relationships.map(\.name) : []
            fields += entity.properties.filter { property in
                guard let inverse = property.hasOneInverse else { return false }
                return goneClasses.contains(inverse.target) || gone[inverse.target]?.contains(inverse.field) == true
            }.map(\.name)
            gone[entity.name, default: []].formUnion(fields)
        }
        // Inverse relations are removed before their pointers, and fields before their target classes.
        for isView in [true, false] {
            for entity in entities {
                let fields = (gone[entity.name] ?? []).filter { field in
                    let inverse = entity.relationship(field).flatMap { RelationshipDetails($0).inverse }
                    return (inverse != nil) == isView
                }
                try removeFields(fields, of: entity.name)
            }
        }
        for name in goneClasses.sorted() { try removeClass(name) }
    }

    /// The targets of remaining fields remain, too, and so on.
    private func keepWhatIsLedTo(
        _ goneClasses: inout Set<String>, _ gone: inout [String: Set<String>], _ plan: inout DeploymentPlan
    ) {
        var isSettled = false
        while !isSettled {
            isSettled = true
            for entity in entities where !goneClasses.contains(entity.name) {
                for property in entity.properties where property.hasOneInverse == nil {
                    guard case .relationship(let relationship) = property,
                        gone[entity.name]?.contains(property.name) != true
                    else { continue }
                    let place = "\(entity.name).\(property.name)"
                    if goneClasses.remove(relationship.target) != nil {
                        plan.keep("the class \(relationship.target)", "\(place) leads to it")
                        isSettled = false
                    }
                    if let inverse = RelationshipDetails(relationship).inverse,
                        gone[relationship.target]?.remove(inverse) != nil
                    {
                        plan.keep("\(relationship.target).\(inverse)", "\(place) is its other side")
                        isSettled = false
                    }
                }
            }
        }
    }

    // MARK: Words

    /// The changes since another draft, in words.
    private func changes(since old: SchemaDraft) -> [String] {
        var changes: [String] = []
        for entity in entities where !InternalClasses.hidden.contains(entity.name) {
            let name = entity.name
            let before = old.entity(name)
            if before == nil { changes.append("add the class \(name)") }
            for property in entity.properties where !entity.isGiven(property.name) {
                let rules = rules(of: property, in: name)
                guard let known = before?.property(property.name) else {
                    let words = ["\(type(of: property, in: name))"] + rules
                    changes.append("add \(name).\(property.name): \(words.joined(separator: ", "))")
                    continue
                }
                let options = (options[name]?.fields[property.name], old.options[name]?.fields[property.name])
                guard known != property || options.0 != options.1 else { continue }
                let words = [old.rules(of: known, in: name), rules].map {
                    $0.isEmpty ? "none" : $0.joined(separator: ", ")
                }
                changes.append("change the rules of \(name).\(property.name) from \(words[0]) to \(words[1])")
            }
            for property in before?.properties ?? []
            where entity.property(property.name) == nil && property.hasOneInverse == nil {
                changes.append("remove \(name).\(property.name)")
            }
            let (now, then) = (options[name]?.indexes ?? [:], old.options[name]?.indexes ?? [:])
            for (index, fields) in now.sorted(by: { $0.key < $1.key }) where then[index] == nil {
                changes.append(
                    "add \(fields.isUnique ? "the unique" : "the") index \(index) of \(name): \(fields.words)")
            }
            changes += then.keys.filter { now[$0] == nil }.sorted().map { "remove the index \($0) of \(name)" }
            let permissions = options[name]?.permissions
            if permissions != old.options[name]?.permissions {
                let words = JSONWriter.canonicalText((permissions ?? .open).json)
                changes.append("set the permissions of \(name) to \(words)")
            }
        }
        for entity in old.entities where self.entity(entity.name) == nil {
            changes.append("remove the class \(entity.name)")
        }
        return changes
    }

    /// The members of a field's description beyond its type.
    private func rules(of property: Property, in className: String) -> [String] {
        let options = options[className]?.fields[property.name]
        var rules: [String] = []
        if property.isRequired || options?.isRequired == true { rules.append("required") }
        if let value = options?.defaultValue { rules.append("defaultValue \(value)") }
        guard case .relationship(let relationship) = property else { return rules }
        let details = RelationshipDetails(relationship).json(isToMany: relationship.isToMany)
        return rules + details.map { "\($0) \($1.string ?? JSONWriter.text($1))" }
    }
}

extension Entity {
    /// Whether every class has it, and clients don't name it.
    fileprivate func isGiven(_ property: String) -> Bool {
        key.contains(property) || property == createdAt || property == updatedAt
            || property == InternalClasses.link && isGuarded || property == FileLinks.name && hasFileLinks
            || InternalClasses.needs(property, in: name)
    }
}

extension Property {
    /// The pointer, for the inverse of a one-to-one.
    fileprivate var hasOneInverse: (target: String, field: String)? {
        guard case .relationship(let relationship) = self, case .hasOne(let inverse) = relationship.kind else {
            return nil
        }
        return (relationship.target, inverse)
    }
}

extension IndexOptions {
    fileprivate var words: String {
        fields.map {
            $0.isText == true ? "the words of \($0.name)" : $0.direction < 0 ? "\($0.name) descending" : $0.name
        }.joined(separator: ", ")
    }
}

extension Schema {
    /// Whether a class holds objects.
    fileprivate func holdsObjects(_ className: String, _ connection: Connection) throws -> Bool {
        guard let table = self[className] else { return false }
        try connection.driver.holdRows(of: table.sqlName, connection)
        return try Self.holds(DataQuestion.hasRows(table: table.sqlName).query(connection.dialect), connection)
    }

    /// Whether a field of a class has stored values; the inverse of a pointer has none.
    fileprivate func holdsValues(of field: String, _ className: String, _ connection: Connection) throws -> Bool {
        guard let table = self[className] else { return false }
        if case .join(let number, _)? = table.links[field] {
            try connection.driver.holdRows(of: joins[number].table, connection)
            let question = DataQuestion.hasRows(table: joins[number].table)
            return try Self.holds(question.query(connection.dialect), connection)
        }
        let dialect = connection.dialect
        let columns = table.columnIndexes(of: field).map { dialect.quote(table.columns[$0].name) }
        if columns.isEmpty { return false }
        try connection.driver.holdRows(of: table.sqlName, connection)
        let condition = columns.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")
        return try Self.holds(
            "SELECT 1 FROM \(dialect.quote(table.sqlName)) WHERE \(condition) LIMIT 1", connection)
    }

    private static func holds(_ query: String, _ connection: Connection) throws -> Bool {
        try connection.value(SQLStatement(query)) != nil
    }
}
