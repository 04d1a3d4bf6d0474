#if CommandLineTool
import Foundation
import Testing

@Suite struct InspectTests {
    @Test func textShowsAttributesAndBothSidesOfRelationships() throws {
        let run = try SampleFile.library().run("inspect")
        #expect(run.exitCode == 0)
        #expect(run.errors.isEmpty)
        #expect(run.lines.first == "library.sqlite: 8 entities, 40 objects")
        #expect(run.lines.contains("Book · 9 objects"))
        #expect(run.lines.contains("  id: integer (key), name: text (unique)"))
        #expect(run.lines.contains("  genre     → Genre      to-one, optional, inverse books"))
        #expect(run.lines.contains("  books ⇉ Book  one-to-many, inverse genre, delete: nullify"))
        #expect(
            run.lines.contains(
                "  authors   ⇉ Author     many-to-many by Book_authors, inverse books, delete: nullify"))
        #expect(run.lines.contains("  card  → Card  one-to-one, inverse reader, delete: cascade"))
    }

    @Test func aDiagramIsWrittenAsSVGOrMermaid() throws {
        let file = try SampleFile.library()
        let svg = try file.run("inspect", "--format", "svg")
        #expect(svg.exitCode == 0)
        #expect(svg.output.hasPrefix("<svg ") && svg.output.hasSuffix("</svg>\n"))
        #expect(svg.output.contains(">books [cascade]</text>"))
        let mermaid = try file.run("inspect", "--format", "mermaid")
        #expect(mermaid.exitCode == 0)
        #expect(mermaid.lines.first == "erDiagram")
        #expect(mermaid.lines.contains("    Publisher ||--o{ Book : \"publisher / books [cascade]\""))
    }

    @Test func jsonContainsTheSameForPrograms() throws {
        let run = try SampleFile.library().run("inspect", "--format", "json")
        let json = try #require(try run.json() as? [String: Any])
        let entities = try #require(json["entities"] as? [[String: Any]])
        let book = try #require(entities.first { $0["name"] as? String == "Book" })
        #expect(book["count"] as? Int == 9)
        #expect(book["key"] as? [String] == ["id"])
        let attributes = try #require(book["attributes"] as? [[String: Any]])
        #expect(attributes.map { $0["name"] as? String } == ["id", "title", "year"])
        #expect(attributes[0]["key"] as? Bool == true)
        let relationships = try #require(book["relationships"] as? [[String: Any]])
        let genre = try #require(relationships.first { $0["name"] as? String == "genre" })
        #expect(genre["kind"] as? String == "toOne")
        #expect(genre["target"] as? String == "Genre")
        #expect(genre["inverse"] as? String == "books")
        #expect(genre["optional"] as? Bool == true)
        #expect(genre["columns"] as? [String] == ["genreId"])
        #expect(genre["onTargetDelete"] as? String == "nullify")
        let authors = try #require(relationships.first { $0["name"] as? String == "authors" })
        #expect(authors["kind"] as? String == "manyToMany")
        #expect(authors["joinTable"] as? String == "Book_authors")
        let joins = try #require(json["joinTables"] as? [[String: Any]])
        #expect(joins.first?["count"] as? Int == 11)
    }

    @Test func anyFileIsRead() throws {
        let file = try SampleFile(
            """
            CREATE TABLE "select" ("from" INTEGER PRIMARY KEY, "a ""b"" c" TEXT, 'd;e' BLOB);
            INSERT INTO "select" VALUES (1, 'x', x'00');
            CREATE TABLE bare (value);
            CREATE TABLE tree (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES tree (id));
            CREATE TABLE pair (a INTEGER, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE TABLE lost (id INTEGER PRIMARY KEY, x INTEGER REFERENCES nowhere (id));
            CREATE VIEW v AS SELECT 1;
            """)
        let run = try file.run("inspect")
        #expect(run.exitCode == 0)
        #expect(run.lines.contains("select · 1 object"))
        #expect(run.output.contains("parent → tree  to-one, optional, inverse trees"))
        #expect(run.lines.contains { $0.hasPrefix("note: lost.x") })
        #expect(!run.output.contains("v ·"))
        let query = try file.run("fetch", "select", "--where", "`a \"b\" c` == 'x'", "--format", "json")
        #expect(query.exitCode == 0, "\(query.errors)")
    }

    @Test func anEmptyFileIsADatabaseWithoutEntities() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: folder.url.appendingPathComponent("empty.sqlite"))
        let run = try Tool.run("inspect", folder.path("empty.sqlite"))
        #expect(run.exitCode == 0)
        #expect(run.output == "empty.sqlite: 0 entities, 0 objects\n")
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("empty.sqlite")).isEmpty)
    }
}
#endif
