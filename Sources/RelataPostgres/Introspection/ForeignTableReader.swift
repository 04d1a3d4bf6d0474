#if PostgreSQL
import RelataCore
import RelataEngine

/// Describes the tables and views of a database, regardless of the program that created them.
struct ForeignTableReader {
    private let catalog: Catalog
    /// The labels of the relations that are read.
    private var labels: [Int64: String] = [:]
    private var notes: [SchemaProblem] = []
    private var leftOut: [String: String] = [:]
    private var strays: [ForeignTables.Stray] = []
    private var drafts: [Int64: Draft] = [:]

    /// A relation that is being described.
    private struct Draft {
        /// The labels of the columns, by their numbers, and of the additional columns of the rows.
        var labels: [Int64: String] = [:]
        var ownKey: (label: String, sql: String, column: ColumnDescription)?
        /// The columns of the primary key, or of the unique index in its place.
        var key: [Int64] = []
        /// The read forms of columns that refer to the keys of others by special rules of equality.
        var replaced: [Int64: String] = [:]
        var replacedTypes: [Int64: AttributeType] = [:]
        /// The same for columns that are shown as they are: an additional column of the rows, and its form.
        var referring: [Int64: (label: String, sql: String)] = [:]
        var foreignKeys: [ForeignKeyDescription] = []
    }

    /// Describes the tables in the catalog.
    static func read(_ catalog: Catalog) -> ForeignTables {
        var reader = ForeignTableReader(catalog)
        reader.label()
        for number in reader.numbers { reader.draft(number) }
        for key in catalog.foreignKeys { reader.add(key) }
        let tables = reader.numbers.map { reader.description(of: $0) }
        return ForeignTables(tables: tables, notes: reader.notes, leftOut: reader.leftOut, strays: reader.strays)
    }

    private init(_ catalog: Catalog) { self.catalog = catalog }

    /// The relations that are read, in order.
    private var numbers: [Int64] { catalog.order.filter { labels[$0] != nil } }

    // MARK: Names

    /// Gives each relation a unique label, regardless of case: its name if the name finds it.
    private mutating func label() {
        var taken: Set<FoldedName> = []
        for number in catalog.order {
            guard let relation = catalog.relations[number], !relation.isPartition else { continue }
            if relation.isInOwnSchema, ReservedNames.isOwn(relation.name) { continue }
            let isPlain = relation.isVisible && !ReservedNames.isInternal(relation.name)
            let label = Self.unique((isPlain ? [relation.name] : []) + [relation.fullName], &taken)
            if relation.isReadable {
                labels[number] = label
            } else {
                leftOut[label] = "a \(relation.kind.rawValue) that the role can't read"
                notes.append(
                    SchemaProblem(
                        entity: label,
                        message:
                            "the role has no privilege to read it: it is left out; GRANT SELECT ON \(relation.sql) to include it"
                    )
                )
            }
        }
    }

    /// The first free name of several, or the last one with a number.
    private static func unique(_ candidates: [String], _ taken: inout Set<FoldedName>) -> String {
        for name in candidates where taken.insert(name.foldedName).inserted { return name }
        let base = candidates.last ?? ""
        var number = 2
        while !taken.insert("\(base)\(number)".foldedName).inserted { number += 1 }
        return "\(base)\(number)"
    }

