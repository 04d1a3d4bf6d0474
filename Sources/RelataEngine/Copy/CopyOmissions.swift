import RelataCore

/// The parts of a database that a copy leaves out, because no entity declares them.
enum CopyOmissions {
    /// Finds it, a phrase each.
    ///
    /// - Parameter undeclared: The columns that are copied nevertheless, by their tables.
    static func find(
        in source: Connection, _ schema: Schema, _ undeclared: [String: [UndeclaredColumn]]
    ) throws -> [String] {
        var found: [String] = []
        let wanted = Dictionary(
            SchemaDDL.tables(of: schema, dialect: source.dialect).map { ($0.name, $0) }
        ) { first, _ in first }
        for table in try Introspection.tables(of: source, hidesReserved: false) {
            guard let expected = wanted[table.name] else {
                found.append("the table \(table.name), which has no entity, with its rows")
                continue
            }
            let parts = try parts(of: table, expected, undeclared[table.name] ?? [], source)
            found += parts.filter { !$0.names.isEmpty }.map { part in
                "\(part.what) of \(table.name): \(part.names.joined(separator: ", "))"
            }
        }
        let schemas = try source.driver.otherSchemas(source)
        if !schemas.isEmpty { found.append("tables of other schemas: \(schemas.joined(separator: ", "))") }
        for (name, kind) in try source.driver.otherTables(source).sorted(by: { $0.key < $1.key }) {
            found.append("\(name), which is \(kind)")
        }
        for (table, what) in [
            ("relata_changes", "the change log: programs that follow it have to start again"),
            ("relata_parse_requests", "results that a server keeps for requests that are sent again"),
        ] where try source.hasTable(table) { found.append(what) }
        return found
    }

    /// The unexpected parts of a table.
    private struct Part {
        let what: String
        let names: [String]
    }

    private static func parts(
        of table: TableDescription, _ expected: TableDescription, _ undeclared: [UndeclaredColumn],
        _ source: Connection
    ) throws -> [Part] {
        var (unknown, computed, collated): ([String], [String], [String]) = ([], [], [])
        for column in table.columns {
            if let kept = expected.column(column.name) {
                let isAssigned = expected.isKeyAssigned && expected.primaryKey == [column.name]
                if column.defaultSQL != nil, kept.defaultSQL == nil, !isAssigned { computed.append(column.name) }
            } else if let copied = undeclared.first(where: { $0.name == column.name }) {
                if copied.losesDefault { computed.append(column.name) }
            } else {
                unknown.append(column.name)
                continue
            }
            if column.collation != "BINARY" { collated.append(column.name) }
        }
        var keys: [String] = []
        for key in table.foreignKeys where expected.foreignKey(on: key.columns) == nil {
            keys.append(key.columns.joined(separator: ", ") + " to " + key.target)
        }
        let indexes = table.indexes.filter { !$0.isPlain }.map(\.name)
        return [
            Part(what: "columns without a property", names: unknown),
            Part(what: "defaults that aren't constants", names: computed),
            Part(what: "collations", names: collated),
            Part(what: "foreign keys without a relationship", names: keys),
            Part(what: "indexes of expressions or of some rows", names: indexes),
            Part(what: "conditions", names: try source.driver.conditions(of: table, source)),
            Part(what: "triggers", names: try source.driver.triggers(of: table.name, source)),
        ]
    }
}
