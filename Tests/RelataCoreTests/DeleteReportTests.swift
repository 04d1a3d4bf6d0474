import Foundation
import RelataCore
import Testing

@Suite struct DeletionReportTests {
    @Test func keysOfAnyWidthAreACollection() {
        let single = KeyList([KeyValue(3), KeyValue(1), KeyValue(2)])
        #expect(single.count == 3)
        #expect(single[1] == KeyValue(1))
        #expect(single.sorted() == [KeyValue(1), KeyValue(2), KeyValue(3)])
        let double = KeyList([KeyValue(["b", 1]), KeyValue(["a", 10]), KeyValue(["a", 9])])
        #expect(double.width == 2)
        #expect(double.sorted().map(\.description) == ["(a, 9)", "(a, 10)", "(b, 1)"])
        #expect(double.parameter == .keys(Array(double)))
        #expect(single.parameter == .list([3, 1, 2]))
        #expect(KeyList(width: 2).isEmpty)
    }

    @Test func keysOfAllKindsHaveAnOrder() {
        let low = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
        let high = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))
        let values: [Value] = [
            .uuid(high), .blob(Data([1, 2])), "a", .real(1.5), .integer(2), nil, .blob(Data([1])), .uuid(low), "A", 1,
        ]
        let sorted = KeyList(values.map { KeyValue($0) }).sorted().map(\.values[0])
        #expect(
            sorted == [
                nil, 1, .real(1.5), .integer(2), "A", "a", .blob(Data([1])), .blob(Data([1, 2])), .uuid(low),
                .uuid(high),
            ])
    }

    @Test func aReportReadsAsATree() {
        let keys = { (count: Int64) in KeyList((1...count).map { KeyValue(.integer($0)) }) }
        let report = DeletionReport(
            entity: "Artist",
            deleted: [
                DeletedObjects(entity: "Track", keys: keys(18)), DeletedObjects(entity: "Album", keys: keys(2)),
                DeletedObjects(entity: "Letter", keys: keys(3)), DeletedObjects(entity: "Artist", keys: keys(1)),
            ],
            nullified: [NullifiedLinks(entity: "Playlist", property: "cover", keys: keys(1))],
            removedJoinRows: [RemovedJoinRows(relationship: "Playlist.tracks", sources: keys(7), targets: keys(7))],
            blockers: [
                Blocker(
                    object: ObjectReference(entity: "Sale", key: KeyValue(5)), relationship: "Track.sales",
                    blocked: ObjectReference(entity: "Track", key: KeyValue(2)))
            ],
            cascades: [
                CascadePath(from: "Artist", relationship: "Artist.albums", to: "Album"),
                CascadePath(from: "Artist", relationship: "Artist.letters", to: "Letter"),
                CascadePath(from: "Album", relationship: "Album.tracks", to: "Track"),
                CascadePath(from: "Track", relationship: "Track.remixes", to: "Track"),
                CascadePath(from: "Track", relationship: "Track.album", to: "Album"),
            ])
        #expect(
            report.description == """
                Artist: 1 object (1)
                ├─ Artist.albums → Album: 2 objects (1, 2)
                │  └─ Album.tracks → Track: 18 objects (1, 2, 3, 4, 5, …)
                └─ Artist.letters → Letter: 3 objects (1, 2, 3)
                unset: Playlist.cover of 1 object (1)
                join rows removed: Playlist.tracks, 7 rows
                denied: nothing is deleted while
                  Sale 5 is linked to Track 2 (Track.sales denies)
                """)
        #expect(report.lines(showing: 0)[1] == "├─ Artist.albums → Album: 2 objects")
        #expect(DeletionReport(entity: "Artist").description == "Artist: nothing to delete")
    }
}
