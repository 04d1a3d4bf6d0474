import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// A library in which some rows are hidden, and the same without these rows.
struct AccessLibrary {
    /// The library with all rows.
    let full: QueryLibrary
    /// The library without the hidden rows: links to them are unset, and join rows with them are gone.
    let rest: QueryLibrary
    let access: Access
    let description: String

    /// The entities of ``QueryLibrary``, each with a level, and without required links: a link to a hidden object must
    /// be able to dangle.
    static let entities = QueryLibrary.entities.map { entity in
        var entity = entity
        entity.properties = entity.properties.map { property in
            guard case .relationship(var relationship) = property, case .toOne = relationship.kind else {
                return property
            }
            relationship.kind = .toOne(isOptional: true)
            return .relationship(relationship)
        }
        entity.properties.append(.attribute(Attribute("level", type: .integer)))
        entity.indexes.append(["level"])
        let texts = entity.attributes.filter { $0.type == .text }.map(\.name)
        entity.search = texts.isEmpty ? nil : texts
        return entity
    }

    /// Random rows; random ones of random entities are hidden.
    init(_ random: inout SeededGenerator) throws {
        full = try QueryLibrary(Self.entities)
        try RandomQueries.fill(full, &random)
        var conditions: [String: ExpressionNode] = [:]
        var hides: [String: (Value) -> Bool] = [:]
        for table in full.schema.tables where Bool.random(using: &random) {
            let bound = Int64.random(in: -1...4, using: &random)
            switch Int.random(in: 0...2, using: &random) {
            case 0:
                conditions[table.name] = the("level") < .integer(bound)
                hides[table.name] = { $0.integer >= bound }
            case 1:
                conditions[table.name] = .valueIn(the("level"), [-2, 0, 1, .integer(bound)], [])
                hides[table.name] = { ![-2, 0, 1, bound].contains($0.integer) }
            default:
                conditions[table.name] = .not(.or([the("level") == .integer(bound), the("level") == 3]))
                hides[table.name] = { [bound, 3].contains($0.integer) }
            }
        }
        access = try Access(conditions, in: full.schema)
        description = conditions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
        rest = try QueryLibrary(Self.entities)
        try copy(hiding: hides)
        for library in [full, rest] { try library.connection.updateSearch() }
    }

    private func copy(hiding hides: [String: (Value) -> Bool]) throws {
        let schema = full.schema
        var kept: [String: [[String: Value]]] = [:]
        for table in schema.tables {
            kept[table.sqlName] = (full.rows[table.sqlName] ?? []).filter { row in
                !(hides[table.name]?(row["level"] ?? .null) ?? false)
            }
        }
        func isKept(_ key: [Value?], of table: Table) -> Bool {
            kept[table.sqlName]?.contains { row in table.keyColumnNames.map { row[$0] } == key } ?? false
        }
        for table in schema.tables {
            let rows = (kept[table.sqlName] ?? []).map { row in
                var row = row
                for reference in schema.references where reference.source == table.index {
                    let target = schema.tables[reference.target]
                    // In a guarded entity, a missing object is no different from a hidden one.
                    guard hides[target.name] != nil, !isKept(reference.columns.map { row[$0] }, of: target) else {
                        continue
                    }
                    for column in reference.columns { row[column] = .null }
                }
                return row
            }
            try rest.insert(table.sqlName, rows)
        }
        for join in schema.joins {
            let rows = (full.rows[join.table] ?? []).filter { row in
                let (source, target) = (schema.tables[join.source], schema.tables[join.target])
                return (hides[source.name] == nil || isKept(join.sourceColumns.map { row[$0] }, of: source))
                    && (hides[target.name] == nil || isKept(join.targetColumns.map { row[$0] }, of: target))
            }
            try rest.insert(join.table, rows)
        }
    }

    var schema: Schema { full.schema }
    /// Writes statements under the access.
    var limited: QueryCompiler { QueryCompiler(schema: full.schema, access: access) }

    /// The keys that objects of a table may have, hidden and missing ones included.
    func someKeys(of table: Table, _ random: inout SeededGenerator) -> [KeyValue] {
        var keys = (full.rows[table.sqlName] ?? []).map { row in KeyValue(table.keyColumnNames.map { row[$0] ?? .null })
        }
        keys.shuffle(using: &random)
        return Array(keys.prefix(Int.random(in: 1...6, using: &random)))
    }
}

extension Value {
    fileprivate var integer: Int64 { if case .integer(let number) = self { number } else { .min } }
}
