#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct CopyTests {
    private let session: Session
    private let sql = "COPY t (id, text, amount, moment, tags) FROM STDIN (FORMAT binary)"

    init() throws {
        session = try RelataPostgresTests.session()
        try session.run(
            "CREATE TEMP TABLE t (id bigint PRIMARY KEY, text text, amount numeric, moment timestamptz, tags text[], n interval)"
        )
    }

    private func columns(_ names: String = "id, text, amount, moment, tags") throws -> [TypeCode] {
        try session.prepare(name: "", sql: "SELECT \(names) FROM t").columns.map(\.type)
    }

    private func row(_ id: Int64, _ text: String? = "x") -> (ParameterBuffer) throws(RelataError) -> Void {
        { (parameters) throws(RelataError) in
            try parameters.append(id)
            if let text { try parameters.append(text) } else { try parameters.appendNull() }
            try parameters.append("\(id).25")
            try parameters.append(id)
            try parameters.append(list: [.text("a\(id)"), .null])
        }
    }

    @Test func copiedRowsAreUnchanged() throws {
        let writer = try session.copy(sql, columns: columns())
        for id in 0..<5000 as Range<Int64> { try writer.write(row(id, id % 7 == 0 ? nil : "text \(id) é")) }
        #expect(try writer.finish() == 5000)
        #expect(
            try session.values("SELECT id, text, amount, moment, tags[1] FROM t WHERE id IN (7, 4999) ORDER BY id")
                == [[7, .null, "7.25", 7, "a7"], [4999, "text 4999 é", "4999.25", 4999, "a4999"]])
        #expect(try session.value("SELECT count(*) FROM t") == 5000)
        #expect(throws: PostgresFailure.self) { try writer.write(row(1)) }
        #expect(throws: PostgresFailure.self) { try writer.finish() }
    }

    @Test func anEmptyCopyIsValid() throws {
        #expect(try session.copy(sql, columns: columns()).finish() == 0)
    }

    @Test(arguments: [2, 50_000]) func aRefusedRowEndsTheCopyWithItsReason(_ rows: Int64) throws {
        let writer = try session.copy(sql, columns: columns())
        #expect {
            for id in 0..<rows { try writer.write(row(id == 1 ? 0 : id)) }
            try writer.finish()
        } throws: {
            guard let failure = $0 as? PostgresFailure else { return false }
            return failure.constraint == .unique && failure.keyColumns == ["id"]
                && failure.diagnostics?.context?.contains("line 2") == true
        }
        #expect(try session.value("SELECT count(*) FROM t") == 0)
    }

    @Test func rowsWithUnsuitableValuesAreSkipped() throws {
        let writer = try session.copy(sql, columns: columns())
        try writer.write(row(1))
        #expect { try writer.write(row(2, "a\0b")) } throws: {
            "\(($0 as? PostgresFailure)?.error as Any)".contains("U+0000")
        }
        #expect(throws: PostgresFailure.self) {
            try writer.write { (row) throws(RelataError) in try row.append(3 as Int64) }
        }
        try writer.write(row(4))
        #expect(try writer.finish() == 2)
        #expect(try session.values("SELECT id FROM t ORDER BY id") == [[1], [4]])
    }

    @Test(arguments: ["", "x", "longer than any other", String(repeating: "é", count: 100_000)])
    func aValueReplacesAnother(_ text: String) throws {
        let writer = try session.copy(sql, columns: columns())
        for id in 1...3 as ClosedRange<Int64> {
            try writer.write { (row) throws(RelataError) in
                try self.row(id, id == 2 ? nil : "text \(id)")(row)
                try row.replaceInRow(1) { (row) throws(RelataError) in try row.append(text) }
                try row.replaceInRow(2) { (row) throws(RelataError) in try row.appendNull() }
                try row.replaceInRow(0) { (row) throws(RelataError) in try row.append(id + 10) }
                try row.replaceInRow(4) { (row) throws(RelataError) in try row.append(list: [.text("b\(id)")]) }
            }
        }
        #expect(try writer.finish() == 3)
        #expect(
            try session.values("SELECT id, text, amount, moment, tags[1] FROM t ORDER BY id")
                == (1...3).map { [.integer($0 + 10), .text(text), .null, .integer($0), .text("b\($0)")] })
    }

    @Test func anUnsuitableValueDoesNotReplaceAnother() throws {
        let writer = try session.copy(sql, columns: columns())
        try writer.write { (row) throws(RelataError) in
            try self.row(1, "stays")(row)
            try? row.replaceInRow(1) { (row) throws(RelataError) in try row.append("a\0b") }
        }
        #expect(try writer.finish() == 1)
        #expect(try session.value("SELECT text FROM t") == "stays")
    }

    @Test func anAbandonedCopyInsertsNothing() throws {
        let writer = try session.copy(sql, columns: columns())
        for id in 0..<5000 as Range<Int64> { try writer.write(row(id)) }
        #expect(throws: PostgresFailure.self) { try session.run("SELECT 1") }
        writer.cancel()
        do { try session.copy(sql, columns: columns()).write(row(1)) }
        #expect(try session.value("SELECT count(*) FROM t") == 0)
    }

    @Test func nonBinaryCopiesAreRefused() throws {
        #expect(throws: PostgresFailure.self) { try session.copy("SELECT 1", columns: columns()) }
        #expect(throws: PostgresFailure.self) { try session.copy("COPY t FROM STDIN", columns: columns()) }
        #expect(throws: PostgresFailure.self) { try session.copy("COPY t TO STDOUT", columns: columns()) }
        #expect(throws: PostgresFailure.self) { try session.copy(sql, columns: columns("id, text")) }
        #expect(throws: PostgresFailure.self) {
            try session.copy("COPY nowhere FROM STDIN (FORMAT binary)", columns: columns())
        }
        #expect(throws: PostgresFailure.self) {
            try session.copy("COPY t (n) FROM STDIN (FORMAT binary)", columns: columns("n"))
        }
        #expect(throws: PostgresFailure.self) { try session.execute(SQLStatement("COPY t FROM STDIN")) }
        #expect(throws: PostgresFailure.self) { try session.run("COPY t TO STDOUT") }
        #expect(try session.value("SELECT count(*) FROM t") == 0)
    }

    @Test func aKilledServerEndsTheCopy() throws {
        let killer = try RelataPostgresTests.session()
        let writer = try session.copy(sql, columns: columns())
        try writer.write(row(1))
        #expect(
            try killer.value("SELECT pg_terminate_backend($1::integer, 10000)", .integer(Int64(session.processID))) == 1
        )
        #expect { try writer.finish() } throws: { "\(($0 as? PostgresFailure)?.error as Any)".contains("went away") }
        #expect(session.isLost)
    }
}
#endif
