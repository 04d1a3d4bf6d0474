import Foundation
import Relata

// The models that most tests share.

@Model struct Genre {
    let id: ID<Genre>
    @Attribute(.unique, .notEmpty) var name: String
    @Relationship(deleteRule: .nullify, inverse: \Book.genre) var books: ToMany<Book>
}

@Model struct ISBN {
    @Attribute(.primaryKey) let value: String
    @Relationship(inverse: \Book.isbn) var book: HasOne<Book>
}

@Model struct Author {
    let id: ID<Author>
    @Attribute(.notEmpty) var name: String
    @Relationship(inverse: \Book.authors) var books: ToMany<Book>
}

@Model struct Book {
    let id: ID<Book>
    @Attribute(.notEmpty) var title: String
    var year: Int = 2000
    var price: Double?
    var genre: ToOne<Genre>?
    var isbn: ToOne<ISBN>?
    @Relationship(ordered: true) var authors: ToMany<Author>
    @Transient var isSelected = false
}

@Model struct Series {
    var id: Int?
    var title: String
    @Relationship(deleteRule: .cascade, inverse: \Episode.series, order: \Episode.position)
    var episodes: ToMany<Episode>
}

@Model struct Episode {
    var id: Int?
    var title: String
    var position: Int = 0
    var series: ToOne<Series>
    @Relationship(inverse: \History.episode) var history: HasOne<History>
}

@Model struct History {
    var id: Int?
    var progress: Double
    var episode: ToOne<Episode>?
}

@Model struct Folder {
    let id: ID<Folder>
    var name: String
    var parent: ToOne<Folder>?
    @Relationship(deleteRule: .cascade, inverse: \Folder.parent) var children: ToMany<Folder>
}

extension Series {
    /// A store with three series. The rows of their episodes are in another order than their positions.
    static func three(_ engine: Engine, options: Store.Options) throws -> Store {
        let store = try TestStore.make(engine, for: Series.self, options: options)
        for number in 1...3 { try store.insert(Series(id: number, title: "S\(number)")) }
        for number in 0..<12 {
            let episode = try store.insert(
                Episode(title: "E\(number)", position: -number, series: ToOne(id: number % 3 + 1)))
            if number % 4 == 0 {
                try store.insert(History(progress: Double(number), episode: ToOne(id: episode.id ?? 0)))
            }
        }
        return store
    }
}
