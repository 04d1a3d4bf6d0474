import TestSupport
import Testing

@testable import RelataCore

/// The former names of tables and columns that a file remembers.
@Suite struct RenameHistoryTests {
    /// A table or a column, and its former names: the expected contents of a history.
    private struct Named {
        var name: String
        var former: [String] = []
        var columns: [Named] = []

        mutating func rename(to new: String, isRemembered: Bool) {
            former = (former + (isRemembered ? [name] : [])).filter { $0 != new }
            name = new
        }
    }

    private let names = ["a", "b", "c", "d", "e"]

    /// Renames some items, possibly to names that other items release.
    private func rename(_ things: inout [Named], _ random: inout SeededGenerator) -> [RenameHistory.Rename] {
        let chosen = things.indices.filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
        var free = names.filter { name in !things.indices.contains { !chosen.contains($0) && things[$0].name == name } }
        var renames: [RenameHistory.Rename] = []
        for index in chosen {
            let old = things[index].name
            let new = free.remove(at: Int.random(in: free.indices, using: &random))
            if new == old { continue }
            let isRemembered = Int.random(in: 0..<5, using: &random) > 0
            renames.append(
                RenameHistory.Rename(
                    old: Bool.random(using: &random) ? old : old.uppercased(), new: new, property: nil,
                    isRemembered: isRemembered))
            things[index].rename(to: new, isRemembered: isRemembered)
        }
        return renames.shuffled(using: &random)
    }

    private func description(of table: Named) -> TableDescription {
        TableDescription(
            name: table.name,
            columns: table.columns.map { ColumnDescription(name: $0.name, type: "text", isRequired: false) },
            primaryKey: [])
    }

    /// The present names of the things that had a name.
    private func holders(of name: String, in things: [Named]) -> [String] {
        things.filter { $0.former.map { $0.lowercased() }.contains(name) }.map { $0.name.lowercased() }.sorted()
    }

    private func holders(of name: String, in table: String?, _ history: RenameHistory) -> [String] {
        history.entries(formerly: name, in: table).filter { $0.isMoved != true }.map { $0.name.lowercased() }.sorted()
    }

    @Test(arguments: UInt64(1)...60) func renamedItemsAreFoundByEachFormerName(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var tables = ["a", "b", "c"].map { Named(name: $0, columns: [Named(name: "a"), Named(name: "b")]) }
        // Table 2 took over the values of a column of table 0.
        var moved: (from: Int, to: Int)? = (0, 2)
        var history = RenameHistory()
        history.note(["old"], of: "a", movedTo: "c", property: "links")
        for _ in 0..<12 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: history.note(rename(&tables, &random))
            case 2, 3:
                let index = Int.random(in: tables.indices, using: &random)
                history.note(rename(&tables[index].columns, &random), in: tables[index].name)
            default:
                if Bool.random(using: &random), tables.count > 1 {
                    let index = Int.random(in: tables.indices, using: &random)
                    tables.remove(at: index)
                    if let (from, to) = moved {
                        moved =
                            from == index || to == index
                            ? nil : (from - (from > index ? 1 : 0), to - (to > index ? 1 : 0))
                    }
                } else if let index = tables.indices.randomElement(using: &random), tables[index].columns.count > 1 {
                    tables[index].columns.removeLast()
                }
                history = history.pruned(to: tables.map(description))
            }
            for name in names {
                #expect(holders(of: name, in: nil, history) == holders(of: name, in: tables), "seed \(seed)")
                for table in tables {
                    let expected = holders(of: name, in: table.columns)
                    #expect(holders(of: name, in: table.name, history) == expected, "seed \(seed)")
                    for column in table.columns {
                        let isKnown = column.former.contains { $0.lowercased() == name }
                        #expect(history.knows(name, column.name, in: table.name) == isKnown, "seed \(seed)")
                    }
                }
            }
            for (index, table) in tables.enumerated() {
                let there = history.entries(formerly: "OLD", in: table.name).filter { $0.isMoved == true }.map(\.name)
                #expect(there == (moved?.from == index ? moved.map { [tables[$0.to].name] } : []), "seed \(seed)")
            }
        }
    }

    @Test func modelsDeclareTheFormerNamesOfTheirTablesColumnsAndLists() throws {
        let history = RenameHistory(
            declaredBy: try Schema([
                Entity(
                    name: "Song", originalTable: "Track",
                    properties: [
                        .id(), .attribute(Attribute("title", type: .text, originalName: "label")),
                        .toOne("record", "Record", originalName: "album"), .toOne("other", "Record"),
                        .manyToMany("tags", "Tag"),
                    ]),
                Entity(
                    name: "Record",
                    properties: [
                        .text("artist"), .text("title"), .manyToMany("genres", "Tag", originalName: "kinds"),
                        .manyToMany("moods", "Tag", names: JoinTableNames(table: "feelings")),
                    ], key: ["artist", "title"]),
                Entity(name: "Tag", properties: [.id()]),
            ]))
        let lines = history.entries.map {
            "\($0.table ?? "") \($0.name): \($0.formerNames.joined(separator: " ")) \($0.isMoved == true ? "moved" : "")"
        }
        #expect(
            lines.sorted() == [
                " Record_genres: Record_kinds ", " Song: Track ", " Song_tags: Track_tags ",
                "Record Record_genres: kindsId moved", "Song recordArtist: albumArtist ",
                "Song recordTitle: albumTitle ", "Song title: label ",
            ])
    }
}
