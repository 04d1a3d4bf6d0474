import Testing

/// Compiler errors for mistakes in queries and calls: one error for each, at the mistake.
@Suite(.enabled(if: Compiler.arguments != nil, "the built modules and the macros weren't found beside the tests"))
struct DiagnosticsTests {
    private static let models = """
        import Foundation
        import Relata
        @Model struct Genre { let id: ID<Genre>; var name: String }
        @Model struct Author { let id: ID<Author>; var name: String }
        @Model struct Song { var id: Int?; var title: String }
        @Model struct Book {
            let id: ID<Book>
            var title: String
            var year: Int
            var weight: Double?
            var genre: ToOne<Genre>?
            var song: ToOne<Song>
            var authors: ToMany<Author>
        }

        """

    @Test func mistakesInClosuresAreTheOnlyErrorAndAtTheirPlace() throws {
        try Compiler.expectErrors(
            in: Self.models + """
                func use(_ store: Store) async throws {
                    _ = try await store.fetch(Book.where { $0.titel == "x" })  // has no member 'titel'
                    _ = try await store.fetch(Book.where { $0.title == 3 })  // cannot convert value of type 'Int'
                    _ = try await store.fetch(Book.where { $0.year > 3 && $0.titel == "x" })  // has no member 'titel'
                    _ = try await store.fetch(Book.where { $0.year > unknown })  // cannot find 'unknown' in scope
                    _ = try await store.fetch(Book.where { $0.title })  // and 'Bool' be equivalent
                    _ = try await store.fetch(Book.where { $0.genre.nam == "x" }.limit(3))  // 'nam'
                    _ = try await store.fetch(Book.where { $0.authors.contains { $0.nam == "x" } })  // no member 'nam'
                    _ = try await store.fetch(Book.sorted { $0.titel })  // has no member 'titel'
                    _ = try await store.fetch(Book.all.including { $0.author })  // has no member 'author'
                    _ = try await store.fetch(Book.all.select { ($0.titel, $0.year) })  // has no member 'titel'
                    _ = Book.all.grouped { $0.titel }  // has no member 'titel'
                    _ = Book.all.grouped { ($0.titel, $0.year) }  // has no member 'titel'
                    _ = Book.all.grouped { $0.title; $0.year }  // several as a tuple: 'grouped { ($0.a, $0.b) }'
                    _ = Book.all.grouped { $0.authors }  // give an attribute, a to-one or a computed value
                    _ = try await store.fetch(Book.self, id: ID()) { $0.autors }  // has no member 'autors'
                    _ = try await store.first(Book.where { $0.titel == "x" })  // has no member 'titel'
                    _ = try await store.count(Book.where { $0.titel == "x" })  // has no member 'titel'
                    try await store.read { _ = try $0.fetch(Book.where { $0.titel == "x" }) }  // has no member 'titel'
                    _ = Book.where { $0.weight.or(0) % 2 == 0 }  // operator function '%'
                    _ = try await store.fetch("x")  // write a query, such as 'Book.where { … }', an ID or a to-one
                    _ = try await store.fetch(Song.self, id: "x")  // the key of the model is of another type
                    _ = try await store.update(Book.where { $0.year > 3 }) { $0.titel.set(to: "x") }  // member 'titel'
                    _ = try await store.update(Book.all) { $0.titel.set(to: "x") }  // has no member 'titel'
                    _ = try await store.update(Book.all) { $0.title.set(to: 3) }  // cannot convert value of type 'Int'
                    _ = try await store.update(Book.all) { $0.title.unset() }  // the attribute can't be unset
                    try await store.write { try $0.update(Book.all) { $0.titel.set(to: "x") } }  // no member 'titel'
                    try await store.write { try $0.update(Book.all) { $0.title.set(to: 3) } }  // value of type 'Int'
                    _ = try await store.delete(Book.where { $0.titel == "x" })  // has no member 'titel'
                    _ = store.observe(Book.where { $0.titel == "x" })  // has no member 'titel'
                }
                func use(_ store: Store, _ book: Book) async throws {
                    _ = try await store.update(book.id) { $0.titel = "x" }  // has no member 'titel'
                    _ = try await store.update(Book.self, id: book.id) { $0.titel = "x" }  // has no member 'titel'
                    _ = try await store.fetch(book.id, including: { $0.autors })  // has no member 'autors'
                    _ = try await store.update("x") { $0.title = "x" }  // requires that 'String' conform to 'ModelKey'
                }
                """)
    }

