import Foundation
import Relata

@Model struct Note {
    let id: ID<Note>
    @Attribute(.notEmpty) var title: String
    @Attribute(.notEmpty) var text: String
    @Attribute(.updatedAt) var modificationDate: Date = .distantPast
    var images: [NoteImage] = []
    @Transient var isEditing = false
    @Relationship(deleteRule: .cascade, inverse: \Bookmark.note) var bookmarks: ToMany<Bookmark>
}

struct NoteImage: Codable, Hashable, Sendable {
    var name: String
    var x: Double
    var y: Double
}

@Model struct Bookmark {
    @Attribute(.primaryKey) var note: ToOne<Note>
    @Attribute(.primaryKey) let device: String
    var line: Int
}
