#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import TestSupport
import Testing

@testable import RelataEngine

/// Random databases of other programs: a deletion does the same as the server itself, and its report matches.
///
/// `RELATA_DELETION_CASES` and `RELATA_DELETION_SEED` in the environment set the number of databases that are tried,
/// and the first one.
@Suite(.needsPostgreSQL) struct ForeignDeletionPropertyTests {
    private static func number(_ name: String, _ standard: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? standard
    }

    private static let first = number("RELATA_DELETION_SEED", 1)
    private static let count = number("RELATA_DELETION_CASES", 120)

    /// The outcome of a deletion.
    private enum Outcome { case done, doneInAnotherOrder, refused, refusedByRelataOnly }

    @Test(arguments: 0..<UInt64(4))
    func deletionsMatchThoseOfTheServer(part: UInt64) throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let connection = try foreignConnection(database.url, writes: true)
        defer { try? connection.close() }
        try connection.execute("CREATE EXTENSION citext SCHEMA pg_catalog")
        var outcomes: [Outcome: Int] = [:]
        for seed in Self.first..<Self.first + Self.count where seed % 4 == part {
            for outcome in try check(connection, seed: seed) { outcomes[outcome, default: 0] += 1 }
        }
        let tried = outcomes.values.reduce(0, +)
        // Deletions that can't be planned are the exception.
        #expect((outcomes[.refusedByRelataOnly] ?? 0) * 4 < tried + 40, "seeds from \(Self.first): \(outcomes)")
        #expect(tried < 40 || (outcomes[.done] ?? 0) * 4 > tried, "seeds from \(Self.first): \(outcomes)")
    }

    private func check(_ connection: Connection, seed: UInt64) throws -> [Outcome] {
        var random = SeededGenerator(seed: seed)
        let made = RandomForeignKeys(&random)
        try connection.execute(
            """
            DROP SCHEMA IF EXISTS public, "Other s" CASCADE; CREATE SCHEMA public; CREATE SCHEMA "Other s";
            CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE TABLE audit (text text);
            CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
            """)
        for statement in made.statements { try connection.execute(statement) }
        // The server itself refuses rows with dangling references or existing keys.
        for statement in made.rows(&random) { try? connection.execute(statement) }
        for statement in made.triggers { try connection.execute(statement) }
        connection.clearStatements()
        let reading = try ForeignReading(connection)
        var outcomes: [Outcome] = []
        for table in reading.schema.tables.shuffled(using: &random).prefix(2) where table.name != "audit" {
            let keys = try reading.fetch(table.name).map { $0.key(in: reading.schema) }
            guard !keys.isEmpty else { continue }
            let roots = Array(keys.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)))
            let place: Comment = "seed \(seed), deleting \(table.name) \(roots)"
            outcomes.append(try check(made, reading, table, roots, place))
        }
        return outcomes
    }

    private func check(
        _ made: RandomForeignKeys, _ reading: ForeignReading, _ table: Table, _ roots: [KeyValue], _ place: Comment
    ) throws -> Outcome {
        let connection = reading.connection
        let before = try State(reading, made)
        let plain = try undone(connection) {
            try deletePlainly(reading, table, roots)
            return try State(reading, made)
        }
        var plan: DeletionReport?
        var refusal = ""
        do {
            let report = try undone(connection) {
                try connection.deletionPlan(
                    of: table.index, roots: .keys(roots), schema: reading.schema, access: .everything
                ).sorted()
            }.get()
            plan = report.isDenied ? nil : report
            if report.isDenied { refusal = report.description }
        } catch {
            refusal = "\(error)"
        }
        let done = try undone(connection) {
            let report = try connection.delete(
                entity: table.index, roots: .keys(roots), schema: reading.schema, access: .everything
            ).sorted()
            return (report, try State(reading, made))
        }
        #expect(try State(reading, made) == before, place)
        switch (done, plain) {
        case (.success(let (report, after)), .success(let expected)):
            #expect(after.rows == expected.rows, place)
            expect(report, plan, refusal, before, after, reading.schema, place)
            return .done
        case (.success(let (report, after)), .failure(let error)):
            // The server takes its actions one after the other: a row that prevents one action may have been deleted by
            // another.
            expect(report, plan, refusal, before, after, reading.schema, place)
            let expected = try undone(connection) {
                try connection.execute(Self.waiting)
                try deletePlainly(reading, table, roots)
                return try State(reading, made)
            }
            if case .success(let expected) = expected {
                #expect(after.rows == expected.rows, place)
            } else {
                Issue.record("\(place): the server refuses it (\(error))")
            }
            return .doneInAnotherOrder
        case (.failure(let error), .success):
            #expect(plan == nil || !made.triggers.isEmpty, "\(place): \(error)")
            #expect(made.isUnplannable, "\(place): \(error)\n\(refusal)")
            return .refusedByRelataOnly
        case (.failure(let error), .failure):
            // Some conflicts only the server can detect, when the deletion is tried.
            if let plan { #expect(made.isUnplannable, "\(place): \(error)\n\(plan)") }
            return .refused
        }
    }

    /// Has all foreign keys that refuse wait until everything is done.
    private static let waiting = """
        DO $$
        DECLARE k record;
        BEGIN
            FOR k IN SELECT conrelid::regclass AS holder, conname, pg_get_constraintdef(oid) AS text FROM pg_constraint
                WHERE contype = 'f' AND conparentid = 0 AND confdeltype IN ('a', 'r')
            LOOP
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', k.holder, k.conname);
                EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s DEFERRABLE INITIALLY DEFERRED', k.holder, k.conname,
                    regexp_replace(k.text, ' ON DELETE RESTRICT| DEFERRABLE| INITIALLY DEFERRED', '', 'g'));
            END LOOP;
        END $$;
        """

    private func deletePlainly(_ reading: ForeignReading, _ table: Table, _ roots: [KeyValue]) throws {
        // The same rows, found by their read values.
        let rows = DeletionSQL(
            DeletionGraph(schema: reading.schema, root: table.index), roots: .keys(roots), dialect: .postgres)
        let statement = rows.delete(table.index)
        try reading.connection.execute(statement)
        try reading.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    }

    private func undone<Result>(
        _ connection: Connection, _ body: () throws -> Result
    ) throws -> Swift.Result<Result, any Error> {
        try connection.begin("BEGIN ISOLATION LEVEL REPEATABLE READ")
        let result = Swift.Result { try body() }
        try connection.execute(SQLStatement("ROLLBACK"))
        return result
    }

    /// The plan matches the deletion, and the deleted and changed rows are those of the report.
    private func expect(
        _ report: DeletionReport, _ plan: DeletionReport?, _ refusal: String, _ before: State, _ after: State,
        _ schema: Schema, _ place: Comment
    ) {
        #expect(plan != nil, "\(place): \(refusal)")
        #expect(plan.map { Set($0.deleted) } == Set(report.deleted), place)
        #expect(plan.map { Set($0.nullified) } == Set(report.nullified), place)
        #expect(plan.map { Set($0.removedJoinRows) } == Set(report.removedJoinRows), place)
        for table in schema.tables where table.name != "audit" {
            let (old, new) = (before.objects[table.name] ?? [:], after.objects[table.name] ?? [:])
            let deleted = Set(old.keys).subtracting(new.keys)
            let unset = Set(report.nullified.filter { $0.entity == table.name }.flatMap { Array($0.keys) })
            if table.keyColumnNames == ["ctid"] {
                // A changed row has another location.
                #expect(deleted == Set(report.deletedKeys(of: table.name)).union(unset), place)
                continue
            }
            #expect(deleted == Set(report.deletedKeys(of: table.name)), place)
            let changed = Set(new.filter { old[$0.key] != $0.value }.keys)
            #expect(changed == unset, place)
        }
    }

    /// All rows, as the server writes them, and as objects.
    private struct State: Equatable {
        var rows: [String] = []
        var objects: [String: [KeyValue: [Value]]] = [:]

        init(_ reading: ForeignReading, _ made: RandomForeignKeys) throws {
            for table in made.tables {
                let sql = "SELECT '\(table.name)' || t::text COLLATE \"C\" FROM \(table.name) AS t ORDER BY 1"
                rows += try reading.connection.values(SQLStatement(sql)).map { $0[0].description }
            }
            for table in reading.schema.tables {
                var objects: [KeyValue: [Value]] = [:]
                for record in try reading.fetch(table.name) { objects[record.key(in: reading.schema)] = record.values }
                self.objects[table.name] = objects
            }
        }
    }
}
#endif
