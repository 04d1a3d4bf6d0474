import RelataCore

/// A file's own declarations about the tables of a schema, which the schema doesn't have.
struct FileKeys {
    /// The schema that was asked about.
    let schema: Schema
    /// The schema with the comparison rules of the file's foreign keys.
    let actual: Schema
    /// The foreign keys, as numbers in ``Schema/foreignKeys``, by which the database itself deletes the rows that
    /// refer.
    let cascading: Set<Int>
    /// The foreign keys to its tables that it doesn't know.
    let undeclared: [UndeclaredKey]
    /// The foreign keys to its tables by which the file finds rows only by reading all of their table, and would find
    /// them by an index.
    let unindexed: [UnindexedKey]
    /// The names of the tables that have triggers.
    let triggered: Set<FoldedName>
    /// Whether foreign keys may be declared `DEFERRED`: SQLite counts dangling rows of these separately.
    let mayDefer: Bool
    /// The tables of a server, by name, if all of them are read; otherwise none.
    var foreign: [FoldedName: TableDescription]?
}

/// A foreign key of a file without an index, in any table.
struct UnindexedKey {
    /// The table that holds it.
    let table: String
    let columns: [String]
    /// The entity it refers to, as a number in ``Schema/tables``.
    let target: Int
    let targetColumns: [String]
}

/// A foreign key of the database that a schema doesn't know.
struct UndeclaredKey {
    /// The table that holds it.
    let table: String
    let columns: [String]
    /// The entity it refers to, as a number in ``Schema/tables``.
    let target: Int
    let targetColumns: [String]
    /// The key as a server compares it.
    var native: NativeKey?
    /// The entity of the referring rows, if there is one.
    var owner: Int?
    /// The reason why no plan can follow it, unless it is only that the models don't declare it.
    var reason: String?
}

extension Connection {
    /// The file's own declarations about a schema's tables. They are read once for a schema and connection.
    func fileKeys(of schema: Schema) throws(RelataError) -> FileKeys {
        if let fileKeys, fileKeys.schema === schema { return fileKeys }
        let foreign = try foreignTables()
        let tables =
            if let foreign { foreign.tables } else { try driver.tables(named: nil, hidesReserved: false, self) }
        let others = if let foreign { foreign.strays } else { try driver.keysOfOtherSchemas(self) }
        let actual = try schema.entities(describedBy: tables).map { (entities) throws(RelataError) in
            try Schema(entities)
        }
        var keys = FileKeys(
            schema: schema, actual: actual ?? schema, cascading: cascading(in: tables, actual ?? schema),
            undeclared: undeclared(in: tables, schema) + strays(others, schema),
            unindexed: driver.capabilities.makesTemporaryIndexes ? unindexed(in: tables, schema) : [],
            triggered: Set(tables.filter { !$0.triggers.isEmpty }.map { $0.name.foldedName }),
            mayDefer: tables.contains { $0.sql?.uppercased().contains("DEFERRED") == true })
        keys.foreign = foreign.map { _ in
            Dictionary(tables.map { ($0.name.foldedName, $0) }) { first, _ in first }
        }
        fileKeys = keys
        return keys
    }

    private func cascading(in tables: [TableDescription], _ schema: Schema) -> Set<Int> {
        let described = Dictionary(tables.map { ($0.name.foldedName, $0) }) { first, _ in first }
        let keys = schema.foreignKeys.filter { key in
            let described = described[schema.tables[key.source].sqlName.foldedName]?.foreignKey(on: key.columns)
            return described?.onDelete == .cascade
                && described?.target.foldedName == schema.tables[key.target].sqlName.foldedName
        }
        return Set(keys.map(\.index))
    }

    private func unindexed(in tables: [TableDescription], _ schema: Schema) -> [UnindexedKey] {
        let described = Dictionary(tables.map { ($0.name.foldedName, $0) }) { first, _ in first }
        return tables.flatMap { table in
            table.foreignKeys.compactMap { key -> UnindexedKey? in
                guard !table.isIndexed(key.columns), let target = schema.index(ofTable: key.target),
                    let other = described[key.target.foldedName]
                else { return nil }
                let pointed = key.targetColumns.isEmpty ? other.primaryKey : key.targetColumns
                guard pointed.count == key.columns.count,
                    zip(key.columns, pointed).allSatisfy({ canBeFound(table.column($0), from: other.column($1)) })
                else { return nil }
                return UnindexedKey(
                    table: table.name, columns: key.columns, target: target, targetColumns: pointed)
            }
        }
    }

    /// Whether SQLite finds the referring rows by an index, with the same comparison as without one: if the columns
    /// differ more, it uses none, or converts the searched value.
    private func canBeFound(_ column: ColumnDescription?, from target: ColumnDescription?) -> Bool {
        guard let column, let target else { return false }
        let (own, other) = (Affinity(declaredType: column.type), Affinity(declaredType: target.type))
        switch other {
        case .integer, .numeric: return own == .integer || own == .numeric
        case .text: return own == .text || own == .blob
        case .real, .blob: return own == other
        }
    }

    /// The foreign keys of a server to a schema's tables that no relationship represents.
    private func strays(_ strays: [ForeignTables.Stray], _ schema: Schema) -> [UndeclaredKey] {
        strays.compactMap { key in
            guard let target = schema.index(ofTable: key.target) else { return nil }
            return UndeclaredKey(
                table: key.table, columns: key.columns, target: target, targetColumns: [], native: key.native,
                owner: schema.index(ofTable: key.owner), reason: key.reason)
        }
    }

    private func undeclared(in tables: [TableDescription], _ schema: Schema) -> [UndeclaredKey] {
        var known: Set<[FoldedName]> = []
        func name(_ table: String, _ columns: [String], _ target: String, _ targetColumns: [String]) -> [FoldedName] {
            let pairs = zip(columns, targetColumns).map { "\($0)\u{0}\($1)".foldedName }
            return [table.foldedName, target.foldedName] + pairs.sorted()
        }
        for key in schema.foreignKeys {
            known.insert(
                name(
                    schema.tables[key.source].sqlName, key.columns, schema.tables[key.target].sqlName,
                    key.targetColumns))
        }
        for join in schema.joins {
            let (source, target) = (schema.tables[join.source], schema.tables[join.target])
            known.insert(name(join.table, join.sourceColumns, source.sqlName, source.keyColumnNames))
            known.insert(name(join.table, join.targetColumns, target.sqlName, target.keyColumnNames))
        }
        let entities = Dictionary(schema.tables.map { ($0.sqlName.foldedName, $0) }) { first, _ in first }
        let described = Dictionary(tables.map { ($0.name.foldedName, $0) }) { first, _ in first }
        return tables.flatMap { table in
            table.foreignKeys.compactMap { key in
                guard let target = entities[key.target.foldedName] else { return nil }
                let pointed = key.targetColumns.isEmpty ? target.keyColumnNames : key.targetColumns
                let description = described[key.target.foldedName]
                // If one points at a missing column, SQLite refuses to delete, and reports it then.
                guard pointed.count == key.columns.count, pointed.allSatisfy({ description?.column($0) != nil }),
                    !known.contains(name(table.name, key.columns, target.sqlName, pointed))
                else { return nil }
                return UndeclaredKey(
                    table: table.name, columns: key.columns, target: target.index, targetColumns: pointed,
                    native: key.native, owner: schema.index(ofTable: table.name))
            }
        }
    }
}
