import RelataCore
import Testing

/// Whether a write to a part of a database concerns the readers of another.
@Suite struct TableRegionTests {
    private func region(_ columns: KeyValuePairs<String, String?>, rows: [String] = []) -> TableRegion {
        var region = TableRegion()
        for (table, column) in columns { region.add(table: table, column: column) }
        for table in rows { region.add(rowsOf: table) }
        return region
    }

    @Test func sharedColumnsAffectAReader() {
        let read = region(["a": "x", "a": "y", "b": nil])
        #expect(read.isAffected(by: region(["a": "y"])))
        #expect(!read.isAffected(by: region(["a": "z"])))
        #expect(!read.isAffected(by: region(["c": "x"])))
        #expect(read.isAffected(by: region([:], rows: ["a"])))
        // A count depends on the rows, but on no column.
        #expect(!read.isAffected(by: region(["b": "x"])))
        #expect(read.isAffected(by: region([:], rows: ["b"])))
    }

    @Test func wholeRowsIncludeEveryColumn() {
        var read = region(["a": "x"], rows: ["a"])
        read.add(table: "a", column: "y")
        #expect(read.tables == ["a": .rows])
        #expect(read.isAffected(by: region(["a": "z"])))
    }

    @Test func anyWriteAffectsEverything() {
        #expect(TableRegion.everything.isAffected(by: region(["a": "x"])))
        #expect(TableRegion.everything.isAffected(byTable: "a", .columns(["x"])))
        #expect(!TableRegion.everything.isAffected(by: TableRegion()))
        #expect(region(["a": "x"]).isAffected(by: .everything))
        #expect(!TableRegion().isAffected(by: .everything))
        #expect(TableRegion().isEmpty && !TableRegion.everything.isEmpty && !region(["a": nil]).isEmpty)
        #expect(!TableRegion().isAffected(by: region(["a": "x"])))
    }

    @Test func aUnionHoldsBoth() {
        var union = region(["a": "x", "b": nil])
        union.formUnion(region(["a": "y", "c": nil], rows: ["b"]))
        #expect(union.tables == ["a": .columns(["x", "y"]), "b": .rows, "c": .columns([])])
        #expect(!union.isEverything)
        union.formUnion(.everything)
        #expect(union.isEverything)
    }
}
