import Foundation
import Relata
import Testing

@Model struct Article {
    let id: ID<Article>
    var title: String
    @Attribute(.revision) var revision: Int
    @Attribute(.createdAt) var created: Date
    @Attribute(.updatedAt, .iso8601) var updated: Date
    var section: ToOne<Section>?
    @Relationship(inverse: \Comment.article, ordered: true) var comments: ToMany<Comment>
    @Relationship(inverse: \Summary.article) var summary: HasOne<Summary>
}

@Model struct Section {
    var id: Int?
    var name: String
    @Relationship(inverse: \Article.section) var articles: ToMany<Article>
}

@Model struct Comment {
    var id: Int?
    var text: String
    @Attribute(.revision) var revision: Int
    @Attribute(.updatedAt) var updated: Date?
    var article: ToOne<Article>?
}

@Model struct Summary {
    var id: Int?
    @Attribute(.revision) var revision: Int
    var article: ToOne<Article>?
}

@Model struct Stamped {
    let id: ID<Stamped>
    @Attribute(.unique) var name: String
    @Attribute(.createdAt) var created: Date
    @Attribute(.updatedAt, .seconds) var updated: Date
}

/// Revisions, which detect stale values, and the stamps of creation and change.
@Suite struct RevisionTests {
    private func conflict<M: Model>(_ error: RelataError?, as model: M.Type) -> (given: M, stored: M?)? {
        guard case .conflict(let conflict)? = error, let given = conflict.given as? M else { return nil }
        return (given, conflict.stored as? M)
    }

