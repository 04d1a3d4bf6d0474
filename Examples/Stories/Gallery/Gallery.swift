import Foundation
import Relata

/// The operations on a gallery.
public struct Gallery: Sendable {
    /// The database.
    public let store: Store

    /// Opens the gallery of a folder, `gallery.sqlite`.
    public static func open(in folder: URL) async throws -> Gallery {
        let path = folder.appendingPathComponent("gallery.sqlite").path
        return Gallery(store: try await Store.open(path, for: Artist.self))
    }

    /// The artist of a work: the link holds the key, the object is asked for.
    public func artist(of artwork: Artwork) async throws -> Artist? { try await store.fetch(artwork.artist) }

    /// The works of an artist, by a condition in text with the artist herself as its argument.
    public func artworks(of artist: Artist) async throws -> [Artwork] {
        try await store.fetch(Artwork.sorted { $0.year }.matching("artist = %@", artist))
    }

    /// The works of an artist, by her key.
    public func artworks(ofArtistNamed name: String) async throws -> [Artwork] {
        try await store.fetch(Artwork.sorted { $0.year }.matching("artist = %@", name))
    }

    /// The works of any of several artists, by their keys.
    public func artworks(ofArtistsNamed names: [String]) async throws -> [Artwork] {
        try await store.fetch(Artwork.sorted { $0.year }.matching("artist IN %@", names))
    }
}
