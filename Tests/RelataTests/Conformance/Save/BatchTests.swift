import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Team {
    let id: ID<Team>
    var name: String
    var captain: ToOne<Player>
    @Relationship(inverse: \Player.team) var players: ToMany<Player>
}

@Model struct Player {
    let id: ID<Player>
    var name: String
    var team: ToOne<Team>
    var rival: ToOne<Player>?
    @Relationship(inverse: \Team.captain) var captainOf: HasOne<Team>
}

@Model struct Chain {
    let id: Int
    var next: ToOne<Chain>?
    var other: ToOne<Chain>?
    var name: String = ""
}

/// Several objects in one call: any mix, any order, all or nothing.
@Suite struct BatchTests {
    private func graph() -> [any Model] {
        let genre = Genre(name: "g")
        let isbn = ISBN(value: "1")
        let author = Author(name: "a")
        var book = Book(title: "b", genre: ToOne(id: genre.id), isbn: ToOne(id: "1"))
        book.authors.add(id: author.id)
        let series = Series(id: 9, title: "s")
        let episode = Episode(id: 4, title: "e", series: ToOne(id: 9))
        let history = History(progress: 0.5, episode: ToOne(id: 4))
        return [genre, isbn, author, book, series, episode, history]
    }

    @Test(arguments: Engine.allCases, 0..<8) func mixedObjectsAreSavedInAnyOrder(_ engine: Engine, _ seed: UInt64)
        throws
    {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        var generator = SampleRandom(seed: seed)
        let objects = graph().shuffled(using: &generator)
        let saved = try store.save(objects)
        #expect(saved.map { "\(type(of: $0))" } == objects.map { "\(type(of: $0))" })
        #expect(try store.fetch(Book.where { $0.genre.name == "g" && $0.isbn.value == "1" }).count == 1)
        #expect(try store.fetch(Author.where { $0.books.contains { $0.title == "b" } }).count == 1)
        #expect(try store.fetch(History.where { $0.episode.series.title == "s" }).count == 1)
    }

    @Test(arguments: Engine.allCases) func savingSeveralModelsReturnsATuple(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        let (book, genre, history) = try store.save(Book(title: "b"), Genre(name: "g"), History(progress: 1))
        #expect(book.title == "b" && genre.name == "g" && history.id == 1)
        var changed = history
        changed.progress = 0.5
        let (again, _) = try store.update(changed, genre)
        #expect(again.progress == 0.5)
        #expect(thrown { try store.update(changed, Genre(name: "not there")) }?.kind == "notFound")
    }

