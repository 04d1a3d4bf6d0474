#if CommandLineTool
import RelataEngine
import Testing

/// Keys that are stored as other types than their columns', in files of other programs.
@Suite struct StoredKeyTests {
    private static func file() throws -> SampleFile {
        try SampleFile(
            """
            CREATE TABLE a (id INT PRIMARY KEY, n INTEGER);
            CREATE TABLE b (id PRIMARY KEY, n INTEGER);
            CREATE TABLE c (id INTEGER PRIMARY KEY, a INT REFERENCES a, b REFERENCES b);
            INSERT INTO a VALUES ('abc', 1), (1.5, 2), (7, 3);
            INSERT INTO b VALUES (1, 1), ('2', 2), (x'00ff', 3), (2.5, 4);
            INSERT INTO c SELECT n, id, NULL FROM a UNION ALL SELECT n + 10, NULL, id FROM b;
            """)
    }

    @Test(arguments: [
        ("a", "id == 'abc'", 1), ("a", "id == 1.5", 2), ("a", "id == '1.5'", 2), ("a", "id == 7", 3),
        ("a", "id == '7'", 3), ("a", "id IN {'abc'}", 1), ("a", "SELF == 'abc'", 1),
        ("b", "id == 1", 1), ("b", "id == '1'", 1), ("b", "id == 2", 2), ("b", "id == '2'", 2),
        ("b", "id == \"x'00ff'\"", 3), ("b", "id == 2.5", 4), ("b", "SELF == 1", 1), ("b", "id IN {'1'}", 1),
        ("c", "a == 'abc'", 1), ("c", "a == 1.5", 2), ("c", "a.id == 'abc'", 1), ("c", "b == 1", 11),
        ("c", "b == '2'", 12),
    ]) func aConditionFindsTheOneRowOfAKey(entity: String, condition: String, number: Int) throws {
        let run = try Self.file().run("fetch", entity, "--where", condition, "--format", "csv")
        #expect(run.exitCode == 0, "\(run.errors)")
        let rows = run.lines.dropFirst().filter { !$0.isEmpty }.map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        #expect(rows.count == 1, "\(run.output)")
        #expect(rows.first?[entity == "c" ? 0 : 1] == "\(number)", "\(run.output)")
    }

    @Test func negatedConditionsExcludeOneRow() throws {
        let file = try Self.file()
        for (entity, condition, count) in [("a", "id != 'abc'", 2), ("b", "id != 1", 3), ("b", "id > 1", 3)] {
            let run = try file.run("fetch", entity, "--where", condition, "--format", "csv")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.lines.dropFirst().filter { !$0.isEmpty }.count == count, "\(condition): \(run.output)")
        }
    }

    @Test func eachKeyIsDeletedSeparately() throws {
        for (entity, key) in [
            ("a", "abc"), ("a", "1.5"), ("a", "7"), ("b", "1"), ("b", "2"), ("b", "x'00ff'"), ("b", "2.5"),
        ] {
            let file = try Self.file()
            let count = entity == "a" ? 3 : 4
            try file.execute("DELETE FROM c")
            let run = try file.run("delete", entity, key, "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasSuffix("deleted 1 object: 1 \(entity)\n"), "\(run.output)")
            #expect(try file.rows("SELECT count(*) FROM \(entity)") == ["\(count - 1)"])
        }
    }
}
#endif
