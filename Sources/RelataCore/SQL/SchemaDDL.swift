import Foundation

/// The tables, keys and indexes that a schema wants, and the SQL that creates them: plain tables that any tool can
/// read, with real foreign keys for the delete rules.
package enum SchemaDDL {
    /// Every table of the schema, entities first, then join tables.
    package static func tables(of schema: Schema, dialect: Dialect = .sqlite) -> [TableDescription] {
        tables(of: schema, among: nil, dialect: dialect)
    }

    /// The tables of the schema whose names, in lower case, are among these; `nil` for all.
    static func tables(
        of schema: Schema, among wanted: Set<FoldedName>?, dialect: Dialect = .sqlite
    ) -> [TableDescription] {
        var names = IndexNames(schema)
        let entities = schema.tables(among: wanted).map { entityTable($0, schema, dialect, &names) }
        return entities + schema.joins(among: wanted).map { joinTable($0, schema, dialect, &names) }
    }

    /// The statements that make an empty database for the schema.
    package static func creation(of schema: Schema, dialect: Dialect) -> [String] {
        let tables = tables(of: schema, dialect: dialect)
        let creation = tables.flatMap { table in
            [createTable(table, dialect: dialect)]
                + table.indexes.map { createIndex($0, on: table.name, dialect: dialect) }
        }
        let searches = schema.tables.compactMap(SearchIndex.init).flatMap { $0.creation(dialect) }
        return creation + tables.flatMap { addForeignKeys(of: $0, dialect: dialect) } + searches
    }

    private static func entityTable(
        _ table: Table, _ schema: Schema, _ dialect: Dialect, _ names: inout IndexNames
    ) -> TableDescription {
        // SQLite assigns every key that is a row's number.
        let isNumber = table.keyColumns.count == 1 && table.columns[table.keyColumns[0]].type.storage == .integer
        let references = schema.references(of: table.index)
        var description = TableDescription(
            name: table.sqlName, columns: [], primaryKey: table.keyColumnNames,
            isKeyAssigned: isNumber && (dialect == .sqlite || table.entity.isKeyAssigned),
            neverReusesKeys: table.entity.isKeyAssigned)
        for (index, column) in table.columns.enumerated() {
            // A key has the type of the columns that refer to it.
            let isKey = dialect == .postgres && table.keyColumns.contains(index)
            description.columns.append(
                ColumnDescription(
                    name: column.name, type: isKey ? dialect.type(of: column.type) : dialect.type(of: column),
                    isRequired: !column.isOptional,
                    defaultSQL: column.defaultValue.flatMap {
                        $0.isNull ? nil : literal($0, as: column.type, dialect: dialect)
                    }))
            // The position is beside its key.
            let isLast = index + 1 == table.columns.count || table.columns[index + 1].reference != column.reference
            if isLast, let reference = column.reference.map({ schema.references[$0] }), reference.isOrderStored,
                let position = reference.orderColumn
            {
                description.columns.append(
                    ColumnDescription(name: position, type: dialect.positionType, isRequired: false))
            }
        }
        for reference in references where reference.isEnforced {
            let target = schema.tables[reference.target]
            description.foreignKeys.append(
                ForeignKeyDescription(
                    columns: reference.columns, target: target.sqlName, targetColumns: target.keyColumnNames,
                    onDelete: .init(reference.onTargetDelete)))
        }
        let columns = { (properties: [String]) in
            properties.flatMap { table.columnIndexes(of: $0).map { table.columns[$0].name } }
        }
        var wanted: [(columns: [String], isUnique: Bool)] = table.entity.uniques.map { (columns($0), true) }
        wanted += references.filter(\.isUnique).map { ($0.columns, true) }
        wanted += table.entity.indexes.map { (columns($0), false) }
        wanted += references.map { ($0.columns + [$0.orderColumn].compactMap { $0 }, false) }
        addIndexes(wanted, to: &description, &names)
        // SQLite treats NULL as the smallest value: new rows without a target would be inserted among those with one,
        // at the cost of a search and half-filled pages, instead of at the end. A rowid key is a part of every index,
        // in its order: sorting by both needs one order.
        for (number, index) in description.indexes.enumerated()
        where index.columns.count == 1 && !description.isKeyAssigned && dialect == .sqlite {
            description.indexes[number].isDescending = references.contains {
                $0.isOptional && $0.columns == index.columns
            }
        }
        orderUnset(in: &description, lists: references.compactMap(\.orderColumn), dialect)
        return description
    }

    private static func joinTable(
        _ join: Join, _ schema: Schema, _ dialect: Dialect, _ names: inout IndexNames
    ) -> TableDescription {
        var description = TableDescription(
            name: join.table, columns: [], primaryKey: join.sourceColumns + join.targetColumns)
        let sides = [
            (join.sourceColumns, join.source, join.onSourceDelete),
            (join.targetColumns, join.target, join.onTargetDelete),
        ]
        for (columns, number, rule) in sides {
            let table = schema.tables[number]
            for (column, key) in zip(columns, table.keyColumns) {
                description.columns.append(
                    ColumnDescription(
                        name: column, type: dialect.type(of: table.columns[key].type), isRequired: true))
            }
            // Join rows go with either side, unless the rule refuses the deletion.
            description.foreignKeys.append(
                ForeignKeyDescription(
                    columns: columns, target: table.sqlName, targetColumns: table.keyColumnNames,
                    onDelete: rule == .deny ? .none : .cascade))
        }
        let orders = [join.orderColumn, join.inverseOrderColumn]
        for position in orders.compactMap({ $0 }) {
            description.columns.append(
                ColumnDescription(name: position, type: dialect.positionType, isRequired: true, defaultSQL: "0"))
        }
        let wanted = zip(sides, orders).map { ($0.0 + [$1].compactMap { $0 }, false) }
        addIndexes(wanted, to: &description, &names)
        return description
    }

    /// Sets the position of unset values in each index, so that it serves an order: first, and last in a list's own
    /// order.
    private static func orderUnset(in table: inout TableDescription, lists: [String], _ dialect: Dialect) {
        guard !dialect.sortsNullsFirst else { return }
        for (number, index) in table.indexes.enumerated() {
            table.indexes[number].nullsFirst = index.columns.filter { column in
                let isPlace = index.columns.count > 1 && column == index.columns.last && lists.contains(column)
                return !isPlace && table.column(column)?.isRequired == false
            }
        }
    }

    /// Adds indexes that no key or other index covers: the longest first, as an index also serves its prefixes.
    private static func addIndexes(
        _ wanted: [(columns: [String], isUnique: Bool)], to table: inout TableDescription, _ names: inout IndexNames
    ) {
        for (columns, isUnique) in wanted where isUnique && !columns.isEmpty && !table.isUnique(columns) {
            let name = names.name(table: table.name, columns: columns, isUnique: true)
            table.indexes.append(IndexDescription(name: name, columns: columns, isUnique: true))
        }
        let plain = wanted.filter { !$0.isUnique && !$0.columns.isEmpty }.sorted { $0.columns.count > $1.columns.count }
        for (columns, _) in plain where !table.isIndexed(columns) {
            let name = names.name(table: table.name, columns: columns, isUnique: false)
            table.indexes.append(IndexDescription(name: name, columns: columns, isUnique: false))
        }
    }
}

