import RelataCore
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Contents of other programs' files that no class shows are named.
@Suite struct LeftOutTests {
    private func notes(_ sql: String) throws -> [String] {
        let connection = try Connection(path: nil)
        try connection.execute(sql)
        return try Introspection.read(connection).notes.map(\.description)
    }

    @Test func tablesWithReservedNamesAndComputedColumnsAreNamed() throws {
        let notes = try notes(
            """
            CREATE TABLE relata_notes (id INTEGER PRIMARY KEY);
            CREATE TABLE p (id INTEGER PRIMARY KEY, n INTEGER, twice AS (n * 2), half AS (n / 2) STORED);
            CREATE TABLE q (id INTEGER PRIMARY KEY, n INTEGER, twice AS (n * 2));
            """)
        #expect(
            notes == [
                "p.twice, half: the database computes them: they are left out",
                "q.twice: the database computes it: it is left out",
                "relata_notes: names that begin with relata_ are reserved for Relata: the table is left out",
            ])
    }

    @Test func internalTablesAreNotNamed() throws {
        let connection = try Connection(path: nil)
        let entity = Entity(name: "P", properties: [.attribute(Attribute("id", type: .integer))])
        _ = try Migrator.migrate(connection, schema: try Schema([entity]))
        #expect(try connection.value(SQLStatement("SELECT count(*) FROM relata_metadata")) != 0)
        #expect(try Introspection.read(connection).notes == [])
    }

    @Test func aReferenceThatCannotBeUnsetIsNamed() throws {
        let notes = try notes(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE q (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
            CREATE TABLE k (a INTEGER, b INTEGER REFERENCES p ON DELETE SET NULL, PRIMARY KEY (a, b));
            CREATE TABLE c (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER,
                FOREIGN KEY (a, b) REFERENCES q ON DELETE SET NULL);
            """)
        #expect(
            notes.contains { $0.hasPrefix("k.b: ") && $0.contains("sets a part of the primary key to NULL") },
            "\(notes)")
        #expect(notes.contains { $0.hasPrefix("c.a, b: ") && $0.contains("that can't be NULL") }, "\(notes)")
    }
}
