import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Foreign keys and indexes that another program made, in a database that models open.
@Suite struct OthersKeysTests {
    private func library(_ engine: TestEngine, _ tables: String) throws -> Connection {
        let connection = try engine.connection()
        try connection.execute(engine.quoting("CREATE TABLE Genre (id integer PRIMARY KEY); " + tables))
        return connection
    }

    /// The foreign keys of a table: their columns, their targets, and their actions on deletion.
    private func keys(of table: String, _ connection: Connection) throws -> [String] {
        let table = try #require(try Introspection.tables(of: connection).first { $0.name == table })
        return table.foreignKeys.map {
            "\($0.columns.joined(separator: " ")) -> \($0.target) \($0.onDelete.rawValue)"
        }.sorted()
    }

    private let genre = Entity(name: "Genre", properties: [.id()])

    @Test(
        arguments: TestEngine.all,
        [
            ("NO ACTION", [DeleteRule.nullify, .cascade, .deny]), ("RESTRICT", [.nullify, .cascade, .deny]),
            ("CASCADE", [.cascade]), ("SET NULL", [.nullify, .deny]), ("SET DEFAULT", [.deny]),
        ])
    func anActionIsRefusedIfItWouldDoOtherThanTheRule(on engine: TestEngine, _ fitting: (String, [DeleteRule]))
        throws
    {
        let (action, rules) = fitting
        let connection = try library(
            engine,
            "CREATE TABLE Book (id integer PRIMARY KEY, genreId integer REFERENCES Genre ON DELETE \(action))")
        let before = try keys(of: "Book", connection)
        for rule in DeleteRule.allCases {
            let schema = try Schema([book(.toOne("genre", "Genre", onTargetDelete: rule)), genre])
            let plan = try Migrator.prepare(connection, schema: schema)
            #expect(plan.isEmpty == rules.contains(rule), "\(rule): \(plan.changes)")
            #expect(plan.refusals.isEmpty == rules.contains(rule), "\(rule): \(plan.changes)")
        }
        #expect(try keys(of: "Book", connection) == before)
        // A step changes the file's rule to the declared one.
        let rule = try #require(DeleteRule.allCases.first { !rules.contains($0) })
        let schema = try Schema([book(.toOne("genre", "Genre", onTargetDelete: rule)), genre])
        try Migrator.migrate(
            connection, schema: schema, steps: [MigrationStep("rule", taking: .changing("Book.genre"))])
        let actions = [DeleteRule.nullify: "SET NULL", .cascade: "CASCADE"]
        #expect(try keys(of: "Book", connection) == actions[rule].map { ["genreId -> Genre \($0)"] } ?? [])
    }

    @Test(arguments: TestEngine.all) func foreignKeysOfAnotherProgramSurviveEveryChange(on engine: TestEngine) throws {
        let connection = try library(
            engine,
            """
            CREATE TABLE Kind (id integer PRIMARY KEY, genreId integer, code integer, UNIQUE (genreId, code));
            CREATE TABLE Book (
                id integer PRIMARY KEY, title text NOT NULL, note text NOT NULL, kindId integer REFERENCES Kind,
                other integer REFERENCES Kind, code integer, genreId integer REFERENCES Genre ON DELETE SET NULL,
                FOREIGN KEY (genreId) REFERENCES Kind (id),
                FOREIGN KEY (genreId, code) REFERENCES Kind (genreId, code));
            """)
        let before = try keys(of: "Book", connection)
        #expect(before.count == 5)
        let properties: [Property] = [
            .id(), .attribute("title"), .attribute("kindId", .integer, isOptional: true), .toOne("genre", "Genre"),
        ]
        let models = [Entity(name: "Book", properties: properties), genre]
        try Migrator.migrate(
            connection, schema: try Schema(models),
            steps: [MigrationStep("adopt", taking: .adopting, .dropping("Book.note"))])
        #expect(try keys(of: "Book", connection) == before)
        #expect(try Introspection.tables(of: connection).first { $0.name == "Book" }?.column("note") == nil)
        // Later changes, with or without a step, don't remove any of them either.
        var later = properties
        later[1] = .attribute("title", isOptional: true)
        let optional = [Entity(name: "Book", properties: later), genre]
        try Migrator.migrate(connection, schema: try Schema(optional))
        #expect(try keys(of: "Book", connection) == before)
        try Migrator.migrate(connection, schema: try Schema(models), steps: [MigrationStep("any")])
        #expect(try keys(of: "Book", connection) == before)
    }

    @Test(arguments: TestEngine.all, ["(title) WHERE subtitle IS NOT NULL", "(lower(subtitle))"])
    func aColumnThatAnIndexNeedsIsNotDropped(on engine: TestEngine, _ index: String) throws {
        let file = try Evolution(
            on: engine, book(.attribute("title"), .attribute("subtitle", isOptional: true)),
            filledBy: "CREATE INDEX mine ON Book \(index)")
        let step = MigrationStep("no subtitles", taking: .dropping("Book.subtitle"))
        #expect(
            try file.refusals(book(.attribute("title")), steps: [step]) == [
                "Book.subtitle: the index mine needs it: drop that index first"
            ])
        try file.execute("DROP INDEX mine")
        try file.open(book(.attribute("title")), steps: [step])
        #expect(try file.columns(of: "Book") == ["id", "title"])
    }
}
