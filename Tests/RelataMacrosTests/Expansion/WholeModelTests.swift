import Testing

/// Models as a whole: every part, in its order.
@Suite struct WholeModelTests {
    @Test func aModelOfValues() {
        expectExpansion(
            of: #"""
                @Model public struct Book {
                    public let id: ID<Book>
                    /// The title.
                    @Attribute(.notEmpty, .unique, column: "Title")
                    // Not null.
                    public var title: String
                    var year: Int = 2000
                    @Attribute(.iso8601) var printed: Date?
                    @Attribute(.updatedAt) var updatedAt: Date = .distantPast
                    @Transient var isSelected = false
                    var upper: String { title.uppercased() }
                    #Unique<Book>([\.title, \.year])
                    #Index<Book>([\.year])
                }
                """#,
            is: #"""
                public struct Book {
                    public let id: ID<Book>
                    /// The title.
                    // Not null.
                    public var title: String
                    var year: Int = 2000
                    var printed: Date?
                    var updatedAt: Date = .distantPast
                    var isSelected = false
                    var upper: String { title.uppercased() }

                    public init(
                        id: Relata.ID<Book> = .init(),
                        title: String,
                        year: Int = 2000,
                        printed: Date? = nil,
                        updatedAt: Date = .distantPast
                    ) {
                        self.id = id
                        self.title = title
                        self.year = year
                        self.printed = printed
                        self.updatedAt = updatedAt
                    }

                    public init(saved other: Self, _ state: inout Relata.SavedState) {
                        let stored = state.isReloaded ? state.stored(other) : other
                        self.id = stored.id
                        self.title = stored.title
                        self.year = stored.year
                        self.printed = state.value(stored.printed, Relata.coding(of: Date?.self, as: .iso8601))
                        self.updatedAt = state.updatedAt(stored.updatedAt)
                        self.isSelected = other.isSelected
                    }

                    public init(from reader: inout Relata.RowReader) throws {
                        self.id = try reader.readValue(Relata.ID<Book>.self)
                        self.title = try reader.readValue(String.self)
                        self.year = try reader.readValue(Int.self)
                        self.printed = try reader.read(Relata.coding(of: Date?.self, as: .iso8601))
                        self.updatedAt = try reader.readValue(Date.self)
                    }

                    public func bind(to binder: inout Relata.Binder) throws {
                        try binder.bindValue(self.id)
                        try binder.bindValue(self.title)
                        try binder.bindValue(self.year)
                        try binder.bind(self.printed, Relata.coding(of: Date?.self, as: .iso8601))
                        try binder.bindValue(self.updatedAt)
                    }

                    public func visitLinks(_ visitor: inout Relata.LinkVisitor) throws {}

                    public mutating func loadLinks(from loader: inout Relata.LinkLoader) {}

                    public typealias Key = Relata.ID<Book>

                    public var primaryKey: Key? {
                        self.id
                    }

                    public static var entityName: String {
                        "Book"
                    }

                    public static var linkedModels: [any Relata.Model.Type] {
                        []
                    }

                    public static let entity: Relata.Entity = makeEntity()

                    private static func makeEntity() -> Relata.Entity {
                        var properties = Relata.PropertyList()
                        properties.value("id", Relata.ID<Book>.self)
                        properties.append(.attribute("title", Relata.coding(of: String.self), column: "Title", options: [.notEmpty, .unique]))
                        properties.append(.attribute("year", Relata.coding(of: Int.self), default: { 2000 }))
                        properties.append(.attribute("printed", Relata.coding(of: Date?.self, as: .iso8601), options: [.iso8601]))
                        properties.append(.attribute("updatedAt", Relata.coding(of: Date.self), options: [.updatedAt], default: { .distantPast }))
                        return Relata.Entity(
                            name: entityName,
                            properties: properties.properties,
                            key: ["id"],
                            uniques: [["title"], ["title", "year"]],
                            indexes: [["year"]],
                            updatedAt: "updatedAt"
                        )
                    }

                    public func hash(into hasher: inout Hasher) {
                        hasher.combine(self.primaryKey)
                    }

                    public static func == (lhs: Self, rhs: Self) -> Bool {
                        guard Relata.isEqual(lhs.id, rhs.id) else { return false }
                        guard Relata.isEqual(lhs.title, rhs.title) else { return false }
                        guard Relata.isEqual(lhs.year, rhs.year) else { return false }
                        guard Relata.isEqual(lhs.printed, rhs.printed) else { return false }
                        guard Relata.isEqual(lhs.updatedAt, rhs.updatedAt) else { return false }
                        guard Relata.isEqual(lhs.isSelected, rhs.isSelected) else { return false }
                        return true
                    }

                    public struct Fields: Relata.ModelFields {
                        public let fieldPath: Relata.FieldPath
                        public init(path: Relata.FieldPath) {
                            self.fieldPath = path
                        }
                        public var id: Relata.Field<Relata.ID<Book>> {
                            fieldPath.value("id")
                        }
                        public var title: Relata.Field<String> {
                            fieldPath.value("title")
                        }
                        var year: Relata.Field<Int> {
                            fieldPath.value("year")
                        }
                        var printed: Relata.Field<Date?> {
                            Relata.Field<Date?>(fieldPath, "printed", Relata.coding(of: Date?.self, as: .iso8601))
                        }
                        var updatedAt: Relata.Field<Date> {
                            fieldPath.value("updatedAt")
                        }
                    }
                }

                extension Book: nonisolated Relata.Model, nonisolated Hashable, nonisolated Identifiable {}
                """#)
    }

    @Test func aModelOfLinks() {
        expectExpansion(
            of: #"""
                @Model struct Book {
                    let id: Int?
                    @Relationship(onTargetDelete: .cascade, columns: ["Genre"]) var genre: ToOne<Genre>?
                    @Relationship(inverse: \ISBN.book) var isbn: HasOne<ISBN>
                    @Relationship(deleteRule: .cascade, inverse: \Page.book, order: \Page.number, minimum: 1)
                    var pages: ToMany<Page>
                    @Relationship(ordered: true, joinTable: "Wrote") var authors: ToMany<Author>
                    @Relationship(through: \Book.pages, \Page.image) var images: Through<Image>
                }
                """#,
            is: #"""
                struct Book {
                    let id: Int?
                    var genre: ToOne<Genre>?
                    var isbn: HasOne<ISBN>
                    var pages: ToMany<Page>
                    var authors: ToMany<Author>
                    var images: Through<Image>

                    init(
                        id: Int? = nil,
                        genre: ToOne<Genre>? = nil,
                        isbn: HasOne<ISBN> = .init(),
                        pages: ToMany<Page> = .init(),
                        authors: ToMany<Author> = .init()
                    ) {
                        self.id = id
                        self.genre = genre
                        self.isbn = isbn
                        self.pages = pages
                        self.authors = authors
                        self.images = .init()
                    }

                    @_disfavoredOverload
                    init(
                        id: Int? = nil,
                        genre: (some Relata.ToOneConvertible<Genre>)? = Relata.ToOne<Genre>?.none,
                        isbn: ISBN? = nil,
                        pages: ToMany<Page> = .init(),
                        authors: ToMany<Author> = .init()
                    ) {
                        self.init(
                            id: id,
                            genre: genre?._toOne,
                            isbn: isbn.map { .init($0) } ?? .init(),
                            pages: pages,
                            authors: authors
                        )
                    }

                    init(saved other: Self, _ state: inout Relata.SavedState) {
                        let stored = state.isReloaded ? state.stored(other) : other
                        self.id = state.assignedKey(other.id)
                        self.genre = state.link(other.genre, stored: stored.genre)
                        self.isbn = state.link(other.isbn)
                        self.pages = state.link(other.pages)
                        self.authors = state.link(other.authors)
                        self.images = other.images
                    }

                    init(from reader: inout Relata.RowReader) throws {
                        self.id = try reader.readOptional(Int.self)
                        self.genre = try reader.readLink(ToOne<Genre>?.self)
                        self.isbn = .init()
                        self.pages = .init()
                        self.authors = .init()
                        self.images = .init()
                    }

                    func bind(to binder: inout Relata.Binder) throws {
                        try binder.bindOptional(self.id)
                        try binder.bindLink(self.genre)
                    }

                    func visitLinks(_ visitor: inout Relata.LinkVisitor) throws {
                        try visitor.visit(self.genre, at: 0)
                        try visitor.visit(self.isbn, at: 1)
                        try visitor.visit(self.pages, at: 2)
                        try visitor.visit(self.authors, at: 3)
                    }

                    mutating func loadLinks(from loader: inout Relata.LinkLoader) {
                        loader.load(&self.genre, at: 0)
                        loader.load(&self.isbn, at: 1)
                        loader.load(&self.pages, at: 2)
                        loader.load(&self.authors, at: 3)
                        loader.load(&self.images, at: 4)
                    }

                    typealias Key = Int

                    var primaryKey: Key? {
                        self.id
                    }

                    static var entityName: String {
                        "Book"
                    }

                    static var linkedModels: [any Relata.Model.Type] {
                        [Genre.self, ISBN.self, Page.self, Author.self, Image.self]
                    }

                    static let entity: Relata.Entity = makeEntity()

                    private static func makeEntity() -> Relata.Entity {
                        var properties = Relata.PropertyList()
                        properties.optional("id", Int.self)
                        properties.append(.toOne("genre", ToOne<Genre>?.self, columns: ["Genre"], onTargetDelete: .cascade))
                        #sourceLocation(file: "test.swift", line: 4)
                        do { let inverse = { Relata.KeyPaths<ISBN>().`book` }; properties.append(.hasOne("isbn", HasOne<ISBN>.self, owner: Book.self, inverse: "book", inverse())) }
                        #sourceLocation()
                        #sourceLocation(file: "test.swift", line: 6)
                        do { let inverse = { Relata.KeyPaths<Page>().`book` }; let order = { Relata.KeyPaths<Page>().`number` }; properties.append(.toMany("pages", ToMany<Page>.self, owner: Book.self, inverse: "book", inverse(), order: .attribute("number", order()), deleteRule: .cascade, minimum: 1)) }
                        #sourceLocation()
                        properties.append(.manyToMany("authors", ToMany<Author>.self, order: .stored, joinTable: "Wrote"))
                        #sourceLocation(file: "test.swift", line: 8)
                        do { let toMany = { Relata.KeyPaths<Book>().`pages` }; let toOne = { Relata.KeyPaths<Page>().`image` }; properties.append(.through("images", Through<Image>.self, owner: Book.self, toMany: "pages", toOne: "image", toMany(), toOne())) }
                        #sourceLocation()
                        return Relata.Entity(
                            name: entityName,
                            properties: properties.properties,
                            key: ["id"],
                            isKeyAssigned: true
                        )
                    }

                    func hash(into hasher: inout Hasher) {
                        hasher.combine(self.primaryKey)
                    }

                    static func == (lhs: Self, rhs: Self) -> Bool {
                        guard Relata.isEqual(lhs.id, rhs.id) else { return false }
                        guard Relata.isEqual(lhs.genre, rhs.genre) else { return false }
                        guard Relata.isEqual(lhs.isbn, rhs.isbn) else { return false }
                        guard Relata.isEqual(lhs.pages, rhs.pages) else { return false }
                        guard Relata.isEqual(lhs.authors, rhs.authors) else { return false }
                        guard Relata.isEqual(lhs.images, rhs.images) else { return false }
                        return true
                    }

                    struct Fields: Relata.ModelFields {
                        let fieldPath: Relata.FieldPath
                        init(path: Relata.FieldPath) {
                            self.fieldPath = path
                        }
                        var id: Relata.Field<Int?> {
                            fieldPath.optional("id")
                        }
                        var genre: Relata.ToOneField<Genre> {
                            Relata.ToOneField<Genre>(fieldPath, "genre")
                        }
                        var isbn: Relata.HasOneField<ISBN> {
                            Relata.HasOneField<ISBN>(fieldPath, "isbn")
                        }
                        var pages: Relata.ToManyField<Page> {
                            Relata.ToManyField<Page>(fieldPath, "pages")
                        }
                        var authors: Relata.ToManyField<Author> {
                            Relata.ToManyField<Author>(fieldPath, "authors")
                        }
                        var images: Relata.ToManyField<Image> {
                            Relata.ToManyField<Image>(fieldPath, "images")
                        }
                    }
                }

                extension Book: nonisolated Relata.Model, nonisolated Relata.KeyAssignedModel, nonisolated Hashable, nonisolated Identifiable {}
                """#)
    }
}
