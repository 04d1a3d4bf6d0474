import Relata

// A many-to-many whose join table the store keeps.

@Model struct Playlist {
    let id: Int
    var name: String
    var tracks: ToMany<Track>
}

@Model struct Track {
    let id: Int
    var title: String
    @Relationship(inverse: \Playlist.tracks) var playlists: ToMany<Playlist>
}