    @Test func mistakesInCustomTypesAreTheOnlyErrorAndNamed() throws {
        try Compiler.expectErrors(
            in: Self.models + """
                enum Kind: String, Codable { case novel, essay }
                struct Country: Codable { var code: String }
                struct Address: Codable { var city: String; var country: Country }
                @Model struct Shop {
                    let id: ID<Shop>
                    var name: String
                    var kind: Kind
                    var maybe: Kind?
                    var address: Address
                    var postal: Address?
                    var branches: [Address] = []
                    var genre: ToOne<Genre>?
                }
                func use(_ store: Store, _ genre: Genre) async throws {
                    _ = Shop.where { $0.kind == .novl }  // (aka 'Kind') has no member 'novl'
                    _ = Shop.where { $0.kind != .novl && $0.name == "x" }  // (aka 'Kind') has no member 'novl'
                    _ = try await store.fetch(Shop.where { $0.kind == .novl })  // (aka 'Kind') has no member 'novl'
                    _ = Shop.where { $0.maybe == .novl }  // has no member 'novl'
                    _ = Shop.where { $0.address.cty == "x" }  // 'cty' using key path from root type
                    _ = Shop.where { $0.postal.cty == "x" }  // 'cty' using key path from root type
                    _ = Shop.where { $0.branches.contains { $0.cty == "x" } }  // 'cty' using key path from root type
                    _ = Shop.where { $0.address.city == 3 }  // cannot convert value of type 'Int'
                    _ = Shop.where { $0.name.capitalized == "x" }  // 'Field<String>' has no member 'capitalized'
                    _ = Shop.where { $0.address.country.code == "x" && $0.postal.country.code == nil }
                    _ = Shop.where { $0.kind == .novel && $0.maybe == nil && $0.genre == genre || $0.genre == genre.id }
                }
                """)
    }

    @Test func listsInQueriesGetAHint() throws {
        try Compiler.expectErrors(
            in: Self.models + """
                func use(_ store: Store) async throws {
                    _ = try await store.fetch(Book.where { $0.authors.name == "x" })  // write 'contains { $0.title == … }'
                    _ = try await store.fetch(Book.where { $0.authors.filter { $0.name == "x" } })  // write 'contains { … }'
                    _ = try await store.fetch(Book.where { $0.authors.map { $0.name } == "x" })  // write an aggregate
                    _ = try await store.fetch(Book.where { $0.title.count == 3 })  // 'count' has been renamed to 'length'
                }
                """)
    }

    @Test func savingWithoutTakingTheAssignedKeyIsAWarning() throws {
        try Compiler.expectErrors(
            in: Self.models + """
                func use(_ store: Store, _ song: Song, _ genre: Genre) async throws {
                    try await store.save(song)  // result of call to 'save' is unused
                    try await store.save([song])  // result of call to 'save' is unused
                    try await store.write { tx in
                        try tx.save(song)  // result of call to 'save' is unused
                        try tx.save([genre])
                    }
                    let stored = try await store.save(song)
                    try await store.insert(Song(title: stored.title))
                    try await store.save(genre)
                    try await store.save(song, genre)  // result of call to 'save' is unused
                    try await store.save(genre, song)  // result of call to 'save' is unused
                    try await store.save(song, song)  // result of call to 'save' is unused
                    try await store.save(song, genre, genre)  // result of call to 'save' is unused
                    try await store.write { tx in
                        try tx.save(song, genre)  // result of call to 'save' is unused
                        try tx.save(genre, song)  // result of call to 'save' is unused
                        try tx.save(song, song)  // result of call to 'save' is unused
                        try tx.save(genre, genre)
                        let (one, two) = try tx.save(stored, genre)
                        let (three, four, five) = try tx.save(genre, genre, stored)
                        let (six, seven) = try tx.save(two, one)
                        try tx.insert(six, seven, three, four, five)
                    }
                    try await store.save(genre, genre)
                    try await store.insert(song, genre)
                }
                """, ["-warnings-as-errors"])
    }

