import Foundation
import Relata

// Shapes of the models that tests share, with every kind of part.

@Shape(of: Setlist.self) struct SetlistTunes: Codable {
    var name: String
    var items: [Item]
    @Count(\.items) var itemCount: Int

    /// An item of a setlist, with its song and its remarks.
    @Shape(of: SetlistItem.self) struct Item: Codable {
        var position: Int
        var transposedKey: String?
        var tune: TuneName
    }

    @Shape(of: Tune.self) struct TuneName: Codable { var name: String }
    var title: String { name.uppercased() }
    static let kind = "setlist"
}

/// To-ones that rows share, and one with other properties.
@Shape(of: SetlistItem.self) struct ItemTargets {
    var tune: SetlistTunes.TuneName
    @From(\.tune.name) var tuneName: String
    var setlist: Name
    @Shape(of: Setlist.self) struct Name { var name: String }
}

@Shape(of: Setlist.self) struct TunesOfSetlist {
    @Root var setlist: Setlist
    var tunes: [Tune]
}

@Shape(of: Setlist.self) struct SetlistHalves {
    @From(\.items) var itemsInOrder: [SetlistTunes.Item]
    var transposed: [SetlistItem]
    static let transposed = from { $0.items.where { $0.transposedKey != nil } }
    var lastTwo: [SetlistTunes.Item]
    static let lastTwo = from { $0.items.sorted { $0.position.descending }.limit(2) }
    @First(\.items) var opener: SetlistTunes.Item?
    var closer: SetlistItem?
    static let closer = from { $0.items.sorted { $0.position.descending }.first }
}

@Shape(of: Book.self) struct BookCard {
    @Root var book: Book
    var genre: Genre?
    @From(\.genre.name) var genreName: String?
    @From(\.genre) var genreKey: Genre.ID?
    var isbn: Number?
    var authors: [Writer]
    var nextYear: Int
    static let nextYear = from { $0.year + 1 }
    var isModern: Bool
    static let isModern = from { $0.year >= 1950 }
    @Transient var isSelected = false

    @Shape(of: ISBN.self) struct Number { var value: String }
    @Shape(of: Author.self) struct Writer {
        var name: String
        @Count(\.books) var bookCount: Int
    }
}

@Shape(of: Genre.self) struct GenreFigures {
    var name: String
    @Count(\.books) var count: Int
    @Exists(\.books) var isUsed: Bool
    @Minimum(\.books.year) var first: Int?
    @Maximum(\.books.year) var last: Int?
    @Sum(\.books.year) var sum: Int
    @Average(\.books.year) var average: Double?
    @Count(\.books.authors) var authorCount: Int
    var unpriced: Int
    static let unpriced = from { $0.books.count { $0.price == nil } }
}

/// A shape whose lists are those of an object at the end of a to-one.
@Shape(of: Book.self) struct BookNeighbours {
    var title: String
    var genre: GenreBooks?
    @From(\.genre.books) var sameGenre: [Title]
    var authors: [Writer]
    /// Attributes after lists, whose keys are in the row too.
    var year: Int
    @From(\.genre.name) var genreName: String?

    @Shape(of: Genre.self) struct GenreBooks {
        var name: String
        var books: [Title]
    }
    @Shape(of: Book.self) struct Title { var title: String }
    @Shape(of: Author.self) struct Writer {
        var name: String
        var books: [Title]
    }
}

@Shape(of: Folder.self) struct FolderTree {
    var name: String
    var children: [FolderTree]
    static let children = from { $0.children.sorted { $0.name } }
}

@Shape(of: Person.self) struct PersonCircle {
    var name: String
    var boss: Name?
    var followers: [Name]
    var favourites: [Name]
    @Shape(of: Person.self) struct Name { var name: String }
}

@Shape(of: Episode.self) struct EpisodeCard {
    var id: Int?
    var title: String
    @From(\.series.title) var series: String
    var history: Progress?
    @Shape(of: History.self) struct Progress { var progress: Double }
}

enum Mood: String, Sendable { case glad, sad }
struct Mark: Codable, Hashable, Sendable { var text: String }

@Model struct Diary {
    @Attribute(.primaryKey) let day: Int
    @Attribute(.primaryKey) let part: String
    var mood: Mood?
    var marks: [Mark]
    var written: Date
    @Attribute(.seconds) var read: Date?
    @Attribute(.iso8601) var printed: Date
    @Attribute(.text) var code: UUID
    var price: Decimal
    var picture: Data
    @Relationship(inverse: \DiaryNote.diary) var notes: ToMany<DiaryNote>
}

@Model struct DiaryNote {
    var id: Int?
    var n: Int
    @Relationship(onTargetDelete: .noAction) var diary: ToOne<Diary>?
}

@Shape(of: Diary.self) private struct DiaryPage {
    var mood: Mood?
    var marks: [Mark]
    var written: Date
    var read: Date?
    var printed: Date
    var code: UUID
    var price: Decimal
    var picture: Data
    fileprivate var notes: [Note]
    fileprivate static let notes = from { $0.notes.sorted { $0.n.descending }.limit(1) }
    var numbers: [Int] { notes.map(\.n) }
    @Shape(of: DiaryNote.self) fileprivate struct Note { var n: Int }
}

@Shape(of: DiaryNote.self) struct NoteOfDiary {
    var n: Int
    var diary: Diary?
    @From(\.diary.price) var price: Decimal?
}

@Shape(of: DiaryNote.self) struct StrictNote { var diary: Diary }

/// The values of the private shape, for tests in other files.
func diaryPages(_ store: Store) throws -> [[String]] {
    try store.fetch(DiaryPage.all).map { page in
        var words = ["\(page.id.day)\(page.id.part)", page.mood?.rawValue ?? "", page.marks.map(\.text).joined()]
        words.append("\(page.written.timeIntervalSince1970)")
        words.append("\(page.read?.timeIntervalSince1970 ?? 0)")
        words.append("\(page.printed.timeIntervalSince1970)")
        words += [page.code.uuidString, "\(page.price)", "\(page.picture.count)", "\(page.numbers)"]
        return words
    }
}
