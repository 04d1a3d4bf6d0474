import Testing

@Suite struct LinkMisuseTests {
    @Test(arguments: ["ToOne<Genre>?", "ToMany<Author>"]) func aLinkIsAVariable(type: String) {
        expectMisuse(
            inMembers: "let link: \(type)", at: "let",
            "'link' must be 'var': a link is filled by loading and changed by edits", fixed: ["var link: \(type)"])
    }

    @Test func aHasOneIsNeverOptional() {
        expectMisuse(
            inMembers: "@Relationship(inverse: \\ISBN.book) var isbn: Optional<HasOne<ISBN>>",
            at: "Optional<HasOne<ISBN>>",
            "'isbn' can't be optional, because a HasOne is a view that is loaded or not, and may be empty: remove the '?'",
            fixed: ["@Relationship(inverse: \\ISBN.book) var isbn: HasOne<ISBN>"])
    }

    @Test func aHasOneNeedsAnInverse() {
        expectMisuse(
            inMembers: "var isbn: HasOne<ISBN>", at: "HasOne<ISBN>",
            "'isbn' is the view of a to-one of ISBN: name it with @Relationship(inverse: \\ISBN.property)",
            fixed: ["@Relationship(inverse: \\ISBN.<#property#>) var isbn: HasOne<ISBN>"])
        expectMisuse(
            inMembers: "@Relationship(deleteRule: .cascade) public var isbn: HasOne<ISBN>", at: "HasOne<ISBN>",
            "'isbn' is the view of a to-one of ISBN: name it with @Relationship(inverse: \\ISBN.property)",
            fixed: ["@Relationship(inverse: \\ISBN.<#property#>, deleteRule: .cascade) public var isbn: HasOne<ISBN>"])
    }

    @Test func aThroughNeedsAPath() {
        expectMisuse(
            inMembers: "var songs: Through<Song>", at: "Through<Song>",
            "'songs' goes through a join model: name the path to Song with "
                + "@Relationship(through: \\Book.toMany, \\JoinModel.toOne)",
            fixed: [
                "@Relationship(through: \\Book.<#toMany#>, \\<#JoinModel#>.<#toOne#>) var songs: Through<Song>"
            ])
    }

    @Test(arguments: ["songs", "title", "authors"]) func aThroughStartsAtAToMany(path: String) {
        expectMisuse(
            inMembers: """
                var title: String
                var authors: ToMany<Author>
                @Relationship(through: \\Book.\(path), \\Item.song) var songs: Through<Song>
                """, at: "\\Book.\(path)",
            "'songs' must go through a ToMany of this model that has an 'inverse:', and '\(path)' isn't one: name the one "
                + "that holds the objects of the join model")
    }

    @Test func aThroughContinuesFromTheJoinModel() {
        let items = "@Relationship(inverse: \\Item.book) var items: ToMany<Item>; "
        expectMisuse(
            inMembers: items + "@Relationship(through: \\Book.items, \\Song.song) var songs: Through<Song>",
            at: "\\Song.song", "'songs' needs a key path that starts from Item, not from Song: write '\\Item.…'",
            fixed: [items + "@Relationship(through: \\Book.items, \\Item.song) var songs: Through<Song>"])
    }

    @Test func anInverseStartsAtTheTarget() {
        expectMisuse(
            inMembers: "@Relationship(inverse: \\Author.book) var reviews: ToMany<Review>", at: "\\Author.book",
            "'reviews' needs a key path that starts from Review, not from Author: write '\\Review.…'",
            fixed: ["@Relationship(inverse: \\Review.book) var reviews: ToMany<Review>"])
        expectMisuse(
            inMembers: "@Relationship(inverse: \\.book) var reviews: ToMany<Outer.Review>", at: "\\.book",
            "'reviews' needs a key path that starts from Outer.Review: write '\\Outer.Review.…'",
            fixed: ["@Relationship(inverse: \\Outer.Review.book) var reviews: ToMany<Outer.Review>"])
    }

    @Test(
        arguments: [
            "@Relationship(inverse: \\Outer.Review.book) var reviews: ToMany<Review>",
            "@Relationship(inverse: \\Self.parent) var children: ToMany<Book>",
            "@Relationship(inverse: \\Book.parent) var children: ToMany<Self>",
        ])
    func anInverseMaySpellTheTargetInAnotherWay(declaration: String) {
        #expect(expand("@Model struct Book { let id: ID<Book>; \(declaration) }").findings.map(\.message) == [])
    }

    @Test(arguments: ["path", "\\Review[0]", "\\Review.book?.id"]) func anInverseIsAKeyPath(path: String) {
        expectMisuse(
            inMembers: "@Relationship(inverse: \(path)) var reviews: ToMany<Review>", at: path,
            "@Relationship needs a key path literal to one property, such as '\\Review.name'")
    }