    private mutating func draft(_ number: Int64) {
        guard let relation = catalog.relations[number] else { return }
        var draft = Draft()
        var taken: Set<FoldedName> = [
            TableSource.placeColumns.table.foldedName, TableSource.placeColumns.row.foldedName,
        ]
        for column in relation.columns {
            guard column.isReadable else {
                notes.append(
                    SchemaProblem(
                        entity: labels[number] ?? relation.name, property: column.name,
                        message: "the role has no privilege to read it: it is left out"))
                continue
            }
            draft.labels[column.number] = Self.unique([column.name], &taken)
        }
        draft.key = key(of: relation)
        if draft.key.isEmpty {
            // The location of a row identifies it in its table, until the row is written again.
            let hasPlace =
                (relation.kind == .table || relation.kind == .materializedView) && relation.isReadableInWhole
            let label = Self.unique([hasPlace ? "ctid" : "row"], &taken)
            var column = ColumnDescription(name: label, type: hasPlace ? "tid" : "bigint", isRequired: true)
            column.valueType = hasPlace ? .text : .integer
            column.shownType = hasPlace ? "place of the row" : "number of the row"
            draft.ownKey = (
                label, hasPlace ? ColumnReading.place.sql("relata_own.ctid") : "row_number() OVER ()", column
            )
        }
        drafts[number] = draft
        if relation.hidesRows {
            notes.append(
                SchemaProblem(
                    entity: labels[number] ?? relation.name,
                    message: "row-level security hides some of its rows from the role"))
        }
        let parents = relation.parents.compactMap { catalog.relations[$0]?.fullName }
        if !parents.isEmpty {
            notes.append(
                SchemaProblem(
                    entity: labels[number] ?? relation.name,
                    message: "it inherits from \(parents.joined(separator: ", ")), which is shown without its rows"))
        }
    }

    /// The columns that identify the rows of a table: its primary key, or the first unique index without unset values.
    private func key(of relation: Catalog.Relation) -> [Int64] {
        let indexes = relation.indexes.filter { index in
            index.isUnique && index.isPlain
                && index.columns.allSatisfy { relation.column($0).map { $0.isRequired && $0.isReadable } ?? false }
        }
        return (indexes.first(where: \.isPrimary) ?? indexes.first)?.columns ?? []
    }

    // MARK: Foreign keys

    private mutating func add(_ key: Catalog.ForeignKey) {
        guard let holder = catalog.relations[key.holder], let target = catalog.relations[key.target],
            let targetLabel = labels[target.root]
        else { return }
        let ownerLabel = labels[holder.root]
        let names = key.pairs.compactMap { holder.column($0.own)?.name }
        let native = key.native(from: holder, to: target)
        func stray(_ reason: String, isReadable: Bool = true) {
            strays.append(
                ForeignTables.Stray(
                    table: ownerLabel == nil || holder.isPartition ? holder.fullName : ownerLabel ?? "", columns: names,
                    target: targetLabel, owner: ownerLabel ?? holder.fullName, native: isReadable ? native : nil,
                    reason: reason))
        }
        guard ownerLabel != nil, holder.isReadable, let own = drafts[key.holder] ?? drafts[holder.root] else {
            return stray("the role has no privilege to read that table: GRANT SELECT on it", isReadable: false)
        }
        guard !holder.isPartition, !target.isPartition, let other = drafts[key.target] else {
            return stray("a partition alone has that foreign key: delete these rows first")
        }
        let columns = key.pairs.compactMap { own.labels[$0.own] }
        let targetColumns = key.pairs.compactMap { other.labels[$0.target] }
        guard columns.count == key.pairs.count, targetColumns.count == key.pairs.count else {
            let isReadable = columns.count == key.pairs.count && targetColumns.count == key.pairs.count
            return stray("the role has no privilege to read its columns: GRANT SELECT on them", isReadable: isReadable)
        }
        guard readsAlike(key, holder, target) || replace(key, holder, target, native) else {
            return stray("its columns compare by their own rules: delete these rows first")
        }
        var description = ForeignKeyDescription(
            columns: columns, target: targetLabel, targetColumns: targetColumns, onDelete: key.action)
        description.name = key.name
        description.native = native
        let unset = key.unset.compactMap { own.labels[$0] }
        if key.action == .setNull, !unset.isEmpty, unset.count < columns.count { description.unsetColumns = unset }
        drafts[key.holder]?.foreignKeys.append(description)
    }

