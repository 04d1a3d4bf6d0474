import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Changes that lose nothing apply by themselves.
@Suite struct AdditiveMigrationTests {
    @Test(arguments: TestEngine.all) func anEmptyFileGetsAllTables(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, book(.attribute("title"), .toOne("genre", "Genre")), genre)
        #expect(
            try file.tableNames() == ["Book", "Genre"])
        #expect(throws: RelataError.self) {
            try file.execute("INSERT INTO Book VALUES (1, 'Emma', 7)")
        }
    }

    @Test(arguments: TestEngine.all) func newEntitiesAttributesAndRelationshipsAreAdded(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, book(.attribute("title")), filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        let changes = try file.open(
            book(
                .attribute("title"), .attribute("pages", .integer, default: 9), .attribute("note", isOptional: true),
                .toOne("genre", "Genre"), .manyToMany("authors", "Author", order: .stored),
                indexes: [["pages"]]),
            genre, Entity(name: "Author", properties: [.id()]))
        #expect(changes.contains("Book.pages: a new column pages"))
        #expect(changes.contains("Genre: a new table"))
        #expect(changes.contains("Book.authors: a new table"))
        #expect(try file.lines("SELECT id, title, pages, note, genreId FROM Book") == ["1|Emma|9|NULL|NULL"])
        #expect(
            try file.deleteActions(of: "Book") == ["Genre SET NULL"])
        #expect(try Introspection.tables(of: file.connection).first { $0.name == "Book" }?.isIndexed(["pages"]) == true)
        #expect(
            try Introspection.tables(of: file.connection).first { $0.name == "Book" }?.isIndexed(["genreId"]) == true)
    }

    @Test(arguments: TestEngine.all) func defaultsOfEveryKindReachExistingRows(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, book(), filledBy: "INSERT INTO Book VALUES (1)")
        try file.open(
            book(
                .attribute("a", default: "it's \"so\""), .attribute("b", .real, default: -0.5),
                .attribute("c", .data, default: .blob(.init([0, 255]))),
                .attribute("d", .integer, default: .integer(.min)), .attribute("e", .boolean, default: true),
                .attribute("f", .real, default: .real(.infinity))))
        #expect(
            try file.connection.values(SQLStatement("SELECT a, b, c, d, e, f FROM \"Book\"")) == [
                ["it's \"so\"", .real(-0.5), .blob(.init([0, 255])), .integer(.min), .integer(1), .real(.infinity)]
            ])
    }

    @Test(arguments: TestEngine.all) func renamesKeepTheRows(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("name"), .toOne("kind", "Genre"), .manyToMany("writers", "Genre")), genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 'Emma', 5);
                INSERT INTO Book_writers VALUES (1, 5);
                """)
        let changes = try file.open(
            Entity(
                name: "Volume", originalTable: "Book",
                properties: [
                    .id(), .attribute("title", originalName: "name"), .toOne("sort", "Genre", originalName: "kind"),
                    .manyToMany("authors", "Genre", originalName: "writers"),
                ]), genre)
        #expect(changes.count == 5, "\(changes)")
        #expect(try file.lines("SELECT id, title, sortId FROM Volume") == ["1|Emma|5"])
        #expect(try file.lines("SELECT volumeId, genreId FROM Volume_authors") == ["1|5"])
        #expect(
            try file.tableNames() == ["Genre", "Volume", "Volume_authors"])
        #expect(throws: RelataError.self) { try file.execute("UPDATE Volume SET sortId = 9") }
    }

    @Test(arguments: TestEngine.all) func referencesFollowARenamedTarget(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.toOne("genre", "Genre")), genre,
            filledBy: "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 5)")
        try file.open(
            book(.toOne("genre", "Kind")),
            Entity(name: "Kind", originalTable: "Genre", properties: [.id(), .attribute("name", default: "")]))
        #expect(try file.lines("SELECT name FROM Book JOIN Kind ON Kind.id = genreId") == ["Novel"])
    }

    @Test(arguments: TestEngine.all) func referencesFollowARenamedKey(on engine: TestEngine) throws {
        let coded = { (key: Property, name: String) in Entity(name: "Genre", properties: [key], key: [name]) }
        let file = try Evolution(
            on: engine, book(.toOne("genre", "Genre")), coded(.attribute("code"), "code"),
            filledBy: "INSERT INTO Genre VALUES ('n'); INSERT INTO Book VALUES (1, 'n')")
        let renamed = coded(.attribute("sign", originalName: "code"), "sign")
        #expect(
            try file.open(book(.toOne("genre", "Genre")), renamed) == [
                "Genre.sign: the column is renamed from code"
            ])
        #expect(try file.lines("SELECT genreId, sign FROM Book JOIN Genre ON sign = genreId") == ["n|n"])
        #expect(try file.table("Book").foreignKeys.map(\.targetColumns) == [["sign"]])
        // A column of another table that has the same name has nothing to do with it.
        let titled = { (property: Property) in book(property, .toOne("genre", "Genre")) }
        try file.open(titled(.attribute("sign", default: "")), renamed)
        #expect(
            try file.open(titled(.attribute("mark", default: "", originalName: "sign")), renamed) == [
                "Book.mark: the column is renamed from sign"
            ])
        #expect(try file.table("Book").foreignKeys.map(\.targetColumns) == [["sign"]])
    }

    @Test(arguments: TestEngine.all) func explicitlyNamedColumnsAreNotRenamedWithTheirTarget(on engine: TestEngine)
        throws
    {
        let file = try Evolution(
            on: engine, book(.attribute("genreId", .integer, isOptional: true)), genre,
            filledBy: "INSERT INTO Book VALUES (1, 5)")
        let reference = Property.relationship(
            Relationship("genre", target: "Genre", kind: .toOne(isOptional: true, columns: ["kind"])))
        let changes = try file.open(
            book(.attribute("number", .integer, isOptional: true, originalName: "genreId"), reference), genre)
        #expect(
            changes == ["Book.number: the column is renamed from genreId", "Book.genre: a new column kind"],
            "\(changes)")
        #expect(try file.lines("SELECT number, kind FROM Book") == ["5|NULL"])
    }

    @Test(arguments: TestEngine.all) func aJoinTableFollowsAnEntityThatKeepsItsTable(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.manyToMany("authors", "Author")), Entity(name: "Author", properties: [.id()]),
            filledBy: """
                INSERT INTO Book VALUES (1); INSERT INTO Author VALUES (5);
                INSERT INTO Book_authors VALUES (1, 5);
                """)
        let changes = try file.open(
            book(.manyToMany("authors", "Writer")), Entity(name: "Writer", table: "Author", properties: [.id()]))
        #expect(changes == ["Book.authors: the column writerId of the join table is renamed from authorId"])
        #expect(try file.lines("SELECT b.bookId, b.writerId FROM Book_authors AS b") == ["1|5"])
    }

    @Test(arguments: TestEngine.all) func aPositionFollowsARenamedReferenceWhoseColumnStays(on engine: TestEngine)
        throws
    {
        let shelf = Entity(
            name: "Genre", properties: [.id(), .toMany("books", "Book", inverse: "genre", order: .stored)])
        let file = try Evolution(
            on: engine, book(.toOne("genre", "Genre")), shelf,
            filledBy: "INSERT INTO Genre VALUES (5); INSERT INTO Book (id, genreId, genrePosition) VALUES (1, 5, 77)")
        let changes = try file.open(
            book(
                .relationship(
                    Relationship(
                        "kind", target: "Genre", kind: .toOne(isOptional: true, columns: ["genreId"]),
                        originalName: "genre"))),
            Entity(name: "Genre", properties: [.id(), .toMany("books", "Book", inverse: "kind", order: .stored)]))
        #expect(changes == ["Book.kind: the column is renamed from genrePosition"])
        #expect(try file.lines("SELECT genreId, kindPosition FROM Book AS b WHERE b.kindPosition = 77") == ["5|77"])
    }

    @Test(arguments: TestEngine.all) func indexesFollowARenameWhenTheTableIsRebuilt(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine,
            book(
                .attribute("name"), .attribute("code"), .attribute("year", .integer, isOptional: true),
                .toOne("genre", "Genre"), uniques: [["code"]], indexes: [["name"]]),
            genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel');
                INSERT INTO Book (id, name, code, year, genreId) VALUES (1, 'Emma', 'a', 1815, 5), (2, 'Emma', 'b', 1816, 5);
                """)
        try file.open(
            Entity(
                name: "Volume", originalTable: "Book",
                properties: [
                    .id(), .attribute("title", originalName: "name"), .attribute("number", originalName: "code"),
                    .attribute("year", .integer), .toOne("kind", "Genre", originalName: "genre"),
                ], uniques: [["number"]], indexes: [["title"]]), genre)
        #expect(try file.lines("SELECT title, number, year, kindId FROM Volume") == ["Emma|a|1815|5", "Emma|b|1816|5"])
        #expect(
            try file.table("Volume").indexes.map { "\($0.columns[0])|\($0.isUnique)" }.sorted()
                == ["kindId|false", "number|true", "title|false"])
    }

    @Test(arguments: TestEngine.all) func columnsWithANewNameAreRenamed(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, book(.attribute("title")), filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        try file.open(book(.attribute("title", column: "Title of book")))
        #expect(try file.lines("SELECT \"Title of book\" FROM Book") == ["Emma"])
    }

    @Test(arguments: TestEngine.all) func requiredBecomesOptional(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("title"), .toOne("genre", "Genre", isOptional: false)), genre,
            filledBy: "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 'Emma', 5)")
        let changes = try file.open(book(.attribute("title", isOptional: true), .toOne("genre", "Genre")), genre)
        #expect(changes.contains("Book.title: it is optional now"))
        try file.execute("INSERT INTO Book VALUES (2, NULL, NULL); DELETE FROM Genre")
        #expect(try file.lines("SELECT * FROM Book ORDER BY id") == ["1|Emma|NULL", "2|NULL|NULL"])
    }

    @Test(arguments: TestEngine.all) func optionalBecomesRequiredWithADefaultOrWithoutGaps(on engine: TestEngine) throws
    {
        let file = try Evolution(
            on: engine, book(.attribute("title", isOptional: true), .attribute("year", .integer, isOptional: true)),
            filledBy: "INSERT INTO Book VALUES (1, 'Emma', NULL), (2, 'Persuasion', 1817)")
        try file.open(book(.attribute("title"), .attribute("year", .integer, default: 2000)))
        #expect(try file.lines("SELECT * FROM Book ORDER BY id") == ["1|Emma|2000", "2|Persuasion|1817"])
        #expect(throws: RelataError.self) { try file.execute("INSERT INTO Book VALUES (3, NULL, 1)") }
    }

    @Test(arguments: TestEngine.all, [false, true])
    func aToOneBecomesAToMany(on engine: TestEngine, isOrdered: Bool) throws {
        let file = try Evolution(
            on: engine, book(.attribute("title"), .toOne("genre", "Genre", isOptional: false)), genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel'), (6, 'Satire');
                INSERT INTO Book VALUES (1, 'Emma', 5), (2, 'Candide', 6), (3, 'Persuasion', 5);
                """)
        let order: Relationship.Order? = isOrdered ? .stored : nil
        let kinds = Entity(
            name: "Genre",
            properties: [
                .id(), .attribute("name", default: ""),
                .manyToManyInverse("books", "Book", inverse: "genres", order: order),
            ])
        let changes = try file.open(book(.attribute("title"), .manyToMany("genres", "Genre", order: order)), kinds)
        #expect(changes.contains("Book.genres: the key in genreId becomes rows of Book_genres"))
        #expect(
            try file.lines("SELECT * FROM Book_genres ORDER BY bookId")
                == (isOrdered ? ["1|5|1024|1024", "2|6|1024|1024", "3|5|1024|2048"] : ["1|5", "2|6", "3|5"]))
        #expect(try file.lines("SELECT * FROM Book WHERE id = 1") == ["1|Emma"])
    }

    @Test(arguments: TestEngine.all) func aToOneBecomesAToManyByItsOriginalName(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.toOne("kind", "Genre")), genre,
            filledBy: "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 5), (2, NULL)")
        try file.open(book(.manyToMany("genres", "Genre", originalName: "kind")), genre)
        #expect(try file.lines("SELECT * FROM Book_genres") == ["1|5"])
    }

    @Test(arguments: TestEngine.all) func unorderedBecomesOrderedByKey(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.toOne("genre", "Genre"), .manyToMany("tags", "Genre")), genre,
            filledBy: """
                INSERT INTO Genre VALUES (5, 'Novel'), (6, 'Satire');
                INSERT INTO Book VALUES (3, 5), (1, 5), (2, 6), (4, NULL);
                INSERT INTO Book_tags VALUES (1, 6), (1, 5), (2, 5);
                """)
        try file.open(
            book(.toOne("genre", "Genre"), .manyToMany("tags", "Genre", order: .stored)),
            Entity(
                name: "Genre",
                properties: [
                    .id(), .attribute("name", default: ""), .toMany("books", "Book", inverse: "genre", order: .stored),
                ]))
        #expect(
            try file.lines("SELECT id, genrePosition FROM Book ORDER BY id") == [
                "1|1024", "2|1024", "3|2048", "4|NULL",
            ])
        #expect(
            try file.lines("SELECT * FROM Book_tags ORDER BY 1, 2") == ["1|5|1024", "1|6|2048", "2|5|1024"])
    }

    @Test(arguments: TestEngine.all) func deleteRulesInTheFileFollowTheModels(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.toOne("genre", "Genre")), genre,
            filledBy: "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 5)")
        for rule in [DeleteRule.cascade, .deny, .noAction, .nullify] {
            let changes = try file.open(book(.toOne("genre", "Genre", onTargetDelete: rule)), genre)
            #expect(changes.count == 1)
            let expected = [
                "cascade": ["Genre CASCADE"], "deny": ["Genre NO ACTION"], "noAction": [],
                "nullify": ["Genre SET NULL"],
            ]
            #expect(try file.deleteActions(of: "Book") == expected[rule.rawValue])
        }
        #expect(try file.lines("SELECT * FROM Book") == ["1|5"])
    }

    @Test(arguments: TestEngine.all) func uniqueSetsAndIndexesAreAddedAndRemoved(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("title"), .toOne("genre", "Genre")), genre,
            filledBy: "INSERT INTO Genre VALUES (5, ''); INSERT INTO Book VALUES (1, 'Emma', 5), (2, 'Emma 2', NULL)")
        let one = Entity(
            name: "Genre",
            properties: [.id(), .attribute("name", default: ""), .hasOne("book", "Book", inverse: "genre")])
        let many = Entity(
            name: "Genre",
            properties: [.id(), .attribute("name", default: ""), .toMany("book", "Book", inverse: "genre")])
        try file.open(book(.attribute("title"), .toOne("genre", "Genre"), uniques: [["title"]]), one)
        #expect(throws: RelataError.self) { try file.execute("INSERT INTO Book VALUES (3, 'Emma', NULL)") }
        #expect(throws: RelataError.self) { try file.execute("INSERT INTO Book VALUES (3, 'x', 5)") }
        let changes = try file.open(book(.attribute("title"), .toOne("genre", "Genre"), indexes: [["title"]]), many)
        #expect(changes.count == 4, "\(changes)")
        try file.execute("INSERT INTO Book VALUES (3, 'Emma', 5)")
    }

    @Test(arguments: TestEngine.all) func anAttributeBecomesAReferenceIfAllItsTargetsExist(on engine: TestEngine) throws
    {
        let file = try Evolution(
            on: engine, book(.attribute("genreId", .integer, isOptional: true)), genre,
            filledBy: "INSERT INTO Genre VALUES (5, 'Novel'); INSERT INTO Book VALUES (1, 5), (2, NULL)")
        let changes = try file.open(book(.toOne("genre", "Genre")), genre)
        #expect(changes.contains("Book.genre: the file checks where it points now"))
        #expect(try file.lines("SELECT * FROM Book") == ["1|5", "2|NULL"])
        #expect(throws: RelataError.self) { try file.execute("UPDATE Book SET genreId = 9") }
    }

    @Test(arguments: TestEngine.all) func aRequiredColumnIsAddedToAnEmptyTable(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, book(.attribute("title")))
        try file.open(
            book(.attribute("title"), .attribute("year", .integer), .toOne("genre", "Genre", isOptional: false)), genre)
        #expect(throws: RelataError.self) { try file.execute("INSERT INTO Book (id, title) VALUES (1, '')") }
    }

    @Test(
        arguments: TestEngine.all,
        [(AttributeType.integer, AttributeType.text), (.text, .integer), (.uuid(.blob), .data)])
    func columnsOfEmptyTablesCanChangeToAnyType(on engine: TestEngine, _ types: (AttributeType, AttributeType)) throws {
        func models(_ type: AttributeType, _ number: AttributeType) -> (Entity, Entity) {
            (
                book(
                    .attribute("value", type), .attribute("number", number), .toOne("genre", "Genre"),
                    .manyToMany("others", "Genre")),
                Entity(name: "Genre", properties: [.id(type)])
            )
        }
        let (old, oldGenre) = models(types.0, .date(.seconds))
        let (new, newGenre) = models(types.1, .real)
        let file = try Evolution(on: engine, old, oldGenre)
        let changes = try file.open(new, newGenre)
        #expect(!changes.contains { $0.contains("Book.number") }, "\(changes)")
        let fresh = try Evolution(on: engine, new, newGenre)
        for table in ["Book", "Genre", "Book_others"] {
            let columns = try [file, fresh].map { file in
                try file.table(table).columns.map { "\($0.name) \($0.type) \($0.isRequired)" }
            }
            #expect(columns[0] == columns[1])
            #expect(try file.deleteActions(of: table) == fresh.deleteActions(of: table))
        }
    }

    @Test(arguments: TestEngine.all) func anOlderVersionOpensANewerFile(on engine: TestEngine) throws {
        let old = book(.attribute("title"))
        let file = try Evolution(on: engine, old, filledBy: "INSERT INTO Book VALUES (1, 'Emma')")
        try file.open(
            book(.attribute("title"), .attribute("year", .integer, default: 2000), .toOne("genre", "Genre")), genre)
        #expect(try file.open(old) == [])
        try file.execute("INSERT INTO Book (id, title) VALUES (2, 'Persuasion')")
        #expect(try file.lines("SELECT * FROM Book") == ["1|Emma|2000|NULL", "2|Persuasion|2000|NULL"])
    }

    @Test(arguments: TestEngine.all) func removedOptionalAttributesStayInTheFile(on engine: TestEngine) throws {
        let file = try Evolution(
            on: engine, book(.attribute("title"), .attribute("note", isOptional: true)),
            filledBy: "INSERT INTO Book VALUES (1, 'Emma', 'good')")
        #expect(try file.open(book(.attribute("title"))) == [])
        #expect(try file.open(book(.attribute("title"), .attribute("note", isOptional: true))) == [])
        #expect(try file.lines("SELECT note FROM Book") == ["good"])
    }

    @Test(arguments: TestEngine.all) func namesWithKeywordsAndQuotesAreMigrated(on engine: TestEngine) throws {
        let entity = { (isOptional: Bool) in
            Entity(
                name: "Order", table: "select \"all\"",
                properties: [
                    .id(), .attribute("group", isOptional: isOptional, column: "a \"b\" c"), .toOne("table", "Order"),
                ], uniques: [["group", "table"]])
        }
        let file = try Evolution(
            on: engine, entity(false), filledBy: "INSERT INTO \"select \"\"all\"\"\" VALUES (1, 'x', 1)")
        try file.open(entity(true))
        #expect(try file.lines("SELECT * FROM \"select \"\"all\"\"\"") == ["1|x|1"])
    }
}
