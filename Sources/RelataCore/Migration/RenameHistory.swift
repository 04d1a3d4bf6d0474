/// The former names of the tables and columns of a file.
///
/// A file records them, so that an older version of the models, which uses a former name, is refused. Otherwise it
/// would get an empty column or table of that name, and neither version would see the other's writes.
package struct RenameHistory: Hashable, Sendable, Codable {
    /// A table or a column, and its former name.
    package struct Entry: Hashable, Sendable, Codable {
        /// The present name of a column's table; `nil` for an entry about a table.
        package var table: String?
        /// The name that it has now.
        package var name: String
        /// The names that it had.
        package var formerNames: [String]
        /// The property that it belongs to, if it belongs to one.
        package var property: String?
        /// Whether `name` is the join table that took over the keys of a column, whose to-one became a to-many.
        package var isMoved: Bool? = nil
    }

    /// The tables and columns that have former names.
    package private(set) var entries: [Entry] = []

    /// A history without entries.
    package init() {}

    /// One rename of several that are made together.
    struct Rename {
        var old: String
        let new: String
        let property: String?
        /// Whether older models would take the old name for free.
        var isRemembered = true
    }

    // MARK: Writing

    /// Records renames of tables, or of the columns of a table.
    mutating func note(_ renames: [Rename], in table: String? = nil) {
        // The positions are looked up first: one may take a name that another gives up.
        let places = renames.map { rename in entries.firstIndex { $0.isAbout(rename.old, in: table) } }
        for (rename, place) in zip(renames, places) {
            guard let place else { continue }
            entries[place].name = rename.new
            entries[place].property = rename.property ?? entries[place].property
            let former = entries[place].formerNames + (rename.isRemembered ? [rename.old] : [])
            entries[place].formerNames = former.filter { !$0.isSameName(as: rename.new) }
        }
        // Only then no entry has a new name that belongs to another object.
        for (rename, place) in zip(renames, places) where place == nil && rename.isRemembered {
            add(Entry(table: table, name: rename.new, formerNames: [rename.old], property: rename.property))
        }
        guard table == nil else { return }
        for index in entries.indices {
            if let rename = renames.first(where: { entries[index].table?.isSameName(as: $0.old) ?? false }) {
                entries[index].table = rename.new
            }
            guard entries[index].isMoved == true else { continue }
            if let rename = renames.first(where: { entries[index].name.isSameName(as: $0.old) }) {
                entries[index].name = rename.new
            }
        }
    }

    /// Records that a join table replaced key columns.
    mutating func note(_ columns: [String], of table: String, movedTo join: String, property: String) {
        add(Entry(table: table, name: join, formerNames: columns, property: property, isMoved: true))
    }

    /// Adds what another history says.
    mutating func merge(_ other: RenameHistory) { for entry in other.entries { add(entry) } }

    private mutating func add(_ entry: Entry) {
        let former = entry.formerNames.filter { entry.isMoved == true || !$0.isSameName(as: entry.name) }
        guard !former.isEmpty else { return }
        let place = entries.firstIndex {
            $0.isAbout(entry.name, in: entry.table, isMoved: entry.isMoved == true)
        }
        guard let place else {
            var entry = entry
            entry.formerNames = former
            return entries.append(entry)
        }
        entries[place].formerNames += former.filter { name in
            !entries[place].formerNames.contains { $0.isSameName(as: name) }
        }
        entries[place].property = entry.property ?? entries[place].property
    }

    /// The entries about tables and columns that still exist.
    package func pruned(to tables: [TableDescription]) -> RenameHistory {
        let known = Dictionary(tables.map { ($0.name.foldedName, $0) }, uniquingKeysWith: { first, _ in first })
        var copy = self
        copy.entries.removeAll { entry in
            let isThere = known[entry.name.foldedName] != nil
            guard let name = entry.table else { return !isThere }
            guard let table = known[name.foldedName] else { return true }
            return entry.isMoved == true ? !isThere : table.column(entry.name) == nil
        }
        return copy
    }

    // MARK: Reading

    /// The present name of an object with a former name.
    func entries(formerly name: String, in table: String? = nil) -> [Entry] {
        entries.filter { entry in
            entry.isIn(table) && entry.formerNames.contains { $0.isSameName(as: name) }
        }
    }

    /// Whether a rename of the object is recorded.
    func knows(_ old: String, _ new: String, in table: String? = nil) -> Bool {
        entries(formerly: old, in: table).contains { $0.isMoved != true && $0.name.isSameName(as: new) }
    }

    /// Whether the holder of a name gave its former name to the holder of the other: two or more names formed a ring.
    func isExchanged(_ name: String, with former: String, in table: String? = nil) -> Bool {
        var name = name
        for _ in entries {
            let next = entries(formerly: name, in: table).first { $0.isMoved != true }
            guard let next else { return false }
            if next.name.isSameName(as: former) { return true }
            name = next.name
        }
        return false
    }
}