    /// Whether the read forms of a foreign key's columns are equal exactly when the server finds the values equal.
    private func readsAlike(
        _ key: Catalog.ForeignKey, _ holder: Catalog.Relation, _ target: Catalog.Relation
    ) -> Bool {
        key.pairs.allSatisfy { pair in
            let (own, other) = (holder.column(pair.own)?.reading, target.column(pair.target)?.reading)
            return own?.family != nil && own?.family == other?.family
                && drafts[key.holder]?.replaced[pair.own] == nil && drafts[key.target]?.replaced[pair.target] == nil
        }
    }

    /// Reads columns in the form of the columns that they refer to, if both have the same special rules of equality. The
    /// columns of a to-one have that form themselves: it holds the target's key. Attributes are shown as they are stored.
    ///
    /// - Returns: Whether that is possible: no other foreign key has the columns, or points at them.
    private mutating func replace(
        _ key: Catalog.ForeignKey, _ holder: Catalog.Relation, _ target: Catalog.Relation, _ native: NativeKey
    ) -> Bool {
        let own = Set(key.pairs.map(\.own))
        let isUsed = catalog.foreignKeys.contains { other in
            (other.holder == key.holder && other.name != key.name && other.pairs.contains { own.contains($0.own) })
                || (other.target == key.holder && other.pairs.contains { own.contains($0.target) })
        }
        guard !isUsed, drafts[key.holder]?.key.contains(where: own.contains) == false else { return false }
        let isToOne =
            key.unset.isEmpty && Set(key.pairs.map(\.target)) == Set(drafts[key.target]?.key ?? [])
            && !key.pairs.contains { holder.column($0.own)?.isGenerated ?? true }
        // The role may have no right to read the others.
        let ownColumns = key.pairs.compactMap { holder.column($0.own).map { "relata_own.\($0.sql)" } }
        for pair in key.pairs {
            guard let column = holder.column(pair.own), let other = target.column(pair.target) else { return false }
            // The row's own alias differs from the alias in the condition, which is also used in separate statements.
            let inner =
                "SELECT \(other.reading.sql("r.\(other.sql)")) FROM \(native.target) AS r, "
                + "LATERAL (SELECT \(ownColumns.joined(separator: ", "))) AS o WHERE \(native.condition)"
            let sql = "coalesce((\(inner)), \(column.reading.sql("relata_own.\(column.sql)", as: other.reading)))"
            if isToOne {
                drafts[key.holder]?.replaced[pair.own] = sql
                drafts[key.holder]?.replacedTypes[pair.own] = other.reading.type
            } else {
                var taken = Set(drafts[key.holder]?.labels.values.map { $0.foldedName } ?? [])
                let label = Self.unique(["relata_referring_\(pair.own)"], &taken)
                drafts[key.holder]?.referring[pair.own] = (label, sql)
            }
        }
        return true
    }

    // MARK: Descriptions

    private func description(of number: Int64) -> TableDescription {
        guard let relation = catalog.relations[number], let draft = drafts[number], let label = labels[number] else {
            return TableDescription(name: "", columns: [], primaryKey: [])
        }
        let columns = relation.columns.filter { draft.labels[$0.number] != nil }
        var description = TableDescription(
            name: label, columns: draft.ownKey.map { [$0.column] } ?? [],
            primaryKey: draft.ownKey.map { [$0.label] } ?? draft.key.compactMap { draft.labels[$0] },
            foreignKeys: draft.foreignKeys, hasRowID: false, triggers: relation.triggers)
        for column in columns {
            var described = ColumnDescription(
                name: draft.labels[column.number] ?? column.name, type: column.declaredType,
                isRequired: column.isRequired, defaultSQL: column.defaultSQL, isGenerated: column.isGenerated)
            described.valueType = draft.replacedTypes[column.number] ?? column.reading.type
            let isPlain = column.reading.isPlain && !column.isDomain
            let words = [isPlain ? nil : column.declaredType, column.isIdentity ? "identity" : nil]
            let shown = words.compactMap(\.self)
            described.shownType = shown.isEmpty ? nil : shown.joined(separator: ", ")
            description.columns.append(described)
        }
        description.isKeyAssigned =
            draft.key.count == 1
            && relation.column(draft.key[0]).map { $0.isAssigned && $0.reading.type == .integer } == true
        description.indexes = relation.indexes.filter { !$0.isPrimary && $0.columns != draft.key }.map { index in
            let names = index.columns.map { draft.labels[$0] }
            return IndexDescription(
                name: index.name, columns: names.compactMap(\.self), isUnique: index.isUnique,
                isPlain: index.isPlain && !names.contains(nil))
        }
        description.source = source(of: relation, draft, columns)
        description.obstacles = obstacles(of: relation, draft)
        return description
    }