    @Test(
        arguments: [
            (
                "ToOne<Genre>", "inverse: \\Genre.books",
                "a to-one holds the key itself. Write the inverse on the other side's HasOne or ToMany, which is the view"
            ),
            ("ToOne<Genre>", "minimum: 1", "a to-one counts one, or none if it is optional"),
            ("ToOne<Genre>", "ordered: true", "only a ToMany is ordered"),
            ("ToOne<Genre>", "joinTable: \"t\"", "only a many-to-many has a join table"),
            (
                "ToMany<Author>", "onTargetDelete: .cascade",
                "only a to-one has one target. Write it on the to-one, or use 'deleteRule:'"
            ),
            (
                "ToOne<Genre>", "removeRule: .delete",
                "nothing is taken out of it. Write it on the other side's HasOne or ToMany, which is the view"
            ),
            (
                "ToMany<Author>", "removeRule: .delete",
                "an object of a many-to-many isn't owned by it, so taking it out deletes nothing"
            ),
            ("ToMany<Author>", "columns: [\"a\"]", "only a to-one has columns. Write them on the to-one"),
        ])
    func anArgumentHasItsPlace(type: String, argument: String, explanation: String) {
        let label = argument.prefix { $0 != ":" }
        expectMisuse(
            inMembers: "@Relationship(deleteRule: .cascade, \(argument)) var link: \(type)", at: "\(argument)",
            "'\(label):' has no effect on 'link': \(explanation)",
            fixed: ["@Relationship(deleteRule: .cascade) var link: \(type)"])
    }

    @Test(
        arguments: [
            ("HasOne<Review>", "maximum: 1", "only a ToMany is counted"),
            ("HasOne<Review>", "order: \\Review.position", "only a ToMany is ordered"),
            ("ToMany<Review>", "joinTable: \"t\"", "it is a view. Write it on the side without 'inverse:'"),
            ("ToMany<Review>", "originalName: \"r\"", "a view isn't stored, so it can be renamed freely"),
        ])
    func anArgumentOfAViewHasItsPlace(type: String, argument: String, explanation: String) {
        let label = argument.prefix { $0 != ":" }
        expectMisuse(
            inMembers: "@Relationship(inverse: \\Review.book, \(argument)) var link: \(type)", at: "\(argument)",
            "'\(label):' has no effect on 'link': \(explanation)",
            fixed: ["@Relationship(inverse: \\Review.book) var link: \(type)"])
    }

    @Test func onlyAThroughHasAPath() {
        expectMisuse(
            inMembers: "@Relationship(through: \\Book.items, \\Item.song) var songs: ToMany<Song>",
            at: "through: \\Book.items,",
            "'through:' has no effect on 'songs': only a Through goes through a join model. Make its type 'Through', or "
                + "remove it",
            fixed: ["var songs: ToMany<Song>"])
    }

    @Test func aRequiredToOneCantBeUnset() {
        expectMisuse(
            inMembers: "@Relationship(onTargetDelete: .nullify) var genre: ToOne<Genre>", at: ".nullify",
            "'genre' is required and can't be unset: write '.deny' or '.cascade', or make the link optional",
            fixed: [
                "@Relationship(onTargetDelete: .deny) var genre: ToOne<Genre>",
                "@Relationship(onTargetDelete: .cascade) var genre: ToOne<Genre>",
                "@Relationship(onTargetDelete: .nullify) var genre: ToOne<Genre>?",
            ])
    }

    @Test func joinRowsAreAlwaysDeleted() {
        expectMisuse(
            inMembers: "@Relationship(deleteRule: .noAction) var authors: ToMany<Author>", at: ".noAction",
            "'authors' is a many-to-many, whose join rows are always deleted with their objects: write '.nullify'",
            fixed: ["@Relationship(deleteRule: .nullify) var authors: ToMany<Author>"])
    }

    @Test func theMinimumIsTheSmallerCount() {
        expectMisuse(
            inMembers: "@Relationship(minimum: 3, maximum: 2) var authors: ToMany<Author>", at: "3",
            "'authors' can't hold at least 3 and at most 2: make the minimum the smaller one")
    }

    @Test(arguments: [("minimum", -1), ("maximum", 0)]) func invalidCountLimitsAreRefused(label: String, count: Int) {
        expectMisuse(
            inMembers: "@Relationship(\(label): \(count)) var authors: ToMany<Author>", at: "\(count)",
            "'authors' can't have \(count) as its \(label): write a count, or remove '\(label):'",
            fixed: ["@Relationship var authors: ToMany<Author>"])
    }

    @Test func aListIsOrderedInOneWay() {
        expectMisuse(
            inMembers:
                "@Relationship(inverse: \\Item.book, order: \\Item.position, ordered: true) var items: ToMany<Item>",
            at: "true",
            "'items' is ordered either by an attribute with 'order:' or by the store with 'ordered:': keep one",
            fixed: ["@Relationship(inverse: \\Item.book, order: \\Item.position) var items: ToMany<Item>"])
    }

    @Test func anOrderIsNotComputed() {
        expectMisuse(
            inMembers: "@Relationship(ordered: isOrdered) var authors: ToMany<Author>", at: "isOrdered",
            "Whether 'authors' is ordered must be known to @Model: write 'true' or 'false'",
            fixed: ["@Relationship(ordered: true) var authors: ToMany<Author>"])
    }

    @Test func aManyToManyIsOrderedByTheStore() {
        expectMisuse(
            inMembers: "@Relationship(order: \\Author.name) var authors: ToMany<Author>", at: "\\Author.name",
            "'authors' is a many-to-many, so no attribute of Author can order it: write 'ordered: true', or give the "
                + "'inverse:' that makes it a one-to-many",
            fixed: ["@Relationship(ordered: true) var authors: ToMany<Author>"])
    }
}
