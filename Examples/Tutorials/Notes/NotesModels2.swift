import Foundation
import Relata

@Model struct Note {
    let id: ID<Note>
    @Attribute(.notEmpty) var title: String
    @Attribute(.notEmpty) var text: String
    @Attribute(.updatedAt) var modificationDate: Date = .distantPast
    var images: [NoteImage] = []
}

struct NoteImage: Codable, Hashable, Sendable {
    var name: String
    var x: Double
    var y: Double
}