    @Test func mistakesInInitializersAreTheOnlyErrorAndAtTheirPlace() throws {
        try Compiler.expectErrors(
            in: Self.models + """
                func use(_ genre: Genre, _ author: Author, _ song: Song) {
                    _ = Book(titel: "x", year: 1, song: song)  // have 'titel:year:song:', expected 'title:year:song:'
                    _ = Book(title: 3, year: 1, genre: genre, song: song)  // cannot convert value of type 'Int'
                    _ = Book(title: "x", year: 1, genre: author)  // 'Author' and 'Genre' be equivalent
                    _ = Book(title: "x", year: 1, genre: genre, authors: author)  // expected argument type 'ToMany<Author>'
                    _ = Book(title: "x", year: 1, genre: unknown)  // cannot find 'unknown' in scope
                }
                """)
    }

    @Test func mistakesInMarkersAreTheOnlyErrorAndAtTheirPlace() throws {
        try Compiler.expectErrors(
            in: Self.models + """
                @Model struct Shelf {
                    let id: ID<Shelf>
                    @Relationship(inverse: \\Slot.shelv) var slots: ToMany<Slot>  // has no member 'shelv'
                    @Relationship(inverse: \\Slot.shelv) var slot: HasOne<Slot>  // has no member 'shelv'
                    @Relationship(inverse: \\Slot.shelf, order: \\Slot.rang) var row: ToMany<Slot>  // no member 'rang'
                    @Relationship(through: \\Shelf.slot5, \\Slot.book) var books: Through<Book>  // no member 'slot5'
                    @Relationship(through: \\Shelf.row, \\Slot.bok) var others: Through<Book>  // no member 'bok'
                    @Relationship(inverse: \\Slot.rank) var ranks: ToMany<Slot>  // inverse: must name the property
                    @Relationship(inverse: \\Slot.shelf, order: \\Slot.name) var named: ToMany<Slot>  // integer attribute
                    @Relationship(through: \\Shelf.row, \\Slot.rank) var last: Through<Book>  // through: must name
                    var genre: ToOne<Genre>? = 3  // cannot convert value of type 'Int'
                }
                @Model struct Slot {
                    let id: ID<Slot>
                    var rank: Int
                    var name: String
                    var shelf: ToOne<Shelf>
                    var book: ToOne<Book>
                }
                """)
    }

