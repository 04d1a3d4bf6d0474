import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Any tables of a file are read as a valid schema, and the file fits it.
@Suite struct RandomTablesTests {
    private let tables = ["Album", "track", "order items", "PlaylistTrack", "a\"b", "Person", "person_friend"]
    private let columns = [
        "id", "Id", "album_id", "TrackId", "name", "position", "albumId", "person_id", "rowid", "x y", "b",
    ]
    private let types = ["INTEGER", "TEXT", "", "NUMERIC(10,2)", "BLOB", "DATETIME", "BOOLEAN", "REAL", "VARCHAR(9)"]
    private let actions = [
        "", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE RESTRICT", " ON DELETE SET DEFAULT",
    ]

    private func quote(_ name: String) -> String { Dialect.sqlite.quote(name) }

    private func randomTable(_ name: String, _ random: inout SeededGenerator) -> String {
        var names: [String] = []
        for column in columns.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random))
        where !names.contains(where: { $0.lowercased() == column.lowercased() }) {
            names.append(column)
        }
        var lines = names.map { column in
            let type = types.randomElement(using: &random) ?? ""
            return "\(quote(column)) \(type)\(Bool.random(using: &random) ? " NOT NULL" : "")"
        }
        let some = { (random: inout SeededGenerator) in
            Dialect.sqlite.list(Array(names.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))))
        }
        let hasKey = Int.random(in: 0..<5, using: &random) > 0
        if hasKey { lines.append("PRIMARY KEY (\(some(&random)))") }
        if Int.random(in: 0..<3, using: &random) == 0 { lines.append("UNIQUE (\(some(&random)))") }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let target = (tables + ["nowhere"]).randomElement(using: &random) ?? ""
            let action = actions.randomElement(using: &random) ?? ""
            let pointed = Bool.random(using: &random) ? " (id)" : ""
            let own =
                pointed.isEmpty ? some(&random) : quote(names.randomElement(using: &random) ?? "")
            lines.append("FOREIGN KEY (\(own)) REFERENCES \(quote(target))\(pointed)\(action)")
        }
        let end = hasKey && Int.random(in: 0..<6, using: &random) == 0 ? " WITHOUT ROWID" : ""
        return "CREATE TABLE \(quote(name)) (\(lines.joined(separator: ", ")))\(end)"
    }

    @Test func introspectionOfRandomTablesMatchesThem() throws {
        var relationships = 0
        for seed in UInt64(1)...500 {
            var random = SeededGenerator(seed: seed)
            let connection = try database()
            for table in tables where Bool.random(using: &random) {
                try connection.execute(randomTable(table, &random))
            }
            let sql = try connection.lines("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            let reader = try Introspection.read(connection)
            do {
                let schema = try Schema(reader.entities)
                relationships += schema.references.count + schema.joins.count
                let plan = try Migrator.prepare(connection, schema: schema)
                #expect(plan.isEmpty, "seed \(seed): \(plan.changes) of \(sql)")
                for table in schema.tables {
                    let columns = Dialect.sqlite.list(table.columns.map(\.name))
                    _ = try connection.lines("SELECT \(columns) FROM \(quote(table.sqlName))")
                }
                _ = try Schema(Introspection.entities(of: connection, followsAllKeys: true))
            } catch {
                Issue.record("seed \(seed): \(error) of \(sql)")
            }
        }
        #expect(relationships > 200)
    }
}
