import Foundation
import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Random files of other programs: a deletion does the same as SQLite itself, and its report says exactly that.
///
/// `RELATA_DELETION_CASES` and `RELATA_DELETION_SEED` in the environment set the number of files that are tried, and
/// the first one. `RELATA_DELETION_FILE` is a path for the file, to examine a single one.
@Suite struct DeleteForeignPropertyTests {
    private static func number(_ name: String, _ standard: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? standard
    }

    private static let first = number("RELATA_DELETION_SEED", 1)
    private static let count = number("RELATA_DELETION_CASES", 500)

    /// The outcome of a deletion.
    private enum Outcome { case done, refused, refusedByRelataOnly }

    @Test(arguments: 0..<UInt64(10))
    func deletionsMatchThoseOfSQLite(part: UInt64) throws {
        var outcomes: [Outcome: Int] = [:]
        var tried = 0
        for seed in Self.first..<Self.first + Self.count where seed % 10 == part {
            for outcome in try check(seed: seed) {
                outcomes[outcome, default: 0] += 1
                tried += 1
            }
        }
        // Deletions that can't be planned are the exception.
        #expect(
            tried == 0 || (outcomes[.refusedByRelataOnly] ?? 0) * 8 < tried + 20,
            "seeds from \(Self.first): \(outcomes)")
        #expect(tried < 100 || (outcomes[.done] ?? 0) * 4 > tried, "seeds from \(Self.first): \(outcomes)")
    }

    private func check(seed: UInt64) throws -> [Outcome] {
        var random = SeededGenerator(seed: seed)
        let file = ForeignFile(&random)
        let original = try Connection(path: nil)
        try file.write(to: original, &random)
        if Self.count == 1, let path = ProcessInfo.processInfo.environment["RELATA_DELETION_FILE"] {
            try original.execute(SQLStatement("VACUUM INTO ?1", [.value(.text(path))]))
        }
        let schema = try Schema(Introspection.entities(of: original))
        var outcomes: [Outcome] = []
        for table in schema.tables.shuffled(using: &random).prefix(2) {
            let keys = try rows(of: table, in: original).keys.shuffled(using: &random)
            guard !keys.isEmpty else { continue }
            let roots = Array(
                keys.sorted { "\($0)" < "\($1)" }.shuffled(using: &random).prefix(
                    Int.random(in: 1...2, using: &random)))
            outcomes.append(
                try check(
                    file, original, schema, table, roots,
                    "seed \(seed), deleting \(table.name) \(roots): \(file.statements.joined(separator: "; "))"))
        }
        return outcomes
    }

    private func check(
        _ file: ForeignFile, _ original: Connection, _ schema: Schema, _ table: Table, _ roots: [KeyValue],
        _ place: Comment
    ) throws -> Outcome {
        let before = try contents(schema, original)
        let expected = try deleteBySQLite(original, schema, table, roots)
        let plan: DeletionReport?
        var refusal = ""
        do {
            let report = try original.deletionPlan(
                of: table.index, roots: .keys(roots), schema: schema, access: .everything
            ).sorted()
            plan = report.isDenied ? nil : report
            if report.isDenied { refusal = report.description }
        } catch {
            plan = nil
            refusal = "\(error)"
        }
        for method in [Connection.DeletionMethod.setBased, .closureFirst] {
            let copy = try Connection(path: nil)
            try original.backup(to: copy)
            try copy.execute("BEGIN IMMEDIATE")
            do {
                let report = try copy.delete(
                    entity: table.index, roots: .keys(roots), schema: schema, method: method
                ).sorted()
                try copy.execute("COMMIT")
                #expect(plan != nil, "\(place): \(refusal)")
                #expect(plan.map(Sets.init) == Sets(report), place)
                let after = try contents(schema, copy)
                #expect(after == expected, place)
                expectChanges(report, before, after, schema, place)
            } catch {
                if copy.isInTransaction { try copy.execute("COMMIT") }
                #expect(plan == nil, "\(place): \(error)")
                #expect(try contents(schema, copy) == before, place)
            }
        }
        guard expected != nil, plan == nil else { return expected == nil ? .refused : .done }
        #expect(try isUnplannable(file, original, schema, table, roots), "\(place): \(refusal)")
        return .refusedByRelataOnly
    }

    /// The rows that SQLite alone leaves after the deletion, with foreign keys checked at the end, so that its order
    /// doesn't matter; `nil` if it refuses.
    private func deleteBySQLite(
        _ original: Connection, _ schema: Schema, _ table: Table, _ roots: [KeyValue]
    ) throws -> [String: [KeyValue: [Value]]]? {
        let copy = try Connection(path: nil)
        try original.backup(to: copy)
        try copy.execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(replace(sql, '\(ForeignFile.immediate)', 'DEFERRABLE INITIALLY DEFERRED'),
                'ON DELETE RESTRICT', 'ON DELETE NO ACTION');
            PRAGMA writable_schema = RESET;
            """)
        let condition = roots.indices.map { root in
            "("
                + table.keyColumnNames.enumerated().map { "\($1) = ?\(root * table.keyColumnNames.count + $0 + 1)" }
                .joined(separator: " AND ") + ")"
        }.joined(separator: " OR ")
        do {
            try copy.execute(
                SQLStatement(
                    "DELETE FROM \(table.sqlName) WHERE \(condition)", roots.flatMap(\.values).map { .value($0) }))
        } catch {
            return nil
        }
        return try contents(schema, copy)
    }

    // MARK: Comparing

    /// A key by which an object is known: whole numbers are integers, also in a REAL column that refers to one.
    private func known(_ key: KeyValue) -> KeyValue {
        KeyValue(
            key.values.map { value in
                if case .real(let real) = value, let integer = Int64(exactly: real) { .integer(integer) } else { value }
            })
    }

    private func rows(of table: Table, in connection: Connection) throws -> [KeyValue: [Value]] {
        var rows: [KeyValue: [Value]] = [:]
        let keys = Dialect.sqlite.list(table.keyColumnNames)
        for values in try connection.values(SQLStatement("SELECT \(keys), * FROM \(table.sqlName)")) {
            rows[known(KeyValue(Array(values[..<table.keyColumns.count])))] = values
        }
        return rows
    }

    private func contents(_ schema: Schema, _ connection: Connection) throws -> [String: [KeyValue: [Value]]] {
        var contents: [String: [KeyValue: [Value]]] = [:]
        for table in schema.tables { contents[table.name] = try rows(of: table, in: connection) }
        return contents
    }

    /// A report without its order.
    private struct Sets: Equatable {
        let deleted: Set<DeletedObjects>
        let nullified: Set<NullifiedLinks>
        init(_ report: DeletionReport) {
            deleted = Set(report.deleted)
            nullified = Set(report.nullified)
        }
    }

    /// The rows that went and those that changed are those of the report.
    private func expectChanges(
        _ report: DeletionReport, _ before: [String: [KeyValue: [Value]]], _ after: [String: [KeyValue: [Value]]],
        _ schema: Schema, _ place: Comment
    ) {
        for table in schema.tables {
            let (old, new) = (before[table.name] ?? [:], after[table.name] ?? [:])
            let deleted = Set(old.keys).subtracting(new.keys)
            #expect(deleted == Set(report.deletedKeys(of: table.name).map(known)), place)
            let changed = Set(new.filter { old[$0.key] != $0.value }.keys)
            let unset = Set(report.nullified.filter { $0.entity == table.name }.flatMap { $0.keys.map(known) })
            #expect(changed == unset, place)
        }
    }

    /// Whether there is a reason why Relata refuses a deletion that SQLite makes: it depends on SQLite's order,
    /// contradicts the meaning of the foreign keys, or sets a default.
    private func isUnplannable(
        _ file: ForeignFile, _ original: Connection, _ schema: Schema, _ table: Table, _ roots: [KeyValue]
    ) throws -> Bool {
        let report = try original.deletionPlan(
            of: table.index, roots: .keys(roots), schema: schema, access: .everything)
        return try report.blockers.contains { blocker in
            let name = blocker.object.entity
            return try file.setsDefaults(name) || file.sharesColumns(name) || file.unsetsTargets(name)
                || file.refersToConverted(name) || file.hasExceptions(name, in: original)
        }
    }
}
