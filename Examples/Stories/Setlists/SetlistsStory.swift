import Foundation
import Relata

extension Story {
    /// Setlists of songs, ordered, with a join model: one song in many, twice in one.
    public static let setlists = Story(
        "setlists", "songs in the order of the evening, some of them twice"
    ) { transcript, folder in
        let band = try await Setlists.open(in: folder)

        transcript.part("Songs and two setlists")
        let river = Song(title: "River Song", key: "G")
        let lanterns = Song(title: "Lanterns", key: "Am")
        let home = Song(title: "Long Way Home", key: "D")
        let rain = Song(title: "Rain on Tin", key: "E")
        try await band.store.save([river, lanterns, home, rain])
        let friday = try await band.create("Friday", [(river, nil), (lanterns, "Bm"), (home, nil), (river, "A")])
        let sunday = try await band.create("Sunday", [(rain, nil), (river, "F")])
        try await list(friday, band, transcript)
        try await list(sunday, band, transcript)

        transcript.part("One song in many setlists, and twice in one")
        for song in [river, rain] {
            let names = try await band.setlists(with: song).map(\.name).joined(separator: ", ")
            transcript.say("\(song.title) is on: \(names)")
        }
        let twice = try await band.store.fetch(
            Setlist.where { list in list.items.count(where: { $0.song == river }) > 1 })
        transcript.say("twice on: \(twice.map(\.name).joined(separator: ", "))")

        transcript.part("Reorder while somebody watches: Long Way Home first, and Rain on Tin after it")
        let lines = try await band.lines(of: friday)
        var watcher = band.store.observe(band.items(of: friday)).differences.makeAsyncIterator()
        try await watch(&watcher, transcript)
        try await band.move(lines[2].item, after: nil, in: friday)
        try await watch(&watcher, transcript)
        try await band.add(rain, after: lines[2].item, to: friday)
        try await watch(&watcher, transcript)
        try await band.store.update(home.id) { $0.title = "The Long Way Home" }
        try await watch(&watcher, transcript)
        try await list(friday, band, transcript)

        transcript.part("The songs of Friday, through its items")
        transcript.say(try await band.songs(of: friday).map(\.title).joined(separator: ", "))

        transcript.part("Delete")
        try await transcript.refused("delete River Song") {
            do {
                try await band.store.delete(river)
            } catch RelataError.deleteDenied(let blockers) {
                throw StoryError(
                    "\(blockers.count) places on setlists still play it (\(blockers[0].relationship) denies)")
            }
        }
        let report = try await band.store.delete(friday)
        transcript.say("delete Friday: \(report.deletedKeys(of: "SetlistItem").count) items go with it")
        transcript.say("songs left: \(try await band.store.count(Song.all))")
        try band.store.close()
    }

    /// Waits until the list changes, and prints the difference.
    private static func watch(
        _ watcher: inout Differences<Query<SetlistItem>, SetlistItem, ID<SetlistItem>?>.Iterator,
        _ transcript: Transcript
    ) async throws {
        let change = try await watcher.next().orThrow("change")
        for place in change.inserted { transcript.say("\(place.index + 1). \(try title(place.element)) comes") }
        for move in change.moved {
            transcript.say("\(move.from + 1). \(try title(move.element)) is \(move.to + 1). now")
        }
        for update in change.updated where try title(update.old) != title(update.new) {
            transcript.say("\(update.index + 1). \(try title(update.old)) is called \(try title(update.new))")
        }
    }

    private static func title(_ item: SetlistItem) throws -> String { try item.song.object.title }

    private static func list(_ setlist: Setlist, _ band: Setlists, _ transcript: Transcript) async throws {
        transcript.say(setlist.name)
        for (index, line) in try await band.lines(of: setlist).enumerated() {
            let transposed = line.item.transposedKey == nil ? "" : ", usually in \(line.song.key)"
            transcript.say("  \(index + 1). \(line.song.title) in \(line.key)\(transposed)")
        }
    }
}
