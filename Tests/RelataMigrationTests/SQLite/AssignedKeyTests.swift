import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Keys that the database assigns, in files that change.
@Suite struct AssignedKeyTests {
    private func note(_ text: Property, uniques: [[String]] = []) -> Entity {
        Entity(
            name: "Note", properties: [.attribute("id", .integer, isOptional: true), text], key: ["id"],
            isKeyAssigned: true, uniques: uniques)
    }

    @Test func rebuiltTablesRememberAssignedKeys() throws {
        let file = try Evolution(
            on: .sqlite, note(.attribute("text")),
            filledBy: "INSERT INTO Note (text) VALUES ('a'), ('b'), ('c'); DELETE FROM Note WHERE id > 1")
        let changes = try file.open(note(.attribute("text", isOptional: true)))
        #expect(changes.count == 1, "\(changes)")
        try file.connection.execute("INSERT INTO Note (text) VALUES ('d')")
        #expect(try file.lines("SELECT id, text FROM Note") == ["1|a", "4|d"])
        #expect(try file.lines("SELECT name, seq FROM sqlite_sequence") == ["Note|4"])
    }

    @Test func rebuiltEmptyTablesRememberAssignedKeys() throws {
        let file = try Evolution(
            on: .sqlite, note(.attribute("text")), filledBy: "INSERT INTO Note VALUES (9, 'a'); DELETE FROM Note")
        try file.open(note(.attribute("text", isOptional: true)))
        try file.connection.execute("INSERT INTO Note (text) VALUES ('b')")
        #expect(try file.lines("SELECT id FROM Note") == ["10"])
    }

    @Test func olderFilesStayUnchanged() throws {
        let connection = try Connection(path: nil)
        let schema = try Schema([note(.attribute("text"))])
        try Migrator.migrate(connection, schema: schema)
        // A file from before the time when keys were assigned only once.
        try connection.execute(
            """
            DROP TABLE Note; CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
            INSERT INTO Note VALUES (3, 'a'); UPDATE relata_metadata SET value = 'lost' WHERE name = 'fingerprint'
            """)
        #expect(try Migrator.migrate(connection, schema: schema).isEmpty)
        try connection.execute("INSERT INTO Note (text) VALUES ('b')")
        #expect(try connection.lines("SELECT id FROM Note") == ["3", "4"])
        #expect(
            try connection.lines("SELECT sql LIKE '%AUTOINCREMENT%' FROM sqlite_master WHERE name = 'Note'") == ["0"])
        #expect(try Introspection.entities(of: connection).map(\.name) == ["Note"])
    }

    @Test func explicitKeysNeedNoSequence() throws {
        let given = Entity(name: "Given", properties: [.id()])
        let statements = SchemaDDL.creation(of: try Schema([given, note(.attribute("text"))]), dialect: .sqlite)
        #expect(statements.map { $0.contains("AUTOINCREMENT") } == [false, true])
    }
}
