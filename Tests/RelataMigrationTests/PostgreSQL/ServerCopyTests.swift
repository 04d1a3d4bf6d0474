#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataEngine
import RelataPostgres
import RelataSQLite
import Synchronization
import TestSupport
import Testing

/// Databases that move between files and a server.
@Suite(.enabled(if: TestEngine.hasPostgres, TestEngine.missing)) struct ServerCopyTests {
    private func music() throws -> Connection { try database(DatabaseCopyTests.schema + DatabaseCopyTests.rows) }

    @Test func aFileIsCopiedToAServerAndBack() throws {
        let (source, server, back) = (try music(), try TestEngine.postgres.connection(), try database())
        var batch = DatabaseCopy.BatchLimit()
        batch.rows = 2
        let there = try DatabaseCopy.run(from: source, to: server, batch: batch)
        let again = try DatabaseCopy.run(from: server, to: back, batch: batch)
        #expect(there == again, "the checksums are those of the values, on any engine")
        var (before, after) = (try contents(source), try contents(back))
        // JSON keeps its meaning, but not its text: `jsonb` has its own order and blanks.
        let place = try #require(try Introspection.tables(of: back).first { $0.name == "Artist" })
            .columns.map(\.name).sorted().firstIndex(of: "more")
        let more = try #require(place)
        #expect(after["Artist"]?[0][more] == #"{"a": "ä", "b": [1, null]}"#)
        for row in 0..<3 {
            before["Artist"]?[row][more] = .null
            after["Artist"]?[row][more] = .null
        }
        #expect(after == before)
    }

    @Test func aServerIsCopiedToAnother() throws {
        let (first, second) = (try TestEngine.postgres.connection(), try TestEngine.postgres.connection())
        try DatabaseCopy.run(from: try music(), to: first)
        try DatabaseCopy.run(from: first, to: second)
        #expect(try contents(second) == contents(first))
    }

    @Test func valuesOfEveryModelTypeAreKept() throws {
        let types: [(String, AttributeType, [Value])] = [
            ("flag", .boolean, [.integer(0), .integer(1)]),
            ("whole", .integer, [.integer(.min), .integer(.max)]),
            ("real", .real, [.real(-.infinity), .real(.leastNonzeroMagnitude)]),
            ("decimal", .decimal, ["12345678901234567890.123456789", "-0.5"]),
            ("text", .text, ["", "e\u{301}\u{1F600}'\"\\"]),
            ("moment", .date(.microseconds), [.integer(-1), .integer(253_402_300_799_999_999)]),
            ("seconds", .date(.seconds), [.real(0.25), .real(-1e9)]),
            ("day", .date(.iso8601), ["2026-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.000000Z"]),
            ("data", .data, [.blob(Data()), .blob(Data([0, 255]))]),
            ("uuid", .uuid(.blob), [.uuid(UUID()), .uuid(UUID())]),
            ("uuidText", .uuid(.text), [.text(UUID().uuidString.lowercased()), .text(UUID().uuidString.lowercased())]),
            ("json", .json, ["null", #"{"a": 1.50}"#]),
        ]
        let entity = Entity(name: "All", properties: [.id()] + types.map { .attribute($0.0, $0.1, isOptional: true) })
        let (source, server, back) = (try database(), try TestEngine.postgres.connection(), try database())
        try Migrator.migrate(source, schema: try Schema([entity]))
        for row in 0..<3 {
            let values = [.integer(Int64(row))] + types.map { row < 2 ? $0.2[row] : .null }
            let parameters = values.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            try source.execute(SQLStatement("INSERT INTO \"All\" VALUES (\(parameters))", values.map { .value($0) }))
        }
        try DatabaseCopy.run(from: source, to: server)
        try DatabaseCopy.run(from: server, to: back)
        #expect(try contents(back) == contents(source))
        #expect(try Introspection.entities(of: back) == [entity])
    }

    /// A field of records holds both integers of 64 bits and other numbers.
    @Test func integersAmongOtherNumbersStayExact() throws {
        let number = Attribute("n", type: .real, isOptional: true, keepsIntegers: true)
        let entity = Entity(name: "Item", properties: [.id(), .attribute(number)])
        let (source, server, back) = (try database(), try TestEngine.postgres.connection(), try database())
        try Migrator.migrate(source, schema: try Schema([entity]))
        let values: [Value] = [
            .integer(.max), .integer(.min), .integer(9_007_199_254_740_993), .real(0.1), .real(1e300),
            .real(.leastNonzeroMagnitude),
            .null,
        ]
        for (row, value) in values.enumerated() {
            let parameters: [Parameter] = [.value(.integer(Int64(row))), .value(value)]
            try source.execute(SQLStatement("INSERT INTO \"Item\" VALUES (?1, ?2)", parameters))
        }
        try DatabaseCopy.run(from: source, to: server)
        try DatabaseCopy.run(from: server, to: back)
        #expect(try contents(back) == contents(source))
        #expect(try Introspection.entities(of: back) == [entity])
        try source.execute("UPDATE \"Item\" SET n = 9e999 WHERE id = 0")
        #expect {
            try DatabaseCopy.run(from: source, to: try TestEngine.postgres.connection())
        } throws: {
            "\($0)".contains("Item 0: n holds inf")
        }
    }

    @Test func numbersInJSONAreComparedByValue() throws {
        struct Stopped: Error {}
        let (source, server, back) = (try music(), try TestEngine.postgres.connection(), try database())
        let json = #"""
            { "b\u00e4": [1.7e+18, 1E3, -0, -0.0, 0.10, 5e-324, 1.7976931348623157e+308, 12345678901234567890.1], "b": {},
              "b": "\/\ud83d\ude00\n", "a": [true, false, null, 9007199254740993, []] }
            """#
        try source.execute(SQLStatement("UPDATE Artist SET more = ?1", [.value(.text(json))]))
        let there = try DatabaseCopy.run(from: source, to: server)
        #expect(try DatabaseCopy.run(from: server, to: back) == there)
        // No digit is left out.
        for other in ["9007199254740992", "9007199254740993.5"] {
            let server = try TestEngine.postgres.connection()
            #expect(throws: Stopped.self) {
                try DatabaseCopy.run(from: source, to: server) { progress in
                    if case .verifying = progress { throw Stopped() }
                }
            }
            let changed = json.replacing("9007199254740993", with: other)
            try source.execute(SQLStatement("UPDATE Artist SET more = ?1", [.value(.text(changed))]))
            #expect {
                try DatabaseCopy.run(from: source, to: server)
            } throws: {
                "\($0)".contains("Artist: its 3 rows aren't the same")
            }
            try source.execute(SQLStatement("UPDATE Artist SET more = ?1", [.value(.text(json))]))
        }
    }

    @Test(arguments: [
        (
            "UPDATE Album SET title = 'a' || char(0) WHERE id = 2", "Album 2: title holds text with U+0000",
            "UPDATE Album SET title = 'a' WHERE id = 2"
        ),
        (
            "UPDATE Artist SET more = '{' WHERE id = 2", "Artist 2 can't be copied",
            "UPDATE Artist SET more = '{}' WHERE id = 2"
        ),
    ])
    func aValueThatAServerCannotStoreIsNamed(change: String, expected: String, fix: String) throws {
        let (source, server) = (try music(), try TestEngine.postgres.connection())
        try source.execute(change)
        #expect {
            try DatabaseCopy.run(from: source, to: server)
        } throws: {
            "\($0)".contains(expected)
        }
        // Once it is fixed, the copy continues.
        try source.execute(fix)
        try DatabaseCopy.run(from: source, to: server)
    }

    @Test func theDecimalsOfAnotherProgramKeepTheirDigits() throws {
        let (server, file) = (try TestEngine.postgres.connection(), try database())
        try server.execute(
            "CREATE TABLE n (id bigint PRIMARY KEY, value numeric(30, 4)); INSERT INTO n VALUES (1, 12345678901234567890.125)"
        )
        #expect(try Introspection.entities(of: server)[0].attribute("value")?.type == .decimal)
        try DatabaseCopy.run(from: server, to: file)
        #expect(try file.value(SQLStatement("SELECT value FROM n")) == "12345678901234567890.125")
    }

    @Test func tablesThatCannotBeCopiedAreNamedFirst() throws {
        let server = try TestEngine.postgres.connection()
        let types = [
            "uuid", "date", "timestamptz", "timestamp without time zone", "bytea", "jsonb", "integer[]", "inet",
            "interval",
        ]
        let tables =
            [("u bigint NOT NULL UNIQUE", "n has no primary key")]
            + types.map { ("id bigint PRIMARY KEY, v \($0)", "n.v has the type \($0)") }
        for (columns, expected) in tables {
            try server.execute("DROP TABLE IF EXISTS n; CREATE TABLE n (\(columns))")
            let file = try database()
            #expect {
                try DatabaseCopy.run(from: server, to: file)
            } throws: {
                "\($0)".contains(expected)
            }
            #expect(try Introspection.tables(of: file, hidesReserved: false).isEmpty)
        }
        try server.execute(
            """
            DROP TABLE n;
            CREATE TABLE n (id integer PRIMARY KEY, a smallint, b real, c varchar(9), e numeric, f boolean);
            INSERT INTO n VALUES (1, 2, 0.5, 'x', 1.25, true)
            """)
        #expect(try DatabaseCopy.run(from: server, to: try database()).map(\.rows) == [1])
    }

    @Test func notANumberIsNamed() throws {
        let server = try TestEngine.postgres.connection()
        try server.execute(
            "CREATE TABLE n (id bigint PRIMARY KEY, value double precision); INSERT INTO n VALUES (1, 1), (2, 'NaN')")
        #expect {
            try DatabaseCopy.run(from: server, to: try database())
        } throws: {
            "\($0)".contains("n 2: value holds nan")
        }
    }

    @Test func itemsThatStayOnTheServerAreReported() throws {
        let place = try PrivateCluster.shared.makeDatabase()
        let server = try TestEngine.postgresConnection(place.url)
        try server.execute(
            """
            CREATE TABLE thing (id bigint PRIMARY KEY CHECK (id > 0));
            CREATE MATERIALIZED VIEW things AS SELECT * FROM thing;
            CREATE SCHEMA other; CREATE TABLE other.hidden (id bigint PRIMARY KEY);
            """)
        var phrases: [String] = []
        try DatabaseCopy.run(from: server, to: try database()) { progress in
            if case .leavingOut(let found) = progress { phrases = found }
        }
        #expect(
            phrases == [
                "conditions of thing: thing_id_check", "tables of other schemas: other",
                "things, which is a materialized view",
            ])
        try server.close()
    }

    @Test func halfACopyCannotBeOpened() throws {
        let url = try TestEngine.postgresURL()
        let server = try TestEngine.postgresConnection(url)
        let other = try PostgresEngine(url: PostgresURL(url), waits: PostgresWaits(busy: 0.05)).connect(
            .writing, waits: true)
        var refusals = 0
        try DatabaseCopy.run(from: try music(), to: server) { progress in
            guard case .copied("Artist", _) = progress else { return }
            #expect {
                try Migrator.migrate(other, schema: try Schema([genre]))
            } throws: {
                "\($0)".contains("another process changes the tables")
            }
            #expect {
                try DatabaseCopy.run(from: try music(), to: other)
            } throws: {
                "\($0)".contains("another process changes the tables")
            }
            refusals += 1
        }
        #expect(refusals > 0)
    }

    @Test func aSecondCopyThatWaitedForTheFirstOneIsRefused() throws {
        let url = try TestEngine.postgresURL()
        let server = try TestEngine.postgresConnection(url)
        let waits = DispatchSemaphore(value: 0)
        let second = Mutex<(any Error)?>(nil)
        let isOver = DispatchSemaphore(value: 0)
        var hasBegun = false
        try DatabaseCopy.run(from: try music(), to: server) { progress in
            guard case .copied = progress, !hasBegun else { return }
            hasBegun = true
            Thread {
                defer { isOver.signal() }
                do {
                    let other = try TestEngine.postgresConnection(url) { sql, _ in
                        if sql.contains("pg_try_advisory_lock") { waits.signal() }
                    }
                    try DatabaseCopy.run(from: try music(), to: other)
                } catch {
                    second.withLock { $0 = error }
                }
            }.start()
            #expect(waits.wait(timeout: .now() + 30) == .success)
        }
        #expect(isOver.wait(timeout: .now() + 30) == .success)
        let error = second.withLock { $0 }
        #expect("\(error as Any)".contains("the destination has tables already"))
        #expect(throws: RelataError.self) {
            try server.execute("UPDATE \"Album\" SET \"artistId\" = 99 WHERE id = 1")
        }
        #expect(try !server.hasTable("relata_copy"))
    }

    @Test(.enabled(if: Pooler.isInstalled, "\(Pooler.missing)")) func aCopyHoldsItsLockBehindAPooler() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let pooler = try Pooler(PrivateCluster.shared, serverConnections: 4)
        let server = try TestEngine.postgresConnection(pooler.url(database: database.name))
        let other = try PostgresEngine(url: PostgresURL(database.url), waits: PostgresWaits(busy: 0.05)).connect(
            .writing, waits: true)
        func isRefused() {
            #expect {
                try Migrator.migrate(other, schema: try Schema([genre]))
            } throws: {
                "\($0)".contains("another process changes the tables")
            }
        }
        var steps = 0
        try DatabaseCopy.run(from: try music(), to: server) { progress in
            guard case .copied = progress else { return }
            steps += 1
            isRefused()
        }
        #expect(steps > 0)
        // The holder of the lock may take it again.
        try server.driver.changingTables(server) {
            try server.driver.changingTables(server) {}
            isRefused()
        }
        try other.close()
        try server.close()
    }

    @Test(.enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"))
    func chinookIsCopiedToAServerAndBack() throws {
        let source = try Connection(path: SharedData.chinook, isReadOnly: true)
        let (server, back) = (try TestEngine.postgres.connection(), try database())
        let there = try DatabaseCopy.run(from: source, to: server)
        #expect(there.first { $0.name == "Track" }?.rows == 3503)
        #expect(try DatabaseCopy.run(from: server, to: back) == there)
        let (before, after) = (try contents(source), try contents(back))
        #expect(before.keys.sorted() == after.keys.sorted())
        for (name, rows) in before { #expect(after[name] == rows, "\(name)") }
    }
}
#endif
