import Relata
import Testing

/// Writing calls with `await`, of each form.
@Suite struct AwaitedWriteTests {
    private func names(_ store: Store) async throws -> [String] {
        try await store.fetch(Genre.sorted { $0.name }).map(\.name)
    }

    private func renamed(_ genre: Genre, _ name: String) -> Genre {
        var genre = genre
        genre.name = name
        return genre
    }

    @Test(arguments: Engine.allCases) func listsAreUpdatedAndDeletedAsAWhole(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let genres = try await store.insert(["a", "b", "c"].map { Genre(name: $0) })
        let changed = [renamed(genres[0], "x"), renamed(genres[1], "y")]
        #expect(try await store.update(changed).map(\.name) == ["x", "y"])
        #expect(try await names(store) == ["c", "x", "y"])
        let lost = [renamed(genres[2], "z"), Genre(name: "lost")]
        #expect(await thrown { try await store.update(lost) }?.kind == "notFound")
        #expect(try await names(store) == ["c", "x", "y"])
        let report = try await store.delete(changed)
        #expect(report.deletedCount == 2)
        #expect(try await names(store) == ["c"])
    }

    @Test(arguments: Engine.allCases) func severalModelsAreSavedAndUpdatedTogether(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        let (genre, author, history) = try await store.save(
            Genre(name: "g"), Author(name: "a"), History(progress: 1))
        #expect(genre.name == "g" && author.name == "a" && history.id == 1)
        let (series, other, book) = try await store.save(
            Series(title: "s"), Genre(name: "h"), Book(title: "b", genre: ToOne(genre)))
        #expect(series.id == 1 && other.name == "h" && book.genre?.id == genre.id)
        let (second, next) = try await store.save(Series(title: "t"), History(progress: 0))
        #expect(second.id == 2 && next.id == 2)
        var edited = next
        edited.progress = 0.5
        let (again, _) = try await store.update(edited, renamed(genre, "i"))
        #expect(again.progress == 0.5)
        #expect(try await names(store) == ["h", "i"])
        let (wanted, lost) = (renamed(genre, "j"), Author(name: "lost"))
        #expect(await thrown { try await store.update(wanted, lost) }?.kind == "notFound")
        #expect(try await names(store) == ["h", "i"])
    }

    @Test(arguments: Engine.allCases) func anyMixIsInsertedAndUpdatedAsAWhole(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let (genre, author) = (Genre(name: "g"), Author(name: "a"))
        // The book is before the objects that it needs.
        let objects: [any Model] = [Book(title: "b", genre: ToOne(id: genre.id)), genre, author]
        let inserted = try await store.insert(objects)
        #expect(inserted.map { "\(type(of: $0))" } == ["Book", "Genre", "Author"])
        #expect(try await store.count(Book.where { $0.genre.name == "g" }) == 1)
        let taken: [any Model] = [Author(name: "new"), Genre(name: "g")]
        #expect(await thrown { try await store.insert(taken) }?.kind == "uniqueViolation")
        #expect(try await store.fetch(Author.all).map(\.name) == ["a"])
        var changed = author
        changed.name = "c"
        let edited: [any Model] = [changed, renamed(genre, "h")]
        #expect(try await store.update(edited).count == 2)
        #expect(try await store.fetch(Author.all).map(\.name) == ["c"])
        #expect(try await names(store) == ["h"])
        let lost: [any Model] = [renamed(genre, "i"), Author(name: "lost")]
        #expect(await thrown { try await store.update(lost) }?.kind == "notFound")
        #expect(try await names(store) == ["h"])
    }

    @Test(arguments: Engine.allCases) func anObjectIsUpdatedByItsKeyWithItsLinks(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let book = try await store.insert(Book(title: "t", genre: ToOne(Genre(name: "g"))))
        let updated = try await store.update(Book.self, id: book.id, including: { $0.genre }) {
            $0.title += try $0.genre?.object.name ?? "-"
        }
        #expect(updated.title == "tg" && updated.genre?.loaded?.name == "g")
        #expect(try await store.fetch(Book.self, id: book.id)?.title == "tg")
        let error = await thrown {
            try await store.update(Book.self, id: ID(), including: { $0.genre }) { $0.title = "none" }
        }
        #expect(error?.kind == "notFound")
    }

    @Test(arguments: Engine.allCases) func objectsAreMatchedBySeveralProperties(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Ticket.self)
        let show = try await store.insert(Show(name: "s"))
        let ticket = try await store.save(
            Ticket(row: 1, number: 2, holder: "a", show: ToOne(show)), matching: { ($0.show, $0.row, $0.number) })
        let tickets = try await store.save(
            [
                Ticket(row: 1, number: 2, holder: "b", show: ToOne(show)),
                Ticket(row: 2, number: 2, holder: "c", show: ToOne(show)),
            ], matching: { ($0.show, $0.row, $0.number) })
        #expect(tickets.first?.id == ticket.id && tickets.last?.id != ticket.id)
        #expect(try await store.fetch(Ticket.sorted { $0.row }).map(\.holder) == ["b", "c"])
        let other = Ticket(row: 3, number: 3, holder: "d", show: ToOne(show))
        #expect(await thrown { try await store.save(other, matching: { ($0.row, $0.holder) }) }?.kind == "invalidUse")
        #expect(try await store.count(Ticket.all) == 2)
    }
}
