import Relata

/// A setlist as a page shows it: its items in order, each with its song.
@Shape(of: Setlist.self) struct SetlistPage {
    var name: String
    var items: [Item]

    @Shape(of: SetlistItem.self) struct Item {
        var transposedKey: String
        var song: Piece

        @Shape(of: Song.self) struct Piece {
            var title: String
            var length: Int
        }
    }
}

/// A writer with the number of novels.
@Shape(of: Writer.self) struct WriterOutput {
    var name: String
    @Count(\.novels) var novelCount: Int
}
