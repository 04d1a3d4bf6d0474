import Foundation
import Relata

/// A note, with pictures.
@Model public struct Note {
    @Attribute(.primaryKey) public var noteID: Int?
    @Attribute(.notEmpty) public var title: String
    @Attribute(.notEmpty) public var text: String
    public var textColor: String = "#1c1c1e"
    public var fontName: String = "Georgia"
    public var fontSize: Double = 16
    public var creationDate: Date
    public var modificationDate: Date
    public var images: [NoteImage] = []
    /// Whether the note is being edited at the moment; not stored.
    @Transient public var isEditing = false
    @Relationship(deleteRule: .cascade, inverse: \Bookmark.note) public var bookmarks: ToMany<Bookmark>
}

/// A picture in a note: the name of its file, and its place. Stored inside the note, as JSON.
public struct NoteImage: Codable, Hashable, Sendable {
    /// The file's name in the folder of images.
    public var name: String
    /// Its place on the page.
    public var frame: Frame

    /// A picture at a place.
    public init(name: String, frame: Frame) {
        self.name = name
        self.frame = frame
    }

    /// A rectangle on the page.
    public struct Frame: Codable, Hashable, Sendable {
        public var x: Double
        public var y: Double
        public var width: Double
        public var height: Double

        public init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }
}

/// The place up to which a note was read on a device. Its key has two columns: there is one bookmark for each note and
/// device.
@Model public struct Bookmark {
    @Attribute(.primaryKey) public var note: ToOne<Note>
    @Attribute(.primaryKey) public let device: String
    public var line: Int
}
