#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct StreamTests {
    private let session: Session
    private let parameters = ParameterBuffer()

    init() throws { session = try RelataPostgresTests.session() }

    private func stream(_ sql: String) throws -> RowStream {
        let statement = try session.prepare(name: "", sql: sql)
        parameters.begin(statement)
        return try session.stream(statement, parameters)
    }

    @Test func rowsComeOneByOneAndTheSessionIsFreeAfterTheLast() throws {
        let stream = try stream("SELECT n, 'row ' || n FROM generate_series(1::bigint, 10000) AS n")
        var count: Int64 = 0
        while let row = try stream.next() {
            count += 1
            let (number, text) = try (row[0].integer(), row[1].text())
            #expect(number == count && text == "row \(count)")
        }
        #expect(count == 10_000)
        #expect(try stream.next() == nil)
        #expect(try session.value("SELECT 1::bigint") == 1)
    }

    @Test func anErrorAfterSomeRowsIsThrown() throws {
        let stream = try stream("SELECT 10 / (5 - n) FROM generate_series(1, 10) AS n")
        var count = 0
        #expect { while try stream.next() != nil { count += 1 } } throws: {
            ($0 as? PostgresFailure)?.sqlState == "22012"
        }
        #expect(count == 4)
        #expect(try stream.next() == nil)
        #expect(try session.value("SELECT 1::bigint") == 1)
    }

    @Test func noOtherStatementStartsWhileRowsAreRead() throws {
        let stream = try stream("SELECT 1::bigint")
        #expect { try session.run("SELECT 1") } throws: {
            "\(($0 as? PostgresFailure)?.error as Any)".contains("still being read")
        }
        stream.close()
        #expect(try session.value("SELECT 1::bigint") == 1)
    }

    @Test func aStreamThatIsClosedEarlyEndsItsStatement() throws {
        for _ in 0..<20 {
            // Reading all rows would take weeks.
            let stream = try stream("SELECT generate_series(1::bigint, 1000000000000)")
            _ = try stream.next()
            stream.close()
            #expect(try session.value("SELECT 1::bigint") == 1)
        }
    }

    @Test func aTransactionSurvivesAStreamThatIsClosedEarly() throws {
        try session.run("BEGIN")
        do {
            let stream = try stream("SELECT n FROM generate_series(1::bigint, 100000) AS n")
            _ = try stream.next()
        }
        #expect(session.transactionStatus == .open)
        #expect(try session.value("SELECT 1::bigint") == 1)
        try session.run("COMMIT")
    }

    @Test func memoryUseDoesNotGrowWithTheRows() throws {
        func resident() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
        }
        guard FileManager.default.fileExists(atPath: "/proc/self/statm") else { return }
        let stream = try stream("SELECT repeat('x', 10000) FROM generate_series(1, 100000) AS n")
        _ = try stream.next()
        let before = try resident()
        var bytes = 0
        while let row = try stream.next() { bytes += try row[0].withTextBytes { $0.count } }
        #expect(bytes == 999_990_000)
        // Other tests run at the same time, but the rows alone would be twice that.
        #expect(try resident() - before < 500_000_000)
    }
}
#endif