// MARK: SQL

extension SchemaDDL {
    /// `CREATE TABLE`.
    package static func createTable(_ table: TableDescription, dialect: Dialect) -> String {
        var lines = table.columns.map { column in
            columnDefinition(column, of: table, dialect: dialect)
        }
        if table.primaryKey.count > 1 {
            lines.append("PRIMARY KEY (\(dialect.list(table.primaryKey)))")
        }
        for key in table.foreignKeys where key.columns.count > 1 && dialect == .sqlite {
            lines.append("FOREIGN KEY (\(dialect.list(key.columns))) \(referencesClause(key, dialect))")
        }
        return "CREATE TABLE \(dialect.quote(table.name)) (\n    \(lines.joined(separator: ",\n    "))\n)"
    }

    /// A column for `CREATE TABLE` and `ALTER TABLE … ADD COLUMN`, with a foreign key of this column alone.
    package static func columnDefinition(
        _ column: ColumnDescription, of table: TableDescription, dialect: Dialect
    ) -> String {
        var words = [dialect.quote(column.name)]
        if !column.type.isEmpty { words.append(column.type) }
        let isKey = table.primaryKey.count == 1 && table.primaryKey[0].isSameName(as: column.name)
        if column.isRequired && !(isKey && table.isKeyAssigned) { words.append("NOT NULL") }
        if dialect == .postgres {
            if isKey && table.isKeyAssigned { words.append("GENERATED BY DEFAULT AS IDENTITY") }
            if isKey { words.append("PRIMARY KEY") }
            if let value = column.defaultSQL { words.append("DEFAULT \(value)") }
            return words.joined(separator: " ")
        }
        if isKey { words.append("PRIMARY KEY") }
        // SQLite accepts the word only for a rowid key.
        if isKey && table.isKeyAssigned && table.neverReusesKeys && column.type.uppercased() == "INTEGER" {
            words.append("AUTOINCREMENT")
        }
        if let value = column.defaultSQL { words.append("DEFAULT \(value)") }
        for key in table.foreignKeys where key.isOn([column.name]) { words.append(referencesClause(key, dialect)) }
        return words.joined(separator: " ")
    }

