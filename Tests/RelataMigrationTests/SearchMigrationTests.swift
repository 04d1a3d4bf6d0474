import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// The index of a search is created, changed and dropped with its declaration.
@Suite struct SearchMigrationTests {
    private func song(_ names: [String] = ["title", "lyrics"], search: [String]?, table: String? = nil) -> Entity {
        Entity(
            name: "Song", table: table, originalTable: table == nil ? nil : "Song",
            properties: [.id()] + names.map { .attribute($0, isOptional: true) }, search: search)
    }

    private func found(
        _ text: String, _ file: Evolution, _ entity: Entity, in properties: [String] = [], sort: [SortTerm] = []
    ) throws -> [Value] {
        var plan = QueryPlan(entity: "Song", sort: sort)
        plan.search = ObjectSearch(SearchText(text), properties: properties)
        let compiler = QueryCompiler(
            schema: try Schema([entity]), access: .everything, dialect: file.connection.dialect)
        return try file.connection.values(try compiler.keys(plan).statement).map { $0[0] }
    }

    private static let rows =
        "INSERT INTO Song VALUES (1, 'Blue Moon', 'alone'); INSERT INTO Song VALUES (2, 'Été', NULL);"

    @Test(arguments: TestEngine.all) func searchesDeclaredLaterCoverExistingRows(_ engine: TestEngine) throws {
        let file = try Evolution(on: engine, song(search: nil), filledBy: Self.rows)
        let searched = song(search: ["title", "lyrics"])
        #expect(try file.open(searched) == ["Song: a search of title, lyrics"])
        #expect(try found("alone", file, searched) == [1])
        #expect(try found("ete", file, searched) == [2])
        #expect(try file.columns(of: "Song") == ["id", "lyrics", "title"])
        #expect(try file.tableNames() == ["Song"])
    }

    @Test(arguments: TestEngine.all) func bestMatchesComeFirstByDefault(_ engine: TestEngine) throws {
        let searched = song(search: ["title", "lyrics"])
        let rows = [
            (1, "Waiting", "the moon was far away and nothing else was there to be seen in the night"),
            (2, "Moon", "moon moon moon"), (3, "Alone", "no light"), (4, "Blue", "blue as the moon"),
        ]
        let file = try Evolution(
            on: engine, song(search: nil),
            filledBy: rows.map { "INSERT INTO Song VALUES (\($0), '\($1)', '\($2)')" }.joined(separator: "; "))
        try file.open(searched)
        func keys(_ text: String, in properties: [String] = [], sort: [SortTerm] = []) throws -> [Value] {
            try found(text, file, searched, in: properties, sort: sort)
        }
        let ranked = try keys("moon")
        #expect(ranked.first == 2 && ranked.last == 1 && ranked.count == 3, "\(ranked)")
        #expect(try keys("moon", sort: [SortTerm(.property(scope: 0, path: ["title"]))]) == [4, 2, 1])
        // Only one of the two attributes is searched: words of the other neither find nor exclude a row.
        #expect(try keys("moon", in: ["title"]) == [2])
        #expect(try keys("blue", in: ["lyrics"]) == [4])
        #expect(try keys("light", in: ["title"]) == [])
        #expect(try keys("moon -waiting", in: ["lyrics"]).sorted { "\($0)" < "\($1)" } == [1, 2, 4])
        #expect(try keys("moon -blue", in: ["lyrics"]) == [2, 1])
        #expect(try keys("moon -waiting") == [2, 4])
    }

    @Test(arguments: TestEngine.all) func changedSearchesGetANewIndex(_ engine: TestEngine) throws {
        let file = try Evolution(on: engine, song(search: ["title"]), filledBy: Self.rows)
        let searched = song(search: ["title", "lyrics"])
        #expect(try file.open(searched) == ["Song: its search of title, lyrics is rebuilt"])
        #expect(try found("alone", file, searched) == [1])
        #expect(try file.open(song(search: nil)) == ["Song: its search is dropped"])
        let left =
            engine == .sqlite
            ? "SELECT name FROM sqlite_master WHERE name LIKE 'relata_search%'" : "SELECT 1 WHERE false"
        #expect(try file.connection.values(SQLStatement(left)).isEmpty)
    }

    @Test(arguments: TestEngine.all) func searchSurvivesRenamesAndRebuilds(_ engine: TestEngine) throws {
        let file = try Evolution(on: engine, song(search: ["title"]), filledBy: Self.rows)
        let renamed = song(search: ["title"], table: "Track")
        try file.open(renamed)
        #expect(try found("moon", file, renamed) == [1])
        // Making a column required rebuilds the table on SQLite.
        var required = renamed
        required.properties[1] = .attribute("title")
        try file.open(required, steps: [MigrationStep("title", taking: .changing("Song.title")) { _ in }])
        #expect(try found("moon", file, required) == [1])
        try file.connection.transaction {
            try file.execute(
                "INSERT INTO Track VALUES (3, 'Moon River', NULL); UPDATE Track SET title = 'Sun' WHERE id = 1")
        }
        #expect(try found("moon", file, required) == [3])
        // The searched column gets another name.
        let renamedColumn = Entity(
            name: "Song", table: "Track",
            properties: [
                .id(), .attribute(Attribute("name", type: .text, originalName: "title")),
                .attribute("lyrics", isOptional: true),
            ], search: ["name"])
        try file.open(renamedColumn)
        #expect(try found("moon", file, renamedColumn) == [3])
    }

    @Test(arguments: TestEngine.all) func droppedSearchIndexesAreRestored(_ engine: TestEngine) throws {
        let searched = song(search: ["title"])
        let file = try Evolution(on: engine, searched, filledBy: Self.rows)
        try file.connection.execute(
            engine == .sqlite
                ? "DROP TABLE relata_search_Song_index" : "ALTER TABLE \"Song\" DROP COLUMN relata_search")
        let schema = try Schema([searched])
        try file.connection.execute("UPDATE relata_metadata SET value = 'lost' WHERE name = 'fingerprint'")
        file.connection.clearStatements()
        #expect(try IntegrityCheck.run(file.connection, schema: schema).map(\.kind) == [.search])
        try Migrator.migrate(file.connection, schema: schema)
        #expect(try found("moon", file, searched) == [1])
        #expect(try IntegrityCheck.run(file.connection, schema: schema) == [])
    }

    @Test func onlyTextIsSearchable() {
        for (search, part) in [
            (["id"], "only text"), (["nothing"], "doesn't exist"), ([], "no attributes"),
            (["title", "title"], "twice"),
        ] {
            do {
                _ = try Schema([song(search: search)])
                Issue.record("\(search) was taken")
            } catch {
                #expect("\(error)".contains(part))
            }
        }
    }
}
