import Relata
import RelataStories
import Testing

@Test func theBookshelfRefusesInvalidBooksAndKeepsTheOthers() async throws {
    let told = try await Told(.bookshelf)
    let books = try told.part("Books; each is one save with its new ISBN")
    #expect(
        books.filter { $0.hasPrefix("!") } == [
            "! no title: a book needs a title",
            "! a year in words: the publishing year must be a whole number, not “nineteen eighty-seven”",
            "! no genre: choose a genre first",
            "! an ISBN that is taken: ISBN 978-0-575-04800-7 already belongs to “Good Omens”",
        ])
    #expect(
        try told.part("All books") == [
            "Good Omens, ISBN 978-0-575-04800-7", "The Dispossessed, ISBN 978-0-06-012563-9",
        ])

    let shelf = try await Bookshelf.open(in: told.folder)
    let rows = try await shelf.store.rows(
        """
        SELECT b.title, b.publishingYear, g.name, i.value FROM Book b
        JOIN Genre g ON g.id = b.genreId JOIN ISBN i ON i.id = b.isbnId ORDER BY b.title
        """)
    #expect(
        rows == [
            ["Good Omens", 1990, "Fantasy", "978-0-575-04800-7"],
            ["The Dispossessed", 1974, "Science fiction", "978-0-06-012563-9"],
        ])
    #expect(try await shelf.store.rows("SELECT count(*) FROM Genre") == [[2]])
    #expect(try await shelf.store.rows("SELECT count(*) FROM ISBN") == [[2]])
    #expect(try told.part("All books with everything, in one fetch")[0] == "2 books, 5 statements")
    #expect(
        try await shelf.books().map { try $0.authors.objects.map(\.name) } == [
            ["Neil Gaiman", "Terry Pratchett"], ["Ursula K. Le Guin"],
        ])
    let omens = try #require(try await shelf.store.first(Book.where { $0.title == "Good Omens" }))
    let details = try await shelf.details(of: omens)
    #expect(details.authors.map(\.name) == ["Neil Gaiman", "Terry Pratchett"])
    #expect(details.publishers.map(\.name) == ["Gollancz"])
    #expect(try await shelf.store.rows("PRAGMA integrity_check") == [["ok"]])
}

@Test func eachReasonOfTheBookshelfIsASeparateError() async throws {
    let told = try await Told(.bookshelf)
    let shelf = try await Bookshelf.open(in: told.folder)
    let fantasy = try await shelf.store.first(Genre.where { $0.name == "Fantasy" })
    await #expect(throws: BookshelfError.emptyTitle) {
        try await shelf.addBook(title: "", year: "1", genre: fantasy, isbn: "1")
    }
    await #expect(throws: BookshelfError.notAYear("1.5")) {
        try await shelf.addBook(title: "A", year: "1.5", genre: fantasy, isbn: "1")
    }
    await #expect(throws: BookshelfError.missingGenre) {
        try await shelf.addBook(title: "A", year: "1", genre: nil, isbn: "1")
    }
    await #expect(throws: BookshelfError.duplicate("genre", "Fantasy")) { try await shelf.addGenre("Fantasy") }
    #expect(try await shelf.store.count(Book.all) == 2)
}