    @Test func swiftDataCodeGetsAHint() throws {
        try Compiler.expectErrors(
            in: Self.models + """
                @Model struct Photo {
                    let id: ID<Photo>
                    @Attribute(.externalStorage) var data: Data  // remove it: 'Data' is stored in its row
                    @Attribute(.ephemeral) var isOpen: Bool = false  // write '@Transient'
                    @Relationship(minimumModelCount: 1) var songs: ToMany<Song>  // write 'minimum:' and 'maximum:'
                }
                func use(_ store: Store, _ book: inout Book, _ author: Author) async throws {
                    _ = try await store.fetch(Book.self)  // write 'fetch(Book.all)'
                    _ = Book.all.sorted(by: \\.title)  // write 'sorted { $0.title }'
                    _ = Book.sorted(by: [SortDescriptor(\\.title)])  // write 'sorted { $0.title }'
                    _ = Book.where(#Predicate { $0.year > 1970 })  // write the condition without #Predicate
                    _ = Book.filter { $0.year > 1970 }  // write 'where { … }'
                    _ = Book.where { $0.title.lowercased() == "x" }  // write it without parentheses
                    _ = Book.where { $0.title.localizedStandardContains("x") }  // write 'contains("…", [.caseInsensitive
                    _ = Book.where { $0.title.starts(with: "x") }  // 'starts(with:)' has been renamed to 'hasPrefix(_:)'
                    book.authors.append(author)  // 'append' has been renamed to 'add(_:)'
                    book.authors.append(contentsOf: [author])  // has been renamed to 'add(_:)'
                    book.authors.removeAll()  // write 'set([])'
                    print(book.authors.count)  // write 'try objects.count'
                    print(book.authors.isEmpty)  // write 'try objects.isEmpty'
                    _ = book.authors[0]  // write 'try objects[0]'
                    for author in book.authors { print(author) }  // write 'for author in try book.authors.objects'
                }
                """)
    }

    @Test func grdbCodeGetsAHint() throws {
        try Compiler.expectErrors(
            in: Self.models + """
                func use(_ store: Store) async throws {
                    _ = try await store.fetchAll(Book.all)  // 'fetchAll' has been renamed to 'fetch(_:)'
                    _ = try await store.fetchOne(Book.all)  // 'fetchOne' has been renamed to 'first(_:)'
                    _ = try await store.fetchCount(Book.all)  // 'fetchCount' has been renamed to 'count(_:)'
                    _ = Book.order { $0.title }  // write 'sorted { $0.title }'
                    _ = Book.all.order { $0.title.descending }  // write 'sorted { $0.title }'
                    try await store.read { tx in
                        _ = try tx.fetchAll(Book.all)  // 'fetchAll' has been renamed to 'fetch(_:)'
                        _ = try tx.fetchOne(Book.all)  // 'fetchOne' has been renamed to 'first(_:)'
                        _ = try tx.fetchCount(Book.all)  // 'fetchCount' has been renamed to 'count(_:)'
                        _ = Book.fetchAll(tx)  // write 'store.fetch(Book.all)'
                        _ = Book.fetchOne(tx)  // write 'store.fetch(Book.self, id: …)'
                    }
                    try await store.transaction { _ = try $0.fetch(Book.all) }  // write 'write { tx in … }'
                }
                """)
    }

    @Test func linksAreGivenAsObjectsKeysAndLiterals() throws {
        let (errors, output) = try Compiler.errors(
            in: Self.models + """
                @Model struct Sleeve {
                    let id: ID<Sleeve>
                    var book: ToOne<Book>
                    @Relationship(inverse: \\Scan.sleeve) var scan: HasOne<Scan>
                    var authors: ToMany<Author> = []
                }
                @Model struct Scan { var id: Int?; var sleeve: ToOne<Sleeve>? }
                func use(_ genre: Genre, _ maybe: Genre?, _ link: ToOne<Genre>?, _ author: Author, _ song: Song) {
                    _ = Book(title: "x", year: 1, song: song)
                    _ = Book(title: "x", year: 1, genre: genre, song: ToOne(id: 7), authors: [author, author])
                    _ = Book(title: "x", year: 1, genre: maybe, song: song, authors: [])
                    _ = Book(title: "x", year: 1, genre: ToOne(id: genre.id), song: song)
                    _ = Book(title: "x", year: 1, genre: link, song: song)
                    let book = Book(title: "x", year: 1, genre: nil, song: .unset)
                    _ = Sleeve(book: book, scan: Scan())
                    _ = Sleeve(book: ToOne(book), scan: HasOne(Scan()))
                    _ = Sleeve(book: book, authors: [author])
                }
                """)
        #expect(errors == [], "\(output)")
    }
}
