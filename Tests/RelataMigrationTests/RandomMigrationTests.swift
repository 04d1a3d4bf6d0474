import RelataCore
import RelataEngine
import TestSupport
import Testing

/// Random models over a random file: it is either refused and unchanged, or the same as if made for the new models,
/// with all rows that both models know.
@Suite struct RandomMigrationTests {
    private let names = ["A", "B", "C"]

    private func randomEntities(_ random: inout SeededGenerator) -> [Entity] {
        let chosen = names.filter { _ in Int.random(in: 0..<5, using: &random) > 0 }
        var entities = chosen.map { name in
            Entity(name: name, properties: [.id(name == "B" ? .text : .integer)])
        }
        for index in entities.indices {
            for name in ["p", "q", "r"] where Bool.random(using: &random) {
                let isOptional = Bool.random(using: &random)
                let type = name == "p" ? [AttributeType.text, .integer].randomElement(using: &random)! : .text
                let value: Value? = Bool.random(using: &random) ? (type == .text ? "d" : 4) : nil
                entities[index].properties.append(
                    .attribute(name, type, isOptional: isOptional, default: isOptional ? nil : value))
                if Int.random(in: 0..<6, using: &random) == 0 { entities[index].uniques.append([name]) }
                if Int.random(in: 0..<4, using: &random) == 0 { entities[index].indexes.append([name]) }
            }
            for target in entities.map(\.name) where Bool.random(using: &random) {
                let isOptional = Int.random(in: 0..<4, using: &random) > 0
                let name = "to" + target
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let order: Relationship.Order? = Bool.random(using: &random) ? .stored : nil
                    entities[index].properties.append(.manyToMany(name, target, order: order))
                default:
                    let rules: [DeleteRule?] = isOptional ? [nil, .cascade, .deny, .noAction] : [nil, .cascade, .deny]
                    entities[index].properties.append(
                        .toOne(
                            name, target, isOptional: isOptional,
                            onTargetDelete: rules.randomElement(using: &random) ?? nil))
                    addView(of: name, in: entities[index].name, to: target, &entities, &random)
                }
            }
        }
        return entities
    }

    private func addView(
        of property: String, in source: String, to target: String, _ entities: inout [Entity],
        _ random: inout SeededGenerator
    ) {
        guard let index = entities.firstIndex(where: { $0.name == target }) else { return }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: entities[index].properties.append(.hasOne("of" + source, source, inverse: property))
        case 1: entities[index].properties.append(.toMany("of" + source, source, inverse: property, order: .stored))
        case 2: entities[index].properties.append(.toMany("of" + source, source, inverse: property))
        default: break
        }
    }

    /// Inserts rows; those that break a constraint are left out.
    private func fill(_ connection: Connection, _ schema: Schema, _ random: inout SeededGenerator) throws {
        for number in 1...6 {
            for table in SchemaDDL.tables(of: schema, dialect: connection.dialect).shuffled(using: &random) {
                let values: [Value] = table.columns.map { column in
                    if table.primaryKey == [column.name] {
                        return column.type.lowercased().hasPrefix("text") ? .text("\(number)") : .integer(Int64(number))
                    }
                    if !column.isRequired && Bool.random(using: &random) { return .null }
                    let value = Int.random(in: 1...6, using: &random)
                    return column.type.lowercased().hasPrefix("text") ? .text("\(value)") : .integer(Int64(value))
                }
                let places = values.indices.map { connection.dialect.parameter($0 + 1) }.joined(separator: ", ")
                let columns = connection.dialect.list(table.columns.map(\.name))
                let sql = "INSERT INTO \"\(table.name)\" (\(columns)) VALUES (\(places))"
                try? connection.execute(SQLStatement(sql, values.map { .value($0) }))
            }
        }
    }

    /// The parts that the schema requires and a new check finds missing.
    private func lacks(_ connection: Connection, _ schema: Schema) throws -> [String] {
        let actual = try Introspection.tables(of: connection)
        return SchemaDDL.tables(of: schema, dialect: connection.dialect).flatMap { wanted -> [String] in
            guard let table = actual.first(where: { $0.name == wanted.name }) else { return ["table \(wanted.name)"] }
            var lacks: [String] = []
            for column in wanted.columns {
                let there = table.column(column.name)
                if there?.isRequired != column.isRequired && wanted.primaryKey != [column.name] {
                    lacks.append("\(table.name).\(column.name) required")
                }
                if there?.type != column.type {
                    lacks.append("\(table.name).\(column.name) type \(there?.type ?? "-")")
                }
            }
            let own = table.foreignKeys.filter { key in key.columns.allSatisfy { wanted.column($0) != nil } }
            if Set(own.map(nameless)) != Set(wanted.foreignKeys) { lacks.append("\(table.name) foreign keys \(own)") }
            if Set(table.primaryKey) != Set(wanted.primaryKey) { lacks.append("\(table.name) key") }
            for index in wanted.indexes
            where !(index.isUnique ? table.isUnique(index.columns) : table.isIndexed(index.columns)) {
                lacks.append("\(table.name) index \(index.columns)")
            }
            return lacks
        }
    }

    private func nameless(_ key: ForeignKeyDescription) -> ForeignKeyDescription {
        var key = key
        key.name = nil
        return key
    }

    /// The rows, reduced to the tables and columns that both schemas declare alike.
    private func common(_ connection: Connection, _ old: Schema, _ new: Schema) throws -> [[String]] {
        try SchemaDDL.tables(of: old, dialect: connection.dialect).compactMap { table in
            guard
                let other = SchemaDDL.tables(of: new, dialect: connection.dialect).first(where: {
                    $0.name == table.name
                })
            else { return nil }
            let columns = table.columns.filter { column in
                other.column(column.name).map { !$0.isRequired || column.isRequired } ?? false
            }
            return try connection.lines(
                "SELECT \(connection.dialect.list(columns.map(\.name))) FROM \"\(table.name)\" ORDER BY \(connection.dialect.list(table.primaryKey))"
            )
        }
    }

    @Test(arguments: TestEngine.all) func randomModelsMigrateRandomFiles(on engine: TestEngine) throws {
        var migrated = 0
        for seed in UInt64(1)...(engine == .sqlite ? 400 : 120) {
            var random = SeededGenerator(seed: seed)
            let schemas = [randomEntities(&random), randomEntities(&random)].map { try? Schema($0) }
            guard let old = schemas[0], let new = schemas[1] else { continue }
            let connection = try engine.connection()
            try Migrator.migrate(connection, schema: old)
            try fill(connection, old, &random)
            let file = try engine.shape(of: connection)
            let rows = try common(connection, old, new)
            do {
                try Migrator.migrate(connection, schema: new)
            } catch RelataError.schemaMismatch(let problems) {
                #expect(!problems.isEmpty)
                #expect(try engine.shape(of: connection) == file, "seed \(seed)")
                continue
            } catch {
                Issue.record("seed \(seed): \(error)")
                continue
            }
            migrated += 1
            let lacks = try lacks(connection, new)
            #expect(lacks == [], "seed \(seed): \(lacks)")
            #expect(try common(connection, old, new) == rows, "seed \(seed)")
            #expect(try connection.driver.danglingReferences(connection).isEmpty, "seed \(seed)")
            try engine.checkIsSound(connection)
            try connection.execute("DELETE FROM relata_metadata WHERE name = 'fingerprint'")
            let again = try Migrator.prepare(connection, schema: new)
            #expect(again.isEmpty, "seed \(seed): \(again.changes)")
        }
        #expect(migrated > (engine == .sqlite ? 70 : 20))
    }
}
