import Relata
import Synchronization
import Testing

@Suite struct IncludeTests {
    let statements = StatementLog()

    func library(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(engine, for: Book.self, Series.self, Folder.self, options: statements.options)
        let genres = (0..<3).map { Genre(name: "G\($0)") }
        let authors = (0..<5).map { Author(name: "A\($0)") }
        try store.write { tx in
            try tx.insert(genres)
            try tx.insert(authors)
            for index in 0..<20 {
                var book = Book(title: "B\(index)", year: 1900 + index)
                book.genre = index % 4 == 3 ? nil : ToOne(id: genres[index % 4].id)
                for step in 0..<index % 4 { book.authors.add(id: authors[(index + step) % 5].id) }
                try tx.insert(book)
            }
        }
        _ = statements.take()
        return store
    }

    @Test(arguments: Engine.allCases) func eachRelationshipIsLoadedWithOneStatement(_ engine: Engine)
        throws
    {
        let store = try library(engine)
        let books = try store.fetch(
            Book.sorted { $0.year }.including {
                $0.genre; $0.authors
            })
        #expect(statements.take().count == 3)
        #expect(books.count == 20)
        for (index, book) in books.enumerated() {
            #expect(book.genre?.loaded?.name == (index % 4 == 3 ? nil : "G\(index % 4)"))
            #expect(try book.authors.objects.map(\.name) == (0..<index % 4).map { "A\((index + $0) % 5)" })
        }
    }

    @Test(arguments: Engine.allCases) func includesNestAndLoadOnlyNamedRelationships(_ engine: Engine) throws {
        let store = try library(engine)
        let genres = try store.fetch(
            Genre.sorted { $0.name }.including { $0.books.sorted { $0.year.descending }.including { $0.authors } })
        #expect(statements.take().count == 3)
        #expect(try genres[1].books.objects.map(\.year) == [1917, 1913, 1909, 1905, 1901])
        let author = try #require(try genres[1].books.objects[0].authors.objects.first)
        #expect(author.name == "A2")
        #expect(throws: RelataError.self) { try author.books.objects }
    }

    @Test(arguments: Engine.shared) func includesReadTheSnapshotOfTheQuery(_ engine: Engine) throws {
        let database = TestDatabase(engine)
        let other = try database.open(Book.self)
        try other.save(Book(title: "Emma", authors: ToMany([Author(name: "Jane Austen")])))
        var options = Store.Options()
        let hasWritten = Mutex(false)
        // Written by another task after the books are read, and before their authors are.
        options.trace = { sql, _ in
            guard sql.contains("FROM \"Book\""), !hasWritten.withLock({ $0 }) else { return }
            hasWritten.withLock { $0 = true }
            _ = try? other.execute(#"DELETE FROM "Book_authors""#)
        }
        let store = try database.open(Book.self, options: options)
        let books = try store.fetch(Book.all.including { $0.authors })
        #expect(hasWritten.withLock { $0 })
        #expect(try books.map { try $0.authors.objects.map(\.name) } == [["Jane Austen"]])
        #expect(try store.first(Book.all.including { $0.authors })?.authors.objects.isEmpty == true)
    }

    @Test(arguments: Engine.allCases) func limitsApplyPerOwner(_ engine: Engine) throws {
        let store = try library(engine)
        let genres = try store.fetch(
            Genre.sorted { $0.name }.including { $0.books.sorted { $0.year.descending }.limit(2) })
        #expect(statements.take().count == 2)
        #expect(try genres.map { try $0.books.objects.map(\.year) } == [[1916, 1912], [1917, 1913], [1918, 1914]])
    }

    @Test(arguments: Engine.allCases) func filtersApplyToTheRelatedObjectsAndNotToTheirOwners(_ engine: Engine) throws {
        let store = try library(engine)
        let books = try store.fetch(Book.sorted { $0.year }.including { $0.authors.where { $0.name == "A0" } })
        #expect(books.count == 20)
        #expect(try books.filter { try !$0.authors.objects.isEmpty }.allSatisfy { try $0.authors.objects.count == 1 })
    }

    @Test(arguments: Engine.allCases) func filteredTargetsAreDistinguishedFromUnsetOnes(_ engine: Engine) throws {
        let store = try library(engine)
        let query = Book.where { $0.year == 1900 }
        let left = try #require(try store.first(query.including { $0.genre.where { $0.name == "G1" } })?.genre)
        #expect(left.isLoaded && left.loaded == nil)
        let error = thrown { try left.object }
        #expect(error?.kind == "excluded")
        #expect("\(error as Any)".contains("Genre \(try #require(left.id))"), "\(error as Any)")
        let kept = try store.first(query.including { $0.genre.where { $0.name == "G0" } })
        #expect(try kept?.genre?.object.name == "G0")
        // A target is also left out if its own required objects are missing.
        let strict = query.including { $0.genre.including { $0.books.where { $0.year == 1 }.required } }
        #expect(thrown { try store.first(strict)?.genre?.object }?.kind == "excluded")
    }

    @Test(arguments: Engine.allCases) func objectsThatWereFetchedBeforeAreLoadedLater(_ engine: Engine) throws {
        let store = try library(engine)
        let book = try #require(try store.first(Book.where { $0.year == 1907 }))
        #expect(throws: RelataError.self) { try book.authors.objects }
        let loaded = try store.load(book) { $0.authors.including { $0.books } }
        #expect(try loaded.authors.objects.count == 3)
        #expect(try loaded.authors.objects[0].books.objects.contains { $0.id == book.id })
    }

    @Test(arguments: Engine.allCases) func requiredIncludesLeaveOutOwnersWithoutARelatedObject(_ engine: Engine) throws
    {
        let store = try library(engine)
        let books = try store.fetch(
            Book.all.including {
                $0.genre.required; $0.authors.where { $0.name == "A0" }.required
            })
        #expect(!books.isEmpty)
        for book in books {
            #expect(book.genre?.loaded != nil)
            #expect(try book.authors.objects.map(\.name) == ["A0"])
        }
        #expect(try store.count(Book.all.including { $0.genre.required }) == 15)
    }

    @Test(arguments: Engine.allCases) func oneRelationshipWithTwoFiltersIsRefused(_ engine: Engine) throws {
        let store = try library(engine)
        #expect(throws: RelataError.self) {
            try store.fetch(
                Book.all.including {
                    $0.authors.limit(1); $0.authors.limit(2)
                })
        }
        #expect(throws: RelataError.self) { try store.fetch(Book.all.including { $0.authors.limit(0) }) }
    }

    @Test(arguments: Engine.allCases) func keysOfSeveralModelsAreFetchedWithOneStatementForEachModel(_ engine: Engine)
        throws
    {
        let store = try library(engine)
        let book = try #require(try store.first(Book.all))
        let genre = try #require(try store.first(Genre.all))
        _ = statements.take()
        let results = try store.fetch(ids: [
            ObjectKey(Book.self, book.id), ObjectKey(Genre.self, genre.id), ObjectKey(Book.self, ID()),
        ])
        #expect(statements.take().filter { $0.hasPrefix("SELECT") }.count == 2)
        #expect(results[0].object(as: Book.self) == book)
        #expect(results[1].object(as: Genre.self) == genre)
        #expect(throws: RelataError.self) { try results[2].result.get() }
    }
}