extension RenameHistory.Entry {
    fileprivate func isIn(_ table: String?) -> Bool {
        guard let own = self.table, let table else { return self.table == nil && table == nil }
        return own.isSameName(as: table)
    }

    fileprivate func isAbout(_ name: String, in table: String?, isMoved: Bool = false) -> Bool {
        isIn(table) && self.name.isSameName(as: name) && (self.isMoved == true) == isMoved
    }
}

// MARK: Declarations of models

extension RenameHistory {
    /// The models' declarations of former names. They also apply to a file that these models made: it has only the new
    /// names.
    init(declaredBy schema: Schema) {
        for table in schema.tables {
            add(Entry(table: nil, name: table.sqlName, formerNames: table.entity.originalTable?.names ?? []))
            for property in table.entity.properties {
                guard case .attribute(let attribute) = property, let names = attribute.originalName?.names else {
                    continue
                }
                add(
                    Entry(
                        table: table.sqlName, name: attribute.column, formerNames: names, property: attribute.name))
            }
        }
        for reference in schema.references {
            let table = schema.tables[reference.source]
            guard let names = table.entity.relationship(reference.property)?.originalName?.names else { continue }
            for name in names {
                for (column, old) in zip(reference.columns, reference.defaultColumns(named: name)) {
                    add(
                        Entry(
                            table: table.sqlName, name: column, formerNames: [old], property: reference.property))
                }
                guard let position = reference.orderColumn, reference.isOrderStored else { continue }
                add(
                    Entry(
                        table: table.sqlName, name: position, formerNames: [name + "Position"],
                        property: reference.property))
            }
        }
        for join in schema.joins {
            let source = schema.tables[join.source]
            let names = source.entity.relationship(join.property)?.originalName?.names ?? []
            if names.isEmpty, source.entity.originalTable == nil { continue }
            let former = schema.defaultTables(of: join)
            add(Entry(table: nil, name: join.table, formerNames: former, property: join.property))
            guard schema.tables[join.target].keyColumns.count == 1 else { continue }
            // The name may have belonged to a to-one.
            for name in names {
                note([name + "Id"], of: source.sqlName, movedTo: join.table, property: join.property)
            }
        }
    }
}

extension Reference {
    /// The columns that it has under another name, unless it names them.
    func defaultColumns(named name: String) -> [String] {
        guard columns.count > 1 else { return [name + "Id"] }
        return columns.map { $0.hasPrefix(property) ? name + $0.dropFirst(property.count) : $0 }
    }
}

extension Schema {
    /// The possible former names of a join table: by those of its entity's table and of its relationship.
    func defaultTables(of join: Join) -> [String] {
        let entity = tables[join.source].entity
        let names = [join.property] + (entity.relationship(join.property)?.originalName?.names ?? [])
        let prefixes = [entity.table] + (entity.originalTable?.names ?? [])
        return prefixes.flatMap { prefix in names.map { "\(prefix)_\($0)" } }
            .filter { !$0.isSameName(as: join.table) }
    }
}