    @Test(arguments: Engine.allCases) func failedBatchesWriteNothing(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Series.self)
        try store.insert(Genre(name: "taken"))
        var book = Book(title: "b", genre: ToOne(Genre(name: "g")))
        book.authors.add(Author(name: "a"))
        #expect(thrown { try store.save(graph().dropFirst() + [book, Genre(name: "taken")]) } != nil)
        #expect(thrown { try store.save([book, Book(title: "c", genre: ToOne(Genre(name: "taken")))]) } != nil)
        #expect(try store.count(Genre.all) == 1)
        #expect(try store.count(Book.all) + store.count(Author.all) + store.count(Series.all) == 0)
        #expect(try store.rows(#"SELECT count(*) FROM "Book_authors""#) == [[0]])
        // The caller may continue with the transaction.
        try store.write { tx in
            try tx.save(Genre(name: "before"))
            #expect(thrown { try tx.save([book, Book(title: "", genre: nil)]) }?.kind == "validation")
            #expect(thrown { try tx.save([book, Book(title: "c", genre: ToOne(Genre(name: "taken")))]) } != nil)
            try tx.save(Genre(name: "after"))
        }
        #expect(try store.fetch(Genre.sorted { $0.name }).map(\.name) == ["after", "before", "taken"])
        #expect(try store.count(Book.all) == 0)
    }

    @Test(arguments: Engine.allCases) func objectsThatNeedEachOtherAreSavedTogether(_ engine: Engine) throws {
        let (team, captain) = (ID<Team>(), ID<Player>())
        let objects: [any Model] = [
            Player(id: captain, name: "c", team: ToOne(id: team)),
            Team(id: team, name: "t", captain: ToOne(id: captain)),
        ]
        for order in [objects, objects.reversed()] {
            let store = try TestStore.make(engine, for: Team.self)
            try store.save(order)
            #expect(try store.fetch(Team.where { $0.captain.team.name == "t" }).map(\.id) == [team])
        }
        // Nested: the captain belongs to the team, and the team to the captain.
        let store = try TestStore.make(engine, for: Team.self)
        var new = Team(name: "u", captain: ToOne(Player(id: captain, name: "c", team: ToOne(id: team))))
        new = Team(id: team, name: "u", captain: new.captain)
        try store.insert(new)
        #expect(try store.related(to: new) { $0.players }.map(\.id) == [captain])
    }

    @Test(arguments: Engine.allCases) func danglingCyclesAreNamedAndTheTransactionContinues(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Team.self, Chain.self)
        let (team, captain) = (ID<Team>(), ID<Player>())
        let objects: [any Model] = [
            Player(id: captain, name: "c", team: ToOne(id: team), rival: ToOne(id: ID())),
            Team(id: team, name: "t", captain: ToOne(id: captain)),
        ]
        #expect(thrown { try store.save(objects) }?.reference == "Player.rival")
        try store.write { tx in
            #expect(thrown { try tx.save(objects) }?.reference == "Player.rival")
            // Later statements are checked at once again.
            #expect(thrown { try tx.save(Chain(id: 1, next: ToOne(id: 2))) }?.reference == "Chain.next")
            try tx.save(Chain(id: 3))
        }
        #expect(try store.count(Chain.all) == 1)
        #expect(try store.count(Team.all) + store.count(Player.all) == 0)
    }

    @Test(arguments: Engine.allCases, 0..<20) func randomGraphsAreSavedCompletely(_ engine: Engine, _ seed: UInt64)
        throws
    {
        let store = try TestStore.make(engine, for: Chain.self)
        var generator = SampleRandom(seed: seed)
        let count = Int.random(in: 1...40, using: &generator)
        let chains = (0..<count).map { number in
            let targets = (0..<2).map { _ in Int.random(in: -count..<count, using: &generator) }
            let links = targets.map { $0 < 0 ? nil : ToOne<Chain>(id: $0) }
            return Chain(id: number, next: links[0], other: links[1])
        }
        try store.save(chains.shuffled(using: &generator))
        #expect(try store.fetch(Chain.sorted { $0.id }) == chains, "seed \(seed)")
        #expect(try store.check().isEmpty, "seed \(seed)")
    }

    @Test(arguments: Engine.allCases) func anObjectMayReferToItself(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Chain.self)
        try store.insert(Chain(id: 1, next: ToOne(id: 1)))
        #expect(try store.count(Chain.where { $0.next.id == 1 }) == 1)
        try store.insert(Chain(id: 2, next: ToOne(Chain(id: 3, next: ToOne(id: 2)))))
        #expect(try store.fetch(Chain.where { $0.next.next.id == $0.id }).map(\.id) == [1, 2, 3])
    }

    @Test(arguments: Engine.allCases) func aModelTheStoreWasNotOpenedForIsAnError(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Genre.self)
        #expect(thrown { try store.save(Sample()) }?.kind == "invalidUse")
        #expect(thrown { try store.fetch(Sample.all) }?.kind == "invalidUse")
        #expect(thrown { try store.fetch(Sample.self, id: ID()) }?.kind == "invalidUse")
        #expect(thrown { try store.delete(Sample()) }?.kind == "invalidUse")
        #expect(thrown { try store.save([Genre(name: "a"), Sample()] as [any Model]) }?.kind == "invalidUse")
    }
}
