import Relata
import RelataStories
import Testing

@Test func setlistsKeepTheirOrderAndSongsStay() async throws {
    let told = try await Told(.setlists)
    #expect(
        try told.part("Reorder while somebody watches: Long Way Home first, and Rain on Tin after it")[4...6] == [
            "3. Long Way Home is 1. now", "2. Rain on Tin comes", "1. Long Way Home is called The Long Way Home",
        ])
    let songs = "The Long Way Home, Rain on Tin, River Song, Lanterns, River Song"
    #expect(try told.part("The songs of Friday, through its items") == [songs])
    #expect(try told.part("Delete")[1...] == ["delete Friday: 5 items go with it", "songs left: 4"])

    let band = try await Setlists.open(in: told.folder)
    #expect(try await band.store.rows("SELECT name FROM Setlist") == [["Sunday"]])
    let rows = try await band.store.rows(
        "SELECT s.title, i.transposedKey FROM SetlistItem i JOIN Song s ON s.id = i.songId ORDER BY i.position")
    #expect(rows == [["Rain on Tin", nil], ["River Song", "F"]])
    let sunday = try #require(try await band.store.first(Setlist.all))
    #expect(try await band.lines(of: sunday).map(\.key) == ["E", "F"])
}
