import Foundation
import Relata

/// The operations on a bookshelf.
public struct Bookshelf: Sendable {
    /// The database.
    public let store: Store

    /// Opens the bookshelf of a folder, `bookshelf.sqlite`.
    public static func open(in folder: URL, options: Store.Options = Store.Options()) async throws -> Bookshelf {
        let path = folder.appendingPathComponent("bookshelf.sqlite").path
        return Bookshelf(store: try await Store.open(path, for: Book.self, options: options))
    }

    /// Adds a genre.
    ///
    /// - Throws: ``BookshelfError/duplicate(_:_:)``.
    @discardableResult
    public func addGenre(_ name: String) async throws -> Genre {
        try await add(Genre(name: name), unless: Genre.where { $0.name == name }, name)
    }

    /// Adds an author.
    ///
    /// - Throws: ``BookshelfError/duplicate(_:_:)``.
    @discardableResult
    public func addAuthor(_ name: String) async throws -> Author {
        try await add(Author(name: name), unless: Author.where { $0.name == name }, name)
    }

    /// Adds a publisher.
    ///
    /// - Throws: ``BookshelfError/duplicate(_:_:)``.
    @discardableResult
    public func addPublisher(_ name: String) async throws -> Publisher {
        try await add(Publisher(name: name), unless: Publisher.where { $0.name == name }, name)
    }

    /// Asks and inserts in one transaction, so that nobody can add the same in between.
    private func add<M: Model>(_ object: M, unless duplicates: Query<M>, _ name: String) async throws -> M {
        try await store.write { tx in
            if try tx.exists(duplicates) { throw BookshelfError.duplicate(M.entityName.lowercased(), name) }
            return try tx.insert(object)
        }
    }

    /// Adds a book from the fields of a form: the year is still text, and the genre may not be chosen yet.
    ///
    /// - Returns: The book. Its new ISBN was written by the same save.
    /// - Throws: A ``BookshelfError`` for the first thing that is wrong.
    @discardableResult
    public func addBook(title: String, year: String, genre: Genre?, isbn: String) async throws -> Book {
        guard !title.trimmingCharacters(in: .whitespaces).isEmpty else { throw BookshelfError.emptyTitle }
        guard let publishingYear = Int(year) else { throw BookshelfError.notAYear(year) }
        guard let genre else { throw BookshelfError.missingGenre }
        return try await store.write { tx in
            if let owner = try tx.first(Book.where { $0.isbn.value == isbn }) {
                throw BookshelfError.isbnExists(isbn, owner: owner.title)
            }
            return try tx.insert(
                Book(
                    title: title, publishingYear: publishingYear, genre: ToOne(genre), isbn: ToOne(ISBN(value: isbn))))
        }
    }

    /// Relates authors and publishers to a book. To relate one that is there already changes nothing.
    public func relate(_ book: Book, authors: [Author] = [], publishers: [Publisher] = []) async throws {
        try await store.update(book.id) {
            $0.authors.add(authors)
            $0.publishers.add(publishers)
        }
    }

    /// Each book's title and ISBN, in one statement.
    public func titlesWithISBN() async throws -> [(title: String, isbn: String)] {
        try await store.fetch(Book.sorted { $0.title }.select { ($0.title, $0.isbn.value) }).map { ($0.0, $0.1) }
    }

    /// All books by title, each with its genre, ISBN, authors and publishers: one statement for each of these,
    /// regardless of the number of books.
    public func books() async throws -> [Book] {
        try await store.fetch(
            Book.sorted { $0.title }.including {
                $0.genre
                $0.isbn
                $0.authors.sorted { $0.name }
                $0.publishers.sorted { $0.name }
            })
    }

    /// A book with all that is related to it.
    public func details(of book: Book) async throws -> BookDetails {
        try await store.read { tx in
            BookDetails(
                book: book,
                genre: try tx.related(to: book) { $0.genre },
                isbn: try tx.related(to: book) { $0.isbn },
                authors: try tx.fetch(book.related { $0.authors }.sorted { $0.name }),
                publishers: try tx.fetch(book.related { $0.publishers }.sorted { $0.name }))
        }
    }
}

/// A book with all that is related to it, all of one moment.
public struct BookDetails: Sendable {
    /// The book.
    public let book: Book
    /// Its genre.
    public let genre: Genre?
    /// Its number.
    public let isbn: ISBN?
    /// Its authors, by name.
    public let authors: [Author]
    /// Its publishers, by name.
    public let publishers: [Publisher]
}

/// The reason why the bookshelf refuses something.
public enum BookshelfError: Error, Equatable, CustomStringConvertible {
    case duplicate(String, String)
    case emptyTitle
    case notAYear(String)
    case missingGenre
    case isbnExists(String, owner: String)

    public var description: String {
        switch self {
        case .duplicate(let kind, let name):
            "there is already \("aeiou".contains(kind.prefix(1)) ? "an" : "a") \(kind) called \(name)"
        case .emptyTitle: "a book needs a title"
        case .notAYear(let text): "the publishing year must be a whole number, not “\(text)”"
        case .missingGenre: "choose a genre first"
        case .isbnExists(let isbn, let owner): "ISBN \(isbn) already belongs to “\(owner)”"
        }
    }
}
