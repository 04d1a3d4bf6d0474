import Relata
import Testing

/// Lists: one-to-many and many-to-many, their edits in the value and in the store.
@Suite struct ToManyTests {
    @Test func editsOfALoadedListAreVisibleImmediately() throws {
        let (a, b, c) = (Author(name: "a"), Author(name: "b"), Author(name: "c"))
        var list = ToMany([a, b])
        list.add(a)
        list.add([b, c])
        #expect(try list.objects == [a, b, c])
        list.remove(b)
        list.remove(b)
        #expect(try list.objects == [a, c])
        list.remove(id: a.id)
        #expect(try list.objects == [c])
        list.add(id: c.id)
        #expect(list.isLoaded)
        list.add(id: a.id)
        #expect(!list.isLoaded && list.loaded == nil && list.hasEdits)
        list.set([a])
        #expect(try list.objects == [a])
        list.set(ids: [b.id])
        #expect(thrown { try list.objects }?.kind == "notLoaded")
        #expect(thrown { try list.insert(a, at: 0) }?.kind == "notLoaded")
    }

    @Test(arguments: Engine.allCases) func settingAListCostsAsLittleAsAddingToIt(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: Person.self, options: log.options)
        let people = try store.insert(["a", "b"].map { Person(name: $0) })
        func cost(set: Bool, _ write: (Person) throws -> Person) throws -> Int {
            var person = Person(name: "t")
            if set { person.following.set(people) } else { person.following.add(people) }
            _ = log.take()
            let saved = try write(person)
            let count = log.take().count
            #expect(try store.count(saved.related { $0.following }) == 2)
            return count
        }
        for write in [{ try store.insert($0) }, { try store.save($0) }] as [(Person) throws -> Person] {
            #expect(try cost(set: true, write) == cost(set: false, write))
        }
        // A stored object loses its earlier members, and so does a new one that others have linked to in the same save.
        var person = try store.save(Person(name: "u", following: ToMany(people)))
        person.following.set([people[1]])
        person = try store.save(person)
        #expect(try store.related(to: person) { $0.following }.map(\.name) == ["b"])
        let new = Person(name: "v", following: ToMany([people[0]]))
        try store.save([Person(name: "c", followers: ToMany([new])), new])
        #expect(try store.related(to: new) { $0.following }.map(\.name) == ["a"])
    }

    @Test func positionsReferToTheLoadedList() throws {
        let (a, b, c) = (Author(name: "a"), Author(name: "b"), Author(name: "c"))
        var list = ToMany([a, b])
        try list.insert(c, at: 0)
        #expect(try list.objects == [c, a, b])
        try list.move(from: 0, to: 2)
        #expect(try list.objects == [a, b, c])
        try list.move(from: 1, to: 1)
        #expect(try list.objects == [a, b, c])
        try list.insert(a, at: 2)
        #expect(try list.objects == [b, c, a])
        list.place(id: a.id, after: b.id)
        list.place(c, after: nil)
        #expect(try list.objects == [c, b, a])
        #expect(thrown { try list.insert(a, at: 4) }?.kind == "invalidUse")
        #expect(thrown { try list.insert(a, at: -1) }?.kind == "invalidUse")
        #expect(thrown { try list.move(from: 3, to: 0) }?.kind == "invalidUse")
        #expect(try list.objects == [c, b, a])
    }

    @Test(arguments: Engine.allCases) func editsAreIdempotent(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let (a, b) = try store.insert(Author(name: "a"), Author(name: "b"))
        let book = try store.insert(Book(title: "t"))
        func authors() throws -> [String] { try store.related(to: book) { $0.authors }.map(\.name) }
        for _ in 0..<2 {
            try store.update(book.id) {
                $0.authors.add(a)
                $0.authors.add(a)
                $0.authors.add(id: b.id)
                $0.authors.add(id: b.id)
            }
            #expect(try authors() == ["a", "b"])
        }
        for _ in 0..<2 {
            try store.update(book.id) {
                $0.authors.remove(a)
                $0.authors.remove(id: a.id)
            }
            #expect(try authors() == ["b"])
        }
        for _ in 0..<2 {
            try store.update(book.id) { $0.authors.set([b, a, b]) }
            #expect(try authors() == ["b", "a"])
        }
        // A saved value may be saved again: its edits have the same effect.
        var again = book
        again.authors.remove(b)
        try store.save(again)
        try store.save(again)
        #expect(try authors() == ["a"])
        // The last edit of an object counts.
        try store.update(book.id) {
            $0.authors.add(b)
            $0.authors.remove(b)
            $0.authors.remove(a)
            $0.authors.add(a)
        }
        #expect(try authors() == ["a"])
    }

    @Test(arguments: Engine.allCases) func removingAndAddingAMemberChangesNothing(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Setlist.self, Section.self)
        let tune = try store.insert(Tune(name: "t"))
        // An item must have a list; this one never had one before.
        let item = SetlistItem(setlist: .unset, tune: ToOne(tune))
        var list = Setlist(name: "l")
        list.items.add(item)
        list.items.remove(item)
        list.items.add(item)
        list = try store.insert(list)
        #expect(try store.related(to: list) { $0.items }.map(\.id) == [item.id])
        try store.update(list.id) {
            $0.items.remove(id: item.id)
            $0.items.add(id: item.id)
        }
        #expect(try store.related(to: list) { $0.items }.map(\.id) == [item.id])
        // A member that may be without an owner gets no new revision.
        let article = try store.insert(Article(title: "a"))
        let section = try store.insert(Section(name: "s", articles: ToMany([article])))
        let before = try store.refresh(article).revision
        try store.update(Section.self, id: 1) {
            $0.articles.remove(article)
            $0.articles.add(article)
        }
        let after = try store.refresh(article)
        #expect(after.section?.id == section.id && after.revision == before)
        // If removing it is the last edit, it is deleted.
        try store.update(Section.self, id: 1) {
            $0.articles.add(article)
            $0.articles.remove(article)
        }
        #expect(try store.refresh(article).section == nil)
    }

    @Test(arguments: Engine.allCases) func removingAndAddingAnOrderedMemberMovesItToTheEnd(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self, Playlist.self)
        let series = try store.insert(
            Series(
                title: "s",
                episodes: ToMany([Episode(title: "a", series: .unset), Episode(title: "b", series: .unset)])))
        try store.update(Series.self, id: 1) {
            $0.episodes.remove(id: 1)
            $0.episodes.add(id: 1)
        }
        #expect(try store.related(to: series) { $0.episodes }.map(\.title) == ["b", "a"])
        let playlist = try store.insert(Playlist(name: "p", songs: ToMany([Song(title: "a"), Song(title: "b")])))
        try store.update(Playlist.self, id: 1) {
            $0.songs.remove(id: 1)
            $0.songs.add(id: 1)
        }
        #expect(try store.related(to: playlist) { $0.songs }.map(\.title) == ["b", "a"])
    }

    @Test(arguments: Engine.allCases) func concurrentChangesAreKept(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let authors = try store.insert((0..<4).map { Author(name: "\($0)") })
        var mine = try store.insert(Book(title: "t", authors: ToMany(Array(authors[...1]))))
        // The list was loaded before another writer removed a member and added one.
        try store.update(mine.id) {
            $0.authors.remove(authors[0])
            $0.authors.add(authors[2])
        }
        mine.authors.add(authors[3])
        mine.title = "u"
        try store.save(mine)
        #expect(try store.related(to: mine) { $0.authors }.map(\.name) == ["1", "2", "3"])
    }

    @Test(arguments: Engine.allCases) func bothSidesOfAManyToManyShareTheirRows(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        var author = Author(name: "a")
        author.books.add([Book(title: "1"), Book(title: "2")])
        author = try store.insert(author)
        let books = try store.fetch(Book.sorted { $0.title })
        for book in books { #expect(try store.related(to: book) { $0.authors }.map(\.id) == [author.id]) }
        try store.update(books[0].id) { $0.authors.remove(id: author.id) }
        #expect(try store.related(to: author) { $0.books }.map(\.title) == ["2"])
        try store.update(author.id) { $0.books.set(books[...0]) }
        #expect(try store.related(to: books[1]) { $0.authors }.isEmpty)
        #expect(try store.rows(#"SELECT count(*) FROM "Book_authors""#) == [[1]])
    }

    @Test(arguments: Engine.allCases) func newObjectsThatAreAddedAndRemovedAreNotSaved(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Song.self)
        var playlist = Playlist(name: "p")
        let (kept, dropped) = (Song(title: "kept"), Song(title: "dropped"))
        playlist.songs.add([kept, dropped])
        playlist.songs.remove(dropped)
        let saved = try store.insert(playlist)
        #expect(try store.related(to: saved) { $0.songs }.map(\.title) == ["kept"])
    }

    @Test(arguments: Engine.allCases) func editingLargeListsIsFast(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Song.self)
        let count = 5000
        let songs = try store.insert((0..<count).map { Song(title: "\($0)") })
        var playlist = Playlist(name: "p")
        playlist.songs.add(songs)
        let saved = try store.insert(playlist)
        #expect(try store.count(saved.related { $0.songs }) == count)
        try store.update(Playlist.self, id: 1) { $0.songs.set(songs.reversed()) }
        #expect(try store.first(saved.related { $0.songs })?.title == "\(count - 1)")
        try store.update(Playlist.self, id: 1) { $0.songs.remove(songs.dropFirst()) }
        #expect(try store.related(to: saved) { $0.songs }.map(\.title) == ["0"])
    }

    @Test(arguments: Engine.allCases) func relatedObjectsHaveFiltersOrdersAndLimits(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        var genre = Genre(name: "g")
        genre.books.add((0..<9).map { Book(title: "\($0)", year: 2000 + $0 % 3) })
        try store.insert(genre)
        let books = genre.related { $0.books }
        #expect(try store.count(books) == 9)
        #expect(
            try store.fetch(books.where { $0.year == 2001 }.sorted { $0.title.descending }.limit(2)).map(\.title) == [
                "7", "4",
            ])
        #expect(try store.value(of: books) { $0.year.maximum() } == 2002)
        #expect(try store.exists(books.where { $0.year > 2002 }) == false)
        #expect(try store.delete(books.where { $0.year == 2000 }).deletedCount == 3)
        #expect(try store.update(books) { $0.price.set(to: 5) } == 6)
        #expect(try store.fetch(Genre(name: "new").related { $0.books }).isEmpty)
        #expect(thrown { try store.fetch(genre.related { $0.books.authors }) }?.kind == "invalidUse")
    }

    @Test func linksPrintTheirState() throws {
        var author = Author(name: "x")
        #expect("\(author.books)" == "not loaded")
        author.books.add(Book(title: "one"))
        author.books.add(id: ID())
        #expect("\(author.books)" == "not loaded (2 edits to save)")
        #expect("\(ToMany<Author>([]))" == "[] (1 edit to save)")
        #expect("\(ISBN(value: "1").book)" == "not loaded")
        #expect("\(HasOne<History>())" == "not loaded")
        #expect("\(Through<Song>())" == "not loaded")
    }
}
