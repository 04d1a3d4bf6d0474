import Foundation
import Relata
import Testing

/// Insert, update and save, of one object and of several.
@Suite struct SaveTests {
    @Test(arguments: Engine.allCases) func insertRefusesAnExistingKey(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let book = try store.insert(Book(title: "one"))
        var other = book
        other.title = "two"
        guard case .alreadyExists(let object)? = thrown({ try store.insert(other) }) else {
            Issue.record("inserted twice")
            return
        }
        #expect(object.entity == "Book" && object.key == KeyValue(.uuid(book.id.uuid)))
        #expect(try store.refresh(book).title == "one")
        #expect(thrown { try store.insert([Genre(name: "a"), Genre(name: "b")]) } == nil)
        let genre = try #require(try store.first(Genre.all))
        #expect(thrown { try store.insert([Genre(name: "c"), genre]) }?.kind == "alreadyExists")
        #expect(try store.count(Genre.all) == 2)
        let author = Author(name: "x")
        #expect(thrown { try store.insert([author, author]) }?.kind == "alreadyExists")
        let sample = Sample()
        let samples = try TestStore.make(engine, for: Sample.self)
        #expect(thrown { try samples.insert([sample, sample]) }?.kind == "alreadyExists")
        #expect(try samples.count(Sample.all) == 0)
    }