    @Test(arguments: Engine.allCases) func everyWriteIncrementsTheRevision(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Article.self)
        var article = try store.insert(Article(title: "1"))
        #expect(article.revision == 1)
        article.title = "2"
        article = try store.update(article)
        article = try store.save(article)
        #expect(article.revision == 3)
        article = try store.update(article.id) { $0.title = "4" }
        #expect(article.revision == 4)
        try store.update(Article.all) { $0.title.set(to: "5") }
        #expect(try store.refresh(article).revision == 5)
        // A save without changes isn't a write.
        try store.update(article.id) { $0.title = "5" }
        #expect(try store.refresh(article).revision == 5)
    }

    /// An update keeps the date of creation, and returns the stored one.
    @Test(arguments: Engine.allCases) func theCreationDateStays(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Stamped.self)
        let first = try store.insert(Stamped(name: "a"))
        var edited = first
        edited.created = .distantPast
        #expect(try store.save(edited).created == first.created)
        #expect(try store.update([edited])[0].created == first.created)
        // A new value with an existing key.
        #expect(try store.save(Stamped(id: first.id, name: "b")).created == first.created)
        #expect(try store.save(Stamped(name: "b"), matching: { $0.name }).created == first.created)
        let changed = try store.update(first.id) { $0.created = Date(timeIntervalSince1970: 1) }
        #expect(try changed.created == store.refresh(first).created)
    }

    @Test(arguments: Engine.allCases) func staleValuesAreConflictsWithBothVersions(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Article.self)
        let article = try store.insert(Article(title: "old"))
        try store.update(article.id) { $0.title = "theirs" }
        var mine = article
        mine.title = "mine"
        for error in [
            thrown { try store.update(mine) }, thrown { try store.save(mine) },
            thrown { try store.save([Article(title: "other"), mine]) },
            thrown { try store.save(mine, Section(name: "s")) },
        ] {
            let versions = try #require(conflict(error, as: Article.self))
            #expect(versions.given.title == "mine" && versions.stored?.title == "theirs")
        }
        #expect(try store.count(Article.all) == 1 && store.count(Section.all) == 0)
        // After reading it again, it can be saved.
        var fresh = try store.refresh(mine)
        fresh.title = "mine"
        #expect(try store.save(fresh).revision == 3)
    }

    @Test(arguments: Engine.allCases) func deletedObjectsAreConflictsToo(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Article.self)
        let article = try store.insert(Article(title: "t"))
        try store.delete(article)
        for error in [thrown { try store.update(article) }, thrown { try store.save(article) }] {
            let versions = try #require(conflict(error, as: Article.self))
            #expect(versions.given == article && versions.stored == nil)
        }
        #expect(try store.count(Article.all) == 0)
        #expect(thrown { try store.update(article.id) { $0.title = "x" } }?.kind == "notFound")
    }

    @Test(arguments: Engine.allCases) func changesFromTheInverseIncrementTheRevision(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Article.self)
        var article = Article(title: "t")
        article.comments.add([Comment(text: "a"), Comment(text: "b")])
        article.summary.set(Summary())
        article = try store.insert(article)
        func comment(_ id: Int) throws -> Comment { try #require(try store.fetch(Comment.self, id: id)) }
        var before = try [comment(1), comment(2)]
        // A reorder counts for the moved member.
        try store.update(article.id) { $0.comments.place(id: 2, after: nil) }
        #expect(try comment(1) == before[0] && comment(2).revision == before[1].revision + 1)
        #expect(thrown { try store.save(before[1]) }?.kind == "conflict")
        // An edit through the inverse, and the same edit again, which changes nothing.
        before = try [comment(1), comment(2)]
        try store.update(article.id) { $0.comments.remove(id: 1) }
        #expect(try comment(1).revision == before[0].revision + 1 && comment(1).article == nil)
        try store.update(article.id) { $0.comments.remove(id: 1) }
        try store.update(article.id) { $0.comments.add(id: 2) }
        #expect(try comment(1).revision == before[0].revision + 1 && comment(2) == before[1])
        // A reference that a deletion unsets, and a partner that is taken over.
        let other = try store.insert(Article(title: "u"))
        try store.update(other.id) { $0.summary.set(id: 1) }
        #expect(try store.fetch(Summary.self, id: 1)?.revision == 2)
        try store.insert(Summary(article: ToOne(other)))
        #expect(try store.fetch(Summary.self, id: 1)?.revision == 3)
        before = try [comment(1), comment(2)]
        try store.delete(article)
        #expect(try comment(2).revision == before[1].revision + 1 && comment(2).article == nil)
        #expect(thrown { try store.save(before[1]) }?.kind == "conflict")
    }

    @Test(arguments: Engine.allCases) func savedObjectsAreNotStale(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Article.self)
        let article = try store.insert(
            Article(title: "t", comments: ToMany([Comment(text: "a"), Comment(text: "b")])))
        for comment in try article.comments.objects { _ = try store.save(comment) }
        let (one, two) = try store.insert(
            Summary(article: ToOne(id: article.id)), Article(title: "u", section: ToOne(Section(name: "s"))))
        var (thief, victim) = (two, one)
        thief.summary.set(victim)
        let (saved, taken) = try store.save(thief, victim)
        #expect(taken.article?.id == two.id)
        victim = try store.save(taken)
        #expect(victim == (try store.refresh(victim)))
        #expect(try store.save(saved).revision == 3)
    }

    @Test(arguments: Engine.allCases) func twoObjectsMaySwapPartners(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Article.self)
        let (a, b) = try store.insert(Article(title: "a"), Article(title: "b"))
        var (one, two) = try store.insert(Summary(article: ToOne(a)), Summary(article: ToOne(b)))
        for round in 1...2 {
            (one.article, two.article) = (two.article, one.article)
            (one, two) = round == 1 ? try store.save(one, two) : try store.update(one, two)
            #expect(one.revision == round + 1 && two.revision == round + 1)
            #expect(try store.refresh(one).article?.id == one.article?.id && store.refresh(two).revision == round + 1)
        }
        #expect(one.article?.id == a.id && two.article?.id == b.id)
        // A stale object is still refused. If an object outside the batch loses its value, its revision is incremented.
        try store.update(Summary.self, id: 2) { $0.article = nil }
        (one.article, two.article) = (two.article, one.article)
        #expect(thrown { try store.save(one, two) }?.kind == "conflict")
        try store.insert(Summary(article: ToOne(a)))
        #expect(thrown { try store.save(one) }?.kind == "conflict")
        #expect(try store.fetch(Summary.self, id: 1)?.revision == 4)
    }

    @Test(arguments: Engine.allCases) func linkedObjectsAreNeverStale(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Article.self)
        let article = try store.insert(Article(title: "t"))
        try store.update(article.id) { $0.title = "u" }
        let comment = try store.insert(Comment(text: "c", article: ToOne(article)))
        #expect(comment.article?.id == article.id)
        #expect(try store.refresh(article).title == "u")
    }

    @Test(arguments: Engine.allCases) func stampsAreSetByTheStore(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Article.self, Stamped.self)
        let start = Date(timeIntervalSinceNow: -0.001)
        let long = Date(timeIntervalSince1970: 0)
        let article = try store.insert(Article(title: "t", created: long, updated: long))
        #expect(article.created >= start && article.created == article.updated)
        #expect(try store.refresh(article) == article)
        let stamped = try store.save(Stamped(name: "n"))
        #expect(stamped.created >= start && stamped.updated >= start)
        var changed = stamped
        changed.name = "m"
        changed.created = long
        changed = try store.save(changed)
        let stored = try store.refresh(stamped)
        #expect(stored.created == stamped.created && stored.updated > stamped.updated && stored.name == "m")
        #expect(abs(changed.updated.timeIntervalSince(stored.updated)) < 0.000_001)
        let upserted = try store.save(Stamped(name: "m"), matching: { $0.name })
        #expect(upserted.id == stamped.id && upserted.created == stamped.created && upserted.updated > stored.updated)
        try store.update(Stamped.all) { $0.name.set(to: "q") }
        #expect(try store.refresh(stamped).updated > upserted.updated)
        // By an edit of the list it is in.
        let comment = try store.insert(Comment(text: "c"))
        try store.update(article.id) { $0.comments.add(comment) }
        #expect(try #require(store.refresh(comment).updated) > #require(comment.updated))
    }
}