    private func source(
        of relation: Catalog.Relation, _ draft: Draft, _ columns: [Catalog.Column]
    ) -> TableSource {
        let dialect = Dialect.postgres
        var read = draft.ownKey.map { ["\($0.sql) AS \(dialect.quote($0.label))"] } ?? []
        for column in columns {
            let sql = draft.replaced[column.number] ?? column.reading.sql("relata_own.\(column.sql)")
            read.append("\(sql) AS \(dialect.quote(draft.labels[column.number] ?? column.name))")
        }
        let referring = draft.referring.sorted { $0.key < $1.key }
        for (_, column) in referring { read.append("\(column.sql) AS \(dialect.quote(column.label))") }
        if relation.isReadableInWhole, relation.kind.isTable || relation.kind == .materializedView {
            read.append("relata_own.tableoid AS \(TableSource.placeColumns.table)")
            read.append("relata_own.ctid AS \(TableSource.placeColumns.row)")
        }
        var source = TableSource(
            kind: relation.kind, name: relation.name, fullName: relation.fullName,
            rows: "(SELECT \(read.joined(separator: ", ")) FROM \(relation.ownRows) AS relata_own)",
            table: relation.ownRows,
            columns: Dictionary(columns.map { (draft.labels[$0.number] ?? $0.name, $0.sql) }) { first, _ in first })
        for (number, column) in referring {
            if let label = draft.labels[number] { source.referring[label] = column.label }
        }
        return source
    }

    private func obstacles(of relation: Catalog.Relation, _ draft: Draft) -> DeletionObstacles {
        var obstacles = DeletionObstacles()
        if relation.hidesRows {
            obstacles.hidesRows =
                "has row-level security, which hides rows from the role that foreign keys would still delete or change: "
                + "delete as the table's owner"
        }
        if !relation.kind.isTable {
            obstacles.keepsRows = "is a \(relation.kind.rawValue): delete the rows of the tables that it shows"
        } else if !relation.deletionRules.isEmpty {
            obstacles.keepsRows =
                "has rules that replace a deletion "
                + "(\(relation.deletionRules.joined(separator: ", "))): the effect is unknown"
        } else if draft.ownKey != nil, relation.kind == .partitionedTable {
            obstacles.keepsRows = "has no key that identifies its rows: give it a primary key"
        } else if !relation.canDelete {
            obstacles.keepsRows = "doesn't allow the role to delete its rows: GRANT DELETE ON \(relation.sql)"
        } else if !relation.isReadableInWhole {
            obstacles.keepsRows = "can be read only in part by the role: GRANT SELECT ON \(relation.sql)"
        }
        if relation.kind.isTable, draft.ownKey != nil {
            obstacles.hasNoKeys =
                "has no key, and after a row moves, its location (ctid) can belong to another row: give it a primary key"
        }
        if !relation.updateRules.isEmpty {
            obstacles.keepsReferences =
                "has rules that replace a change "
                + "(\(relation.updateRules.joined(separator: ", "))): the effect is unknown"
        }
        return obstacles
    }
}
#endif
