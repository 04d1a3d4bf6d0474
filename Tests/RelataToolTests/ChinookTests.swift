#if CommandLineTool
import Foundation
import TestSupport
import Testing

/// A real database that another program made.
@Suite(.enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"))
struct ChinookTests {
    private let original: String
    private let before: Data

    init() throws {
        original = try #require(SharedData.chinook)
        before = try Data(contentsOf: URL(fileURLWithPath: original))
    }

    private func isUnchanged() throws -> Bool { try Data(contentsOf: URL(fileURLWithPath: original)) == before }

    @Test func relationshipsHaveTheirNames() throws {
        let run = try Tool.run("inspect", original, "--format", "json")
        let json = try #require(try run.json() as? [String: Any])
        let entities = try #require(json["entities"] as? [[String: Any]])
        var names: [String: [String]] = [:]
        for entity in entities {
            let relationships = entity["relationships"] as? [[String: Any]] ?? []
            names[entity["name"] as? String ?? ""] = relationships.compactMap { $0["name"] as? String }
        }
        #expect(names["Album"] == ["artist", "tracks"])
        #expect(names["Artist"] == ["albums"])
        #expect(names["Playlist"] == ["tracks"])
        #expect(names["Employee"]?.contains("reportsTo") == true)
        #expect(names["PlaylistTrack"] == nil)
        #expect(try isUnchanged())
    }

    @Test func queriesFollowRelationships() throws {
        let run = try Tool.run(
            "fetch", original, "Album", "--where", "artist.name == \"AC/DC\" AND tracks.@count > 5", "--sort", "title",
            "--format", "csv")
        #expect(
            run.output == "albumId,title,artist\n1,For Those About To Rock We Salute You,1\n4,Let There Be Rock,1\n")
        let spelled = try Tool.run(
            "fetch", original, "ALBUM", "--where", "ArtistId.Name == 'AC/DC'", "--sort", "-AlbumId", "--format", "csv")
        #expect(spelled.lines.map { $0.prefix(2) }.dropFirst().prefix(2) == ["4,", "1,"])
        #expect(try isUnchanged())
    }

    @Test func deletingAnArtistWithAlbumsIsDenied() throws {
        let run = try Tool.run("delete", original, "Artist", "1", "--dry-run")
        #expect(run.exitCode == 1)
        #expect(run.output.contains("is linked to Artist 1 \"AC/DC\" (Artist.albums denies)"))
        #expect(try isUnchanged())
        let copy = try SampleFile(copyOf: original)
        #expect(try copy.run("delete", "Artist", "1", "--yes").exitCode == 1)
        #expect(try copy.run("delete", "Artist", "25", "--yes").exitCode == 0)
        #expect(try copy.rows("SELECT count(*) FROM Artist") == ["274"])
        #expect(try copy.run("check").exitCode == 0)
    }

    @Test func aGraphOfThousandsIsFetchedAtOnce() throws {
        let run = try Tool.run(
            "fetch", original, "Playlist", "--include", "tracks.album.artist,tracks.genre", "--format", "json")
        let playlists = try #require(try run.json() as? [[String: Any]])
        let tracks = playlists.compactMap { $0["tracks"] as? [[String: Any]] }.flatMap { $0 }
        #expect(tracks.count == 8715)
        #expect(
            tracks.allSatisfy { (($0["album"] as? [String: Any])?["artist"] as? [String: Any])?["name"] is String })
        #expect(try isUnchanged())
    }
}
#endif
