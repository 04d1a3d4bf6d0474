/// Names in the database, sets of properties, stamps. SQL compares names without regard to case, and so do these.
extension SchemaResolver {
    mutating func checkTableNames() {
        for index in scope where tableIndex[entities[index].name] == index {
            let table = entities[index].table
            checkTableName(table, index, nil, "give another with `@Model(table:)`")
            if let owner = owner(ofTable: table, unless: .entity(index)) {
                report(index, "its table \(table) is also the table of \(owner): name another with `@Model(table:)`")
            }
        }
        for number in Set(joinNumbers.values).sorted() {
            let join = joins[number]
            checkTableName(join.table, join.source, join.property, "give another with `joinTable:`")
            if let owner = owner(ofTable: join.table, unless: .join(number)) {
                report(
                    join.source, join.property,
                    "its join table \(join.table) is also the table of \(owner): name another with `joinTable:`")
            }
        }
    }

    /// Gives a table to an entity or a many-to-many.
    ///
    /// - Returns: The holder of the name, for a message.
    private mutating func owner(ofTable table: String, unless new: TableOwner) -> String? {
        switch tableOwners.updateValue(new, forKey: table.foldedName) {
        case nil, new?: nil
        case .entity(let index)?: entities[index].name
        case .join(let number)?: "\(entities[joins[number].source].name).\(joins[number].property)"
        }
    }

    private mutating func checkTableName(_ table: String, _ index: Int, _ property: String?, _ fix: String) {
        if table.isEmpty || table.utf8.contains(0) {
            report(index, property, "its table's name is empty or contains U+0000: \(fix)")
        } else if ReservedNames.isInternal(table) {
            report(index, property, "the table name \(table) is reserved: \(fix)")
        }
    }

    mutating func checkColumnNames(of index: Int) {
        let own = relationships[index].compactMap { draftNumbers[PropertyName(entity: index, property: $0.name)] }
        let hidden = own.map { references[$0] }.filter(\.isOrderStored)
        let all =
            tables[index].columns.map { (name: $0.name, property: $0.property) }
            + hidden.compactMap { reference in reference.orderColumn.map { (name: $0, property: reference.property) } }
        var owners: [FoldedName: String] = [:]
        for (column, property) in all {
            if column.isEmpty || column.utf8.contains(0) {
                report(index, property, "its column's name is empty or contains U+0000: give another with `column:`")
            } else if let owner = owners.updateValue(property, forKey: column.foldedName) {
                report(index, property, "its column \(column) is also that of \(owner): rename one")
            }
        }
    }

    mutating func checkColumnNames(of join: Join) {
        var names: Set<FoldedName> = []
        let orders = [join.orderColumn, join.inverseOrderColumn].compactMap { $0 }
        for column in join.sourceColumns + join.targetColumns + orders
        where !names.insert(column.foldedName).inserted {
            report(
                join.source, join.property,
                "its join table has two columns named \(column): name them with `joinColumns:`")
        }
    }

    mutating func checkSets(of index: Int) {
        let entity = entities[index]
        for (word, sets) in [("a unique", entity.uniques), ("an index", entity.indexes)] {
            for set in sets {
                if set.isEmpty { report(index, "\(word) set is empty: name its properties, or remove it") }
                for name in set {
                    switch entity.property(name) {
                    case .attribute: continue
                    case .relationship(let relationship):
                        if case .toOne = relationship.kind { continue }
                        report(index, name, "\(word) set contains only attributes and to-ones: it has no column")
                    case nil:
                        report(index, name, "\(word) set names it, but it doesn't exist: fix the name")
                    }
                }
            }
        }
    }

    mutating func checkSearch(of index: Int) {
        let entity = entities[index]
        guard let names = entity.search else { return }
        if names.isEmpty { report(index, "its search has no attributes: name them, or remove it") }
        for (place, name) in names.enumerated() {
            if names[..<place].contains(name) { report(index, name, "its search names it twice: name it once") }
            switch entity.property(name) {
            case .attribute(let attribute)?:
                if attribute.type == .text { continue }
                report(
                    index, name,
                    "only text can be searched, and this is \(attribute.type.spelled): leave it out of the search")
            case .relationship?:
                report(index, name, "a search contains attributes, and this is a link: search its target")
            case nil: report(index, name, "its search names it, but it doesn't exist: fix the name")
            }
        }
    }

    mutating func checkAttributes(of index: Int) {
        let entity = entities[index]
        for attribute in entity.attributes {
            if case .text(let text)? = attribute.defaultValue, text.utf8.contains(0) {
                report(
                    index, attribute.name, "its default contains U+0000, which SQL can't express: use another default")
            }
        }
        if let name = entity.revision {
            if entity.attribute(name)?.type != .integer {
                report(index, name, "a revision counts changes: declare it as `var \(name): Int = 0`")
            } else if entity.attribute(name)?.isOptional == true {
                report(index, name, "a revision can't be optional: declare it as `var \(name): Int = 0`")
            }
        }
        for name in [entity.createdAt, entity.updatedAt].compactMap({ $0 }) {
            if case .date? = entity.attribute(name)?.type { continue }
            report(index, name, "a stamp is a point in time: declare it as `var \(name): Date`")
        }
    }
}
