import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Columns of a store's tables that its models don't have: those of another program, or of a model that had more once.
@Suite struct UndeclaredColumnTests {
    private static let pairs = TestEngine.all.flatMap { source in TestEngine.all.map { (source, $0) } }
    private static let book = Entity(name: "Book", properties: [.id(), .attribute("title")])

    private func library(_ engine: TestEngine, columns: String...) throws -> Connection {
        let source = try engine.connection()
        try Migrator.migrate(source, schema: try Schema([Self.book]))
        for column in columns { try source.execute("ALTER TABLE \"Book\" ADD COLUMN \(column)") }
        return source
    }

    /// Copies, and returns the phrases for the parts that are left out.
    private func copy(_ source: Connection, to destination: Connection) throws -> [String] {
        var omissions: [String] = []
        try DatabaseCopy.run(from: source, to: destination) { progress in
            if case .leavingOut(let phrases) = progress { omissions = phrases }
        }
        return omissions
    }

    @Test(arguments: pairs) func theyAreCopied(from engine: TestEngine, to other: TestEngine) throws {
        let source = try library(
            engine, columns: "shelf TEXT NOT NULL DEFAULT 'none'", "weight double precision", "pages bigint DEFAULT 7",
            "cover \(engine == .sqlite ? "BLOB" : "bytea")")
        let bytes = engine == .sqlite ? "x'00ff'" : "'\\x00ff'"
        try source.execute(
            "INSERT INTO \"Book\" VALUES (1, 'Emma', 'A1', 0.5, 9007199254740993, \(bytes)), (2, 'Ulysses', 'B2', NULL, NULL, NULL)"
        )
        let destination = try other.connection()
        let omissions = try copy(source, to: destination)
        #expect(!omissions.contains { $0.contains("Book") }, "\(omissions)")
        let rows = "SELECT id, title, shelf, weight, pages FROM \"Book\" ORDER BY id"
        #expect(
            try destination.lines(rows) == ["1|Emma|A1|0.5|9007199254740993", "2|Ulysses|B2|NULL|NULL"])
        #expect(
            try destination.values(SQLStatement("SELECT cover FROM \"Book\" WHERE id = 1")) == [
                [.blob(Data([0, 255]))]
            ])
        // The models don't get them, and store their objects as before.
        #expect(
            try Introspection.entities(of: destination).map { $0.properties.map(\.name) } == [
                Self.book.properties.map(\.name)
            ])
        try Migrator.migrate(destination, schema: try Schema([Self.book]))
        try destination.execute("INSERT INTO \"Book\" (id, title) VALUES (3, 'Persuasion')")
        #expect(try destination.lines(rows).last == "3|Persuasion|none|NULL|7")
    }

    @Test(arguments: pairs) func anInterruptedCopyKeepsThem(from engine: TestEngine, to other: TestEngine) throws {
        struct Stopped: Error {}
        let source = try library(engine, columns: "shelf TEXT")
        try source.execute("INSERT INTO \"Book\" VALUES (1, 'Emma', 'A1'), (2, 'Ulysses', 'B2'), (3, 'Dune', 'C3')")
        let destination = try other.connection()
        var batch = DatabaseCopy.BatchLimit()
        batch.rows = 1
        #expect(throws: Stopped.self) {
            try DatabaseCopy.run(from: source, to: destination, batch: batch) { progress in
                if case .copied(_, rows: 2) = progress { throw Stopped() }
            }
        }
        try DatabaseCopy.run(from: source, to: destination, batch: batch)
        #expect(try destination.lines("SELECT id, shelf FROM \"Book\" ORDER BY id") == ["1|A1", "2|B2", "3|C3"])
    }

    @Test(arguments: TestEngine.all) func valuesThatDoNotFitLeaveTheirColumnOut(to other: TestEngine) throws {
        let source = try library(.sqlite, columns: "shelf INTEGER", "place INTEGER DEFAULT (1 + 1)")
        try source.execute("INSERT INTO \"Book\" VALUES (1, 'Emma', 'upstairs', 5)")
        let destination = try other.connection()
        let omissions = try copy(source, to: destination)
        #expect(omissions.contains("columns without a property of Book: shelf"), "\(omissions)")
        #expect(omissions.contains("defaults that aren't constants of Book: place"), "\(omissions)")
        #expect(try destination.lines("SELECT id, title, place FROM \"Book\"") == ["1|Emma|5"])
    }

    #if PostgreSQL
    @Test(.enabled(if: TestEngine.hasPostgres, TestEngine.missing), arguments: TestEngine.all)
    func aServersTypeThatNoAttributeHasIsLeftOut(to other: TestEngine) throws {
        let source = try library(.postgres, columns: "span interval", "seen timestamptz")
        try source.execute("INSERT INTO \"Book\" VALUES (1, 'Emma', '1 day', '1970-01-01 00:00:01Z')")
        let destination = try other.connection()
        let omissions = try copy(source, to: destination)
        #expect(omissions.contains("columns without a property of Book: span"), "\(omissions)")
        let seen = SQLStatement("SELECT seen FROM \"Book\"")
        #expect(try destination.value(seen, as: .date(.microseconds)) == .integer(1_000_000))
    }
    #endif
}
