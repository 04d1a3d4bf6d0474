#if CommandLineTool
import Testing

/// A file whose tables have the names of SQLite's table-valued functions.
@Suite struct HiddenFunctionTests {
    @Test func toolCommandsWorkOnTablesNamedLikeFunctions() throws {
        let names = [
            "json_each", "json_tree", "relata_values", "pragma_defer_foreign_keys", "pragma_foreign_key_check",
            "pragma_foreign_key_list", "pragma_index_list", "pragma_index_xinfo", "pragma_module_list",
            "pragma_schema_version", "pragma_table_list", "pragma_table_xinfo",
        ]
        let library = try SampleFile.library()
        try library.execute(names.map { "CREATE TABLE \"\($0)\" (id INTEGER PRIMARY KEY, name TEXT);" }.joined())
        let all = try library.run("inspect")
        #expect(all.exitCode == 0 && all.output.contains("pragma_table_xinfo"), "\(all.errors)")
        let fetched = try library.run("fetch", "Book", "--include", "authors", "--limit", "2")
        #expect(fetched.exitCode == 0, "\(fetched.errors)")
        let checked = try library.run("check")
        #expect(checked.exitCode == 0, "\(checked.output)\(checked.errors)")
        let deleted = try library.run("delete", "Review", "1", "--yes")
        #expect(deleted.exitCode == 0, "\(deleted.output)\(deleted.errors)")
        #expect(try library.rows("SELECT id FROM Review WHERE id = 1") == [])
    }
}
#endif
