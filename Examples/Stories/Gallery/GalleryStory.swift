import Foundation
import Relata

extension Story {
    /// Artists, works and collections with names as keys: references, batches, several owners, dangling references.
    public static let gallery = Story(
        "gallery", "artists, artworks and collections, with names as keys"
    ) { transcript, folder in
        let gallery = try await Gallery.open(in: folder)
        try await saveInWrongOrder(gallery, transcript)
        try await followReferences(gallery, transcript)
        try await fetchByKeys(gallery, transcript)
        try await saveEachByItself(gallery, transcript)
        try await deleteOwners(gallery, transcript)
        try gallery.store.close()
        try await dangle(in: folder, transcript)
    }

    private static func saveInWrongOrder(_ gallery: Gallery, _ transcript: Transcript) async throws {
        transcript.part("One batch, in the wrong order: works and comments come before what they refer to")
        try await gallery.store.save([
            Comment(text: "I could look at it for hours.", artwork: ToOne(id: "Dawn over Suzhou")),
            Artwork(
                title: "Dawn over Suzhou", year: 1998, artist: ToOne(id: "Mei Chen"),
                collection: ToOne(id: "City Museum")),
            Artwork(title: "Paper Lanterns", year: 2004, artist: ToOne(id: "Mei Chen")),
            Artwork(
                title: "Harbour", year: 1987, artist: ToOne(id: "Jonas Berg"), collection: ToOne(id: "City Museum")),
            Collection(name: "City Museum"),
            Artist(name: "Jonas Berg", country: "Norway"),
            Artist(name: "Mei Chen", country: "China"),
        ])
        let counts = try await gallery.store.read { tx in
            [
                try tx.count(Artist.all), try tx.count(Artwork.all), try tx.count(Collection.all),
                try tx.count(Comment.all),
            ]
        }
        transcript.say(
            "stored: \(counts[0]) artists, \(counts[1]) artworks, \(counts[2]) collection, \(counts[3]) comment")
    }

    private static func followReferences(_ gallery: Gallery, _ transcript: Transcript) async throws {
        transcript.part("A reference is a key; the object behind it is asked for")
        let dawn = try await gallery.store.fetch(Artwork.self, id: "Dawn over Suzhou").orThrow("Dawn over Suzhou")
        transcript.say("Dawn over Suzhou refers to artist “\(dawn.artist.id ?? "")”, loaded: \(dawn.artist.isLoaded)")
        let mei = try await gallery.artist(of: dawn).orThrow("Mei Chen")
        transcript.say("fetched by that key: \(mei.name), \(mei.country ?? "")")
        transcript.say("artist = %@ with the artist: " + titles(try await gallery.artworks(of: mei)))
        transcript.say("artist = %@ with a key: " + titles(try await gallery.artworks(ofArtistNamed: "Jonas Berg")))
        transcript.say(
            "artist IN %@ with two names: "
                + titles(try await gallery.artworks(ofArtistsNamed: ["Mei Chen", "Jonas Berg"])))
    }

    private static func fetchByKeys(_ gallery: Gallery, _ transcript: Transcript) async throws {
        transcript.part("Five keys of two types; one isn't there")
        let results = try await gallery.store.fetch(ids: [
            ObjectKey(Artist.self, "Mei Chen"), ObjectKey(Artwork.self, "Harbour"),
            ObjectKey(Artist.self, "Amara Diallo"), ObjectKey(Artwork.self, "Paper Lanterns"),
            ObjectKey(Artist.self, "Jonas Berg"),
        ])
        for result in results { transcript.say(describe(result)) }
        let missing = results.filter { (try? $0.result.get()) == nil }.map(\.key)
        try await gallery.store.save(Artist(name: "Amara Diallo", country: "Senegal"))
        transcript.say("Amara Diallo is saved; once more for what was missing:")
        for result in try await gallery.store.fetch(ids: missing) { transcript.say(describe(result)) }
    }

    private static func describe(_ result: ObjectResult) -> String {
        switch result.result {
        case .success: "✓ \(result.key)"
        case .failure(let error): "! \(error)"
        }
    }

    private static func saveEachByItself(_ gallery: Gallery, _ transcript: Transcript) async throws {
        transcript.part("Each object by itself: one fails, what needs it fails with it, the others are saved")
        let objects: [any Model] = [
            Artwork(title: "Baobab", year: 2011, artist: ToOne(id: "Amara Diallo")),
            Artwork(title: "The Future", year: 3000, artist: ToOne(id: "Amara Diallo")),
            Comment(text: "Too early to say.", artwork: ToOne(id: "The Future")),
            Comment(text: "You can feel the heat.", artwork: ToOne(id: "Baobab")),
        ]
        let results = try await gallery.store.saveEach(objects)
        for (object, result) in zip(objects, results) {
            let name = (object as? Artwork)?.title ?? (object as? Comment).map { "comment “\($0.text)”" } ?? ""
            switch result {
            case .success: transcript.say("✓ \(name)")
            case .failure(let error): transcript.say("! \(name): \(error)")
            }
        }
    }

    private static func deleteOwners(_ gallery: Gallery, _ transcript: Transcript) async throws {
        let store = gallery.store
        transcript.part("An artist goes, with her works and what hangs on them")
        let amara = try await store.fetch(Artist.self, id: "Amara Diallo").orThrow("Amara Diallo")
        transcript.report("plan", try await store.deletionPlan(for: amara))
        transcript.report("done", try await store.delete(amara))

        transcript.part("A work with two owners goes with the first one that goes")
        transcript.report("City Museum closes", try await store.delete(Collection.self, id: "City Museum"))
        transcript.say(
            "works of Mei Chen now: " + titles(try await store.fetch(Artwork.where { $0.artist == "Mei Chen" })))
        transcript.report("Jonas Berg, whose only work is gone", try await store.delete(Artist.self, id: "Jonas Berg"))
        try await transcript.rows("left in Artist", "SELECT name, country FROM Artist", in: store)
        try await transcript.rows("left in Artwork", "SELECT title, year, artistId FROM Artwork", in: store)
    }

    private static func dangle(in folder: URL, _ transcript: Transcript) async throws {
        transcript.part("The same model, but the reference may dangle (no action)")
        let path = folder.appendingPathComponent("loose-gallery.sqlite").path
        let store = try await Store.open(path, for: LooseGallery.Artwork.self)
        let mei = LooseGallery.Artist(name: "Mei Chen", country: "China")
        try await store.save(LooseGallery.Artwork(title: "Paper Lanterns", year: 2004, artist: ToOne(mei)))
        transcript.report("delete Mei Chen", try await store.delete(mei))
        let lanterns = try await store.fetch(LooseGallery.Artwork.self, id: "Paper Lanterns").orThrow("Paper Lanterns")
        transcript.say("Paper Lanterns still refers to “\(lanterns.artist.id ?? "")”")
        transcript.say("who is there: \(try await store.fetch(lanterns.artist)?.name ?? "nobody")")
        try store.close()
    }

    private static func titles(_ artworks: [Artwork]) -> String { artworks.map(\.title).joined(separator: ", ") }
}