    @Test(arguments: Engine.allCases) func updateRefusesAMissingKey(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Sample.self)
        let book = try store.insert(Book(title: "one", year: 1, price: 2))
        var changed = book
        changed.title = "two"
        changed.price = nil
        let updated = try store.update(changed)
        #expect(updated == changed)
        #expect(try store.refresh(book) == changed)
        #expect(thrown { try store.update([changed, Book(title: "three")]) }?.kind == "notFound")
        #expect(thrown { try store.update(Sample()) }?.kind == "notFound")
        #expect(thrown { try store.update(Series(title: "without key")) }?.kind == "invalidUse")
        #expect(try store.count(Book.all) == 1)
    }

    @Test(arguments: Engine.allCases) func aNewChildMayLinkBackToTheParentItIsAddedTo(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Folder.self)
        var root = Folder(name: "root")
        root.children.add(Folder(name: "a", parent: ToOne(root)))
        root.children.add(Folder(name: "b", parent: ToOne(root)))
        // The second child holds an earlier copy of the root, with one child.
        root = try store.save(root)
        #expect(try store.related(to: root) { $0.children }.map(\.name).sorted() == ["a", "b"])
        #expect(try store.count(Folder.all) == 3)
        // A copy that knows of a child that the root doesn't: that child would be lost.
        var other = root
        other.children.add(Folder(name: "c"))
        root.children.add(Folder(name: "d", parent: ToOne(other)))
        #expect(thrown { try store.save(root) }?.kind == "invalidUse")
        #expect(try store.count(Folder.all) == 3)
    }

    @Test(arguments: Engine.allCases) func saveInsertsOrUpdates(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Sample.self)
        var book = try store.save(Book(title: "one"))
        book.title = "two"
        try store.save([book, Book(title: "three")])
        #expect(try store.fetch(Book.sorted { $0.title }).map(\.title) == ["three", "two"])
        // An object that was deleted is inserted again.
        try store.delete(book)
        #expect(try store.save(book) == book)
        #expect(try store.count(Book.all) == 2)
        var sample = try store.save(Sample(int: 1))
        sample.int = 2
        try store.save([sample, Sample(int: 3)])
        #expect(try store.fetch(Sample.sorted { $0.int }).map(\.int) == [2, 3])
    }

    @Test(arguments: Engine.allCases) func saveNeverDeletesTheOldRow(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self, Genre.self)
        var series = Series(title: "s")
        series.episodes.add(Episode(title: "e"))
        series = try store.save(series)
        series.title = "t"
        _ = try store.save(Series(id: series.id, title: "t"))
        #expect(try store.count(Episode.all) == 1)
        // Unique values may stay the same, or change.
        let genre = try store.save(Genre(name: "g"))
        try store.save(genre)
        try store.save(Book(title: "b", genre: ToOne(genre)))
        try store.save(Genre(id: genre.id, name: "h"))
        #expect(try store.fetch(Book.where { $0.genre.name == "h" }).count == 1)
    }

    @Test(arguments: Engine.allCases) func duplicateUniqueValuesAreNamed(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Genre.self)
        let first = try store.insert(Genre(name: "a"))
        let second = try store.insert(Genre(name: "b"))
        for attempt in [
            thrown { try store.insert(Genre(name: "a")) }, thrown { try store.save(Genre(name: "a")) },
            thrown { try store.save(Genre(id: second.id, name: "a")) },
            thrown { try store.update(Genre(id: second.id, name: "a")) },
            thrown { try store.update(second.id) { $0.name = "a" } },
            thrown { try store.update(Genre.where { $0.name == "b" }) { $0.name.set(to: "a") } },
            thrown { try store.save(Book(title: "t", genre: ToOne(Genre(name: "a")))) },
        ] {
            guard case .uniqueViolation("Genre", ["name"])? = attempt else {
                Issue.record("\(String(describing: attempt))")
                continue
            }
        }
        #expect(try store.fetch(Genre.sorted { $0.name }) == [first, second])
    }

    @Test(arguments: Engine.allCases) func onlyNewLinkedObjectsAreWritten(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let genre = try store.insert(Genre(name: "stored"))
        var stale = genre
        stale.name = "changed here only"
        #expect(thrown { try store.save(Book(title: "t", genre: ToOne(stale))) }?.kind == "invalidUse")
        try store.save(Book(title: "t", genre: ToOne(genre)))
        #expect(try store.refresh(genre).name == "stored")
        // If the linked object is given as well, it is written.
        try store.save(Book(title: "u", genre: ToOne(stale)), stale)
        #expect(try store.refresh(genre).name == "changed here only")
    }

    @Test(arguments: Engine.allCases) func theSameKeyTwiceWithDifferentContentIsAnError(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Sample.self)
        let genre = Genre(name: "a")
        var other = genre
        other.name = "b"
        let books = [Book(title: "1", genre: ToOne(genre)), Book(title: "2", genre: ToOne(other))]
        #expect(thrown { try store.save(books) }?.kind == "invalidUse")
        #expect(thrown { try store.save(genre, other) }?.kind == "invalidUse")
        #expect(thrown { try store.save([genre, other]) }?.kind == "invalidUse")
        let sample = Sample(int: 1)
        #expect(thrown { try store.save([sample, Sample(id: sample.id, int: 2)]) }?.kind == "invalidUse")
        #expect(try store.count(Genre.all) + store.count(Book.all) + store.count(Sample.all) == 0)
        try store.save([Book(title: "1", genre: ToOne(genre)), Book(title: "2", genre: ToOne(genre))])
        #expect(try store.count(Genre.all) == 1)
    }

    @Test(arguments: Engine.allCases) func editsOfMerelyLinkedObjectsAreAnError(_ engine: Engine)
        throws
    {
        let store = try TestStore.make(engine, for: Book.self)
        var author = try store.insert(Author(name: "a"))
        author.books.add(Book(title: "lost"))
        var book = Book(title: "t")
        book.authors.add(author)
        #expect(thrown { try store.save(book) }?.kind == "invalidUse")
        #expect(try store.count(Book.all) == 0)
        // Those of a new one are written with it.
        var new = Author(name: "b")
        new.books.add(Book(title: "found"))
        var other = Book(title: "u")
        other.authors.add(new)
        try store.save(other)
        #expect(try store.related(to: new) { $0.books }.map(\.title).sorted() == ["found", "u"])
    }

    @Test(arguments: Engine.allCases) func newObjectsWithoutAKeyMayBeLinkedOnlyOnce(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self)
        let series = Series(title: "s")
        let episodes = [Episode(title: "1", series: ToOne(series)), Episode(title: "2", series: ToOne(series))]
        #expect(thrown { try store.save(episodes) }?.kind == "invalidUse")
        // Given and linked are two places as well.
        #expect(thrown { try store.save(series, Episode(title: "1", series: ToOne(series))) }?.kind == "invalidUse")
        #expect(try store.count(Series.all) == 0)
        // A copy of one link is one place.
        let link = ToOne(series)
        let saved = try store.save([Episode(title: "1", series: link), Episode(title: "2", series: link)])
        #expect(saved.map(\.series.id) == [1, 1])
        #expect(try store.count(Series.all) == 1)
    }

    @Test(arguments: Engine.allCases) func missingTargetsAreNamedAndNothingIsWritten(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self, Book.self)
        let unset = thrown { try store.insert(History(progress: 1), Episode(title: "e", series: .unset)) }
        #expect(unset?.kind == "requiredReference" && unset?.reference == "Episode.series")
        let absent = thrown { try store.insert(History(progress: 1), Episode(title: "e", series: ToOne(id: 7))) }
        #expect(absent?.kind == "invalidReference" && absent?.reference == "Episode.series")
        #expect("\(try #require(absent))".contains("7"))
        #expect(thrown { try store.insert(Book(title: "t", genre: ToOne(id: ID()))) }?.reference == "Book.genre")
        var book = Book(title: "t")
        book.authors.add(id: ID())
        #expect(thrown { try store.insert(book) }?.reference == "Book.authors")
        let stored = try store.insert(Book(title: "t"))
        let missing = ID<Genre>()
        #expect(thrown { try store.update(stored.id) { $0.genre = ToOne(id: missing) } }?.reference == "Book.genre")
        #expect(thrown { try store.update(Book.all) { $0.genre.set(id: missing) } }?.reference == "Book.genre")
        #expect(try store.count(History.all) + store.count(Episode.all) == 0)
    }

    /// An edit of a list changes the rows of its members, which are read again for the result.
    @Test(arguments: Engine.allCases) func unreadableMembersAreErrorsAndNothingIsWritten(
        _ engine: Engine
    ) throws {
        let store = try Discs(engine).store
        let disc = try #require(try store.fetch(Disc.self, id: 3))
        try store.execute(#"UPDATE "Disc" SET "format" = 'wax' WHERE "id" = 3"#)
        var edited = try #require(try store.first(Label.where { $0.name == "Two" }.including { $0.discs }))
        edited.discs.add(disc)
        let error = thrown { try store.save(edited) }
        #expect(error?.kind == "corruptStore" && "\(error as Any)".contains("Disc"))
        #expect(thrown { try store.save([edited, Label(name: "Three")] as [any Model]) }?.kind == "corruptStore")
        #expect(thrown { try store.save(edited, Label(name: "Three")) }?.kind == "corruptStore")
        #expect(thrown { try store.update(Label.self, id: "Two") { $0.discs.set([disc]) } }?.kind == "corruptStore")
        try store.write { tx in
            try tx.save(Label(name: "Four"))
            #expect(thrown { try tx.save(edited) }?.kind == "corruptStore")
        }
        #expect(try store.count(Disc.where { $0.id == 3 && $0.label == nil }) == 1)
        #expect(try store.count(Label.where { $0.name.in(["Three", "Four"]) }) == 1)
        let results = try store.saveEach([edited, Label(name: "Three")])
        #expect((try? results[0].get()) == nil && (try? results[1].get()) != nil)
        #expect(try store.count(Disc.where { $0.id == 3 && $0.label == nil }) == 1)
    }

    @Test(arguments: Engine.allCases) func savesReturnTheStoredObject(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self, Book.self)
        let new = Series(title: "s", episodes: ToMany([Episode(title: "1"), Episode(title: "2")]))
        let series = try store.save(new)
        let episodes = try #require(series.episodes.loaded)
        #expect(!series.episodes.hasEdits)
        #expect(try store.fetch(Episode.sorted { $0.id }) == episodes)
        #expect(episodes.map(\.id) == [1, 2] && episodes.allSatisfy { $0.series.id == 1 })
        // So they can be saved again unchanged.
        _ = try store.save(episodes)
        #expect(try store.related(to: series) { $0.episodes }.map(\.title) == ["1", "2"])
        let book = try store.save(Book(title: "b", genre: ToOne(Genre(name: "g"))))
        #expect(book.genre?.loaded?.name == "g")
    }
}
