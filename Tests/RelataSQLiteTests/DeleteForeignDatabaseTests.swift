import Foundation
import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Databases that other programs made: other actions, other tables, fewer indexes.
@Suite struct DeleteForeignDatabaseTests {
    private let methods = [Connection.DeletionMethod.setBased, .closureFirst]

    private func database(_ sql: String, _ entities: [Entity]) throws -> TestDatabase {
        let database = try TestDatabase(entities)
        for table in database.schema.tables { try database.connection.execute("DROP TABLE \(table.sqlName)") }
        try database.connection.execute(sql)
        return database
    }

    private let staff = [
        Describe.entity("Company"),
        Describe.entity(
            "Employee", Describe.toOne("company", "Company", required: true, whenTargetGoes: .cascade),
            Describe.toOne("boss", "Employee", whenTargetGoes: .deny)),
    ]

    @Test func restrictWithinATableIsRespected() throws {
        for action in ["RESTRICT", "NO ACTION"] {
            for method in methods {
                let database = try database(
                    """
                    CREATE TABLE Company(id INTEGER PRIMARY KEY);
                    CREATE TABLE Employee(id INTEGER PRIMARY KEY, companyId INTEGER NOT NULL REFERENCES Company(id),
                        bossId INTEGER REFERENCES Employee(id) ON DELETE \(action));
                    INSERT INTO Company VALUES (1), (2);
                    INSERT INTO Employee VALUES (10, 1, NULL), (11, 1, 10), (12, 1, 11), (20, 2, 20);
                    """, staff)
                let report = try database.delete("Company", 1, method: method)
                #expect(report.deletedKeys(of: "Employee") == .of(10, 11, 12))
                #expect(try database.delete("Employee", 20, method: method).deletedCount == 1)
            }
        }
    }

    @Test func undeclaredTablesThatPreventADeletionAreNamed() throws {
        for method in methods {
            let database = try TestDatabase(staff)
            try database.insert("Company", [1])
            try database.insert("Employee", [10, 1, nil], [11, 1, 10])
            try database.connection.execute(
                """
                CREATE TABLE badges(number INTEGER PRIMARY KEY, holder INTEGER REFERENCES employee(id));
                INSERT INTO badges VALUES (1, 11);
                """)
            #expect {
                try database.delete("Company", 1, method: method)
            } throws: {
                "\($0)".contains("badges.holder refers to Employee, which the models don't declare")
            }
            #expect(try database.keys("Employee") == [10, 11])
            #expect(try database.rows("Employee")[1][2] == 10)
            #expect(try database.connection.value(SQLStatement("PRAGMA defer_foreign_keys")) == 0)
            try database.connection.execute("DELETE FROM badges")
            #expect(try database.delete("Company", 1, method: method).deletedCount == 3)
        }
    }

    @Test func namesMayBeKeywordsAndContainQuotes() throws {
        let order = Entity(
            name: "Order", table: "group \"by\"",
            properties: [
                .attribute(Attribute("id", column: "select", type: .integer)),
                .relationship(
                    Relationship(
                        "from", target: "Order", kind: .toOne(isOptional: true, columns: ["from\"; --"]),
                        onTargetDelete: .cascade)), Describe.manyToMany("where", "Order"),
            ])
        for method in methods {
            let database = try TestDatabase([order])
            try database.insert("group \"by\"", [1, nil], [2, 1], [3, nil])
            try database.insert("group \"by\"_where", [2, 3])
            let report = try database.delete("Order", 1, method: method)
            #expect(report.deletedKeys(of: "Order") == .of(1, 2))
            #expect(report.removedJoinRows.first?.count == 1)
        }
    }

    @Test func planningOnlyReads() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let schema = try Schema(staff)
        let writer = try Connection(path: path)
        for statement in SchemaDDL.creation(of: schema, dialect: .sqlite) { try writer.execute(statement) }
        try writer.execute("INSERT INTO Company VALUES (1); INSERT INTO Employee VALUES (10, 1, NULL), (11, 1, 10)")
        let reader = try Connection(path: path, isReadOnly: true)
        let report = try reader.deletionPlan(of: 0, roots: .keys([KeyValue(1)]), schema: schema, access: .everything)
        #expect(report.deletedCount == 3)
        #expect(throws: RelataError.self) {
            try reader.delete(entity: 0, roots: .keys([KeyValue(1)]), schema: schema, access: .everything)
        }
        #expect(try writer.value(SQLStatement("SELECT count(*) FROM Employee")) == 2)
    }

    @Test(.enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"))
    func aDatabaseOfAnotherProgramObeysItsForeignKeys() throws {
        let original = try Connection(path: SharedData.chinook, isReadOnly: true)
        let schema = try Schema(Introspection.entities(of: original))
        let copy = try Connection(path: nil)
        try original.backup(to: copy)
        let artist = try #require(schema.index(of: "Artist"))
        let plan = try original.deletionPlan(
            of: artist, roots: .keys([KeyValue(1)]), schema: schema, access: .everything)
        #expect(plan.blockers.map(\.object.entity) == ["Album", "Album"])
        #expect(throws: RelataError.self) {
            try copy.delete(entity: artist, roots: .keys([KeyValue(1)]), schema: schema, access: .everything)
        }
        try copy.execute("DELETE FROM PlaylistTrack")
        // Entity after entity. All references to the deleted rows, including those of employees to their bosses, come
        // from rows that are deleted as well.
        for name in ["InvoiceLine", "Invoice", "Customer", "Employee", "Playlist", "Track", "Album", "Artist"] {
            let entity = try #require(schema.index(of: name))
            let table = schema.tables[entity]
            let all = SQLStatement("SELECT \(table.keyColumnNames[0]) FROM \(table.sqlName)")
            let count = try copy.value(SQLStatement("SELECT count(*) FROM \(table.sqlName)"))
            let report = try copy.delete(entity: entity, roots: .query(all), schema: schema, access: .everything)
            #expect(.integer(Int64(report.deletedCount)) == count)
        }
        #expect(try copy.values(SQLStatement("PRAGMA foreign_key_check")).isEmpty)
    }
}
