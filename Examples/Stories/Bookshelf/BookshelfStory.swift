import Relata

extension Story {
    /// Books with a genre, an ISBN, authors and publishers; refused changes, and the statements of one save.
    public static let bookshelf = Story(
        "bookshelf", "books with their genre, ISBN, authors and publishers"
    ) { transcript, folder in
        let queries = QueryCounter()
        let shelf = try await Bookshelf.open(in: folder, options: queries.options)

        transcript.part("Genres, publishers and authors; a query finds what is there already")
        let scienceFiction = try await shelf.addGenre("Science fiction")
        let fantasy = try await shelf.addGenre("Fantasy")
        transcript.say("+ genres: Science fiction, Fantasy")
        try await transcript.refused("genre Fantasy") { try await shelf.addGenre("Fantasy") }
        let harper = try await shelf.addPublisher("Harper & Row")
        let gollancz = try await shelf.addPublisher("Gollancz")
        transcript.say("+ publishers: Harper & Row, Gollancz")
        try await transcript.refused("publisher Gollancz") { try await shelf.addPublisher("Gollancz") }
        let leGuin = try await shelf.addAuthor("Ursula K. Le Guin")
        let pratchett = try await shelf.addAuthor("Terry Pratchett")
        let gaiman = try await shelf.addAuthor("Neil Gaiman")
        transcript.say("+ authors: Ursula K. Le Guin, Terry Pratchett, Neil Gaiman")
        try await transcript.refused("author Neil Gaiman") { try await shelf.addAuthor("Neil Gaiman") }

        transcript.part("Books; each is one save with its new ISBN")
        let dispossessed = try await shelf.addBook(
            title: "The Dispossessed", year: "1974", genre: scienceFiction, isbn: "978-0-06-012563-9")
        let omens = try await shelf.addBook(
            title: "Good Omens", year: "1990", genre: fantasy, isbn: "978-0-575-04800-7")
        transcript.say("+ The Dispossessed (1974), Good Omens (1990)")
        try await transcript.refused("no title") {
            try await shelf.addBook(title: " ", year: "1974", genre: fantasy, isbn: "1")
        }
        try await transcript.refused("a year in words") {
            try await shelf.addBook(title: "Mort", year: "nineteen eighty-seven", genre: fantasy, isbn: "1")
        }
        try await transcript.refused("no genre") {
            try await shelf.addBook(title: "Mort", year: "1987", genre: nil, isbn: "1")
        }
        try await transcript.refused("an ISBN that is taken") {
            try await shelf.addBook(title: "Mort", year: "1987", genre: fantasy, isbn: "978-0-575-04800-7")
        }
        transcript.say(
            "in the database: \(try await shelf.store.count(Book.all)) books, \(try await shelf.store.count(ISBN.all)) ISBNs"
        )

        transcript.part("Authors and publishers are related to the books")
        try await shelf.relate(dispossessed, authors: [leGuin], publishers: [harper, gollancz])
        try await shelf.relate(omens, authors: [pratchett, gaiman], publishers: [gollancz])
        try await shelf.relate(omens, authors: [gaiman])
        transcript.say("The Dispossessed: 1 author, 2 publishers")
        transcript.say("Good Omens: 2 authors (one of them twice, which is the same as once), 1 publisher")

        transcript.part("All books")
        for (title, isbn) in try await shelf.titlesWithISBN() { transcript.say("\(title), ISBN \(isbn)") }

        transcript.part("All books with everything, in one fetch")
        _ = queries.take()
        let books = try await shelf.books()
        transcript.say("\(books.count) books, \(queries.take()) statements")
        for book in books {
            transcript.say("\(book.title), \(try book.genre.object.name), ISBN \(try book.isbn.object.value)")
            transcript.say("  by \(try book.authors.objects.map(\.name).joined(separator: ", "))")
            transcript.say("  at \(try book.publishers.objects.map(\.name).joined(separator: ", "))")
        }

        transcript.part("Details, by querying each relation from the book")
        for book in [dispossessed, omens] {
            let details = try await shelf.details(of: book)
            transcript.say("\(book.title) (\(book.publishingYear))")
            transcript.say("  genre: \(details.genre?.name ?? "none")")
            transcript.say("  ISBN: \(details.isbn?.value ?? "none")")
            transcript.say("  authors: \(details.authors.map(\.name).joined(separator: ", "))")
            transcript.say("  publishers: \(details.publishers.map(\.name).joined(separator: ", "))")
        }
        try shelf.store.close()
    }
}