    /// The statements that add a table's foreign keys if their target tables must exist first.
    package static func addForeignKeys(of table: TableDescription, dialect: Dialect) -> [String] {
        guard dialect == .postgres else { return [] }
        return table.foreignKeys.map { addForeignKey($0, to: table.name, dialect: dialect) }
    }

    /// The statement that adds a foreign key to an existing table.
    static func addForeignKey(_ key: ForeignKeyDescription, to table: String, dialect: Dialect) -> String {
        "ALTER TABLE \(dialect.quote(table)) ADD FOREIGN KEY (\(dialect.list(key.columns))) "
            + "\(referencesClause(key, dialect)) DEFERRABLE INITIALLY IMMEDIATE"
    }

    /// `CREATE INDEX`, unique or not.
    ///
    /// - Parameter isConcurrent: Whether others may write to the table in the meantime.
    package static func createIndex(
        _ index: IndexDescription, on table: String, dialect: Dialect, isConcurrent: Bool = false
    ) -> String {
        let isDescending = index.isDescending && index.columns.count == 1
        let columns = index.columns.map {
            dialect.quote($0) + (index.nullsFirst.contains($0) && !dialect.sortsNullsFirst ? " NULLS FIRST" : "")
        }.joined(separator: ", ")
        return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(isConcurrent ? "CONCURRENTLY " : "")"
            + "\(dialect.quote(index.name)) ON \(dialect.quote(table)) (\(columns)\(isDescending ? " DESC" : ""))"
    }

    /// A constant as SQL text. Only for declarations of models: values of objects are bound.
    package static func literal(_ value: Value) -> String {
        switch value {
        case .null: return "NULL"
        case .integer(let integer): return String(integer)
        case .real(let real):
            if real.isInfinite { return real < 0 ? "-9e999" : "9e999" }
            return real.isNaN ? "NULL" : String(real)
        case .text(let text): return "'" + text.replacingOccurrences(of: "'", with: "''", options: .literal) + "'"
        case .blob(let data): return "x'\(data.hexadecimal)'"
        case .uuid(let uuid):
            return literal(.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }))
        }
    }

    /// A constant of a type as SQL text. Only for declarations of models: values of objects are bound.
    static func literal(_ value: Value, as type: AttributeType, dialect: Dialect) -> String {
        guard dialect == .postgres, !value.isNull else { return literal(value) }
        let text: String
        switch (type, value) {
        case (.boolean, .integer(let number)): return number == 0 ? "FALSE" : "TRUE"
        case (.date(.microseconds), .integer(let microseconds)):
            return "('epoch'::timestamptz + \(microseconds / 1_000_000) * interval '1 second' "
                + "+ \(microseconds % 1_000_000) * interval '1 microsecond')"
        case (_, .real(let number)) where !number.isFinite:
            text = number.isNaN ? "'NaN'" : number < 0 ? "'-Infinity'" : "'Infinity'"
        case (_, .blob(let data)): text = "'\\x\(data.hexadecimal)'"
        case (_, .uuid(let id)): text = "'\(id.uuidString.lowercased())'"
        case (_, .text): text = literal(value)
        case (_, .integer), (_, .real), (_, .null): return literal(value)
        }
        return "\(text)::\(type.postgresName)"
    }

    private static func referencesClause(_ key: ForeignKeyDescription, _ dialect: Dialect) -> String {
        var clause = "REFERENCES \(dialect.quote(key.target))"
        if !key.targetColumns.isEmpty { clause += " (\(dialect.list(key.targetColumns)))" }
        if key.onDelete != .none { clause += " ON DELETE \(key.onDelete.rawValue)" }
        return clause
    }
}
