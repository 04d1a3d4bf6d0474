import Foundation
import Relata

// A graph that is saved in one call: each book with a new ISBN and three new authors.

@Model struct Book {
    let id: ID<Book>
    var title: String
    var year: Int
    var isbn: ToOne<ISBN>
    var authors: ToMany<Author>
}

@Model struct ISBN {
    @Attribute(.primaryKey) let value: String
    @Relationship(inverse: \Book.isbn) var book: HasOne<Book>
}

@Model struct Author {
    let id: ID<Author>
    var name: String
    @Relationship(inverse: \Book.authors) var books: ToMany<Book>
}

/// A new book with the objects that it links to. An author of hand-written rows knows them, and needn't read them from
/// the links.
struct NewBook {
    let book: Book
    let isbn: ISBN
    let authors: [Author]

    /// A new book for each number; nothing of it is stored yet.
    static func samples(_ count: Int) -> [NewBook] {
        (1...count).map { number in
            let isbn = ISBN(value: "978-0-00-\(100_000 + number)")
            let authors = (1...3).map { Author(name: "Author \($0) of book \(number)") }
            var book = Book(
                title: "The wonderful adventures, part \(number)", year: 1900 + number % 120, isbn: ToOne(isbn))
            book.authors.add(authors)
            return NewBook(book: book, isbn: isbn, authors: authors)
        }
    }
}
