import GRDB
import Relata

extension Workload {
    /// 10,000 books, each with a new ISBN and three new authors, in one call: 80,000 rows of four tables. The objects
    /// are new in each round, because objects that were saved before are saved in another way.
    static let saveGraph = Workload(name: "save-graph", targets: [.limit(1.3)]) { bench in
        let count = bench.count(10_000)
        return try await bench.time([
            Contestant(.ours) {
                let store = try Store.open(try bench.emptyFile("ours.sqlite", for: Book.self), for: Book.self)
                let books = NewBook.samples(count).map(\.book)
                return { try store.save(books).count }
            },
            Contestant(.limit) {
                let database = try RawDatabase(try bench.emptyFile("limit.sqlite", for: Book.self))
                let graph = NewBook.samples(count)
                return {
                    try save(graph, database)
                    return graph.count
                }
            },
            Contestant(.codable) {
                let pool = try bench.grdb(try bench.emptyFile("codable.sqlite", for: Book.self))
                let graph = NewBook.samples(count)
                return {
                    try pool.write { database in
                        for new in graph {
                            let book = new.book
                            try CodableISBN(value: new.isbn.value).insert(database)
                            try CodableBook(
                                id: book.id.uuid, title: book.title, year: book.year, isbnId: new.isbn.value
                            ).insert(database)
                            for author in new.authors {
                                try CodableAuthor(id: author.id.uuid, name: author.name).insert(database)
                                try CodableAuthorship(bookId: book.id.uuid, authorId: author.id.uuid).insert(database)
                            }
                        }
                    }
                    return graph.count
                }
            },
        ])
    }

    private static func save(_ graph: [NewBook], _ database: RawDatabase) throws {
        let insertISBN = try database.prepare("INSERT INTO ISBN (value) VALUES (?1)")
        let insertAuthor = try database.prepare("INSERT INTO Author (id, name) VALUES (?1, ?2)")
        let insertBook = try database.prepare("INSERT INTO Book (id, title, year, isbnId) VALUES (?1, ?2, ?3, ?4)")
        let relate = try database.prepare("INSERT INTO Book_authors (bookId, authorId) VALUES (?1, ?2)")
        try database.transaction {
            for new in graph {
                let book = new.book
                insertISBN.bind(new.isbn.value, 1)
                try insertISBN.run()
                insertBook.bind(book.id.uuid, 1)
                insertBook.bind(book.title, 2)
                insertBook.bind(book.year, 3)
                insertBook.bind(new.isbn.value, 4)
                try insertBook.run()
                for author in new.authors {
                    insertAuthor.bind(author.id.uuid, 1)
                    insertAuthor.bind(author.name, 2)
                    try insertAuthor.run()
                    relate.bind(book.id.uuid, 1)
                    relate.bind(author.id.uuid, 2)
                    try relate.run()
                }
            }
        }
    }
}
