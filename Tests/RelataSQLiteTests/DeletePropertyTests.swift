import Foundation
import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Random schemas, rows and deletions against an oracle that knows the rules and nothing of SQL.
@Suite struct DeletePropertyTests {
    @Test(arguments: Array(stride(from: UInt64(1), through: 401, by: 50)))
    func deletionsFollowTheRules(first: UInt64) throws {
        for seed in first..<first + 50 { try check(seed: seed) }
    }

    private func check(seed: UInt64) throws {
        let oracle = try DeleteOracle(seed: seed)
        var random = SeededGenerator(seed: seed &+ 0x5EED)
        for entity in oracle.schema.tables.indices {
            let objects = oracle.objects(entity).shuffled(using: &random)
            var roots = Array(objects.prefix(Int.random(in: 1...3, using: &random)))
            if random.chance(20) {
                let missing = roots[0].key.values.map { value -> Value in
                    if case .text = value { "missing" } else { 1000 }
                }
                roots.append(DeleteOracle.Object(entity: entity, key: KeyValue(missing)))
            }
            let (expected, remaining) = oracle.delete(roots)
            let place: Comment = "seed \(seed), deleting \(roots)"
            let database = try load(oracle)
            let plan = try plan(database, entity, roots)
            #expect(oracle.outcome(plan) == expected, place)
            #expect(try plan == self.plan(database, entity, roots.reversed()), place)
            try expectRows(oracle.rows, in: database, place)
            for method in [Connection.DeletionMethod.setBased, .closureFirst] {
                let database = try load(oracle)
                do {
                    let report = try database.delete(
                        oracle.schema.tables[entity].name, roots: .keys(roots.map(\.key)), method: method)
                    #expect(report == plan, place)
                    #expect(report.deletedCount == expected.deleted.count, place)
                    #expect(!plan.isDenied, place)
                } catch RelataError.deleteDenied(let blockers) {
                    #expect(Set(blockers) == expected.blockers, place)
                } catch RelataError.validation(let failures) {
                    #expect(expected.blockers.isEmpty && Set(failures) == expected.shortages, place)
                } catch {
                    Issue.record(error, place)
                }
                try expectRows(remaining, in: database, place)
            }
        }
    }

    private func plan(
        _ database: TestDatabase, _ entity: Int, _ roots: [DeleteOracle.Object]
    ) throws -> DeletionReport {
        try database.connection.deletionPlan(
            of: entity, roots: .keys(roots.map(\.key)), schema: database.schema, access: .everything
        ).sorted()
    }

    private func load(_ oracle: DeleteOracle) throws -> TestDatabase {
        let database = try TestDatabase(oracle.entities)
        // Required references may form cycles.
        try database.connection.execute("BEGIN; PRAGMA defer_foreign_keys = ON")
        for (table, rows) in oracle.rows {
            for row in rows {
                let columns = row.keys.sorted()
                let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
                try database.connection.execute(
                    SQLStatement(
                        "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))",
                        columns.map { .value(row[$0] ?? .null) }))
            }
        }
        try database.connection.execute("COMMIT")
        return database
    }

    private func expectRows(
        _ expected: [String: [[String: Value]]], in database: TestDatabase, _ place: Comment
    ) throws {
        for (table, rows) in expected {
            var found: Set<[String: Value]> = []
            try database.connection.rows(SQLStatement("SELECT * FROM \(table)")) { row in
                var values: [String: Value] = [:]
                for column in 0..<row.columnCount { values[row[column].name] = row.value(at: column) }
                found.insert(values)
            }
            #expect(found == Set(rows), "\(place.rawValue), table \(table)")
        }
        let dangling = try database.connection.values(SQLStatement("PRAGMA foreign_key_check"))
        #expect(dangling.isEmpty, place)
    }
}
