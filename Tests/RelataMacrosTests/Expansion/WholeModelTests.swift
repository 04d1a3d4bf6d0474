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

                    public static func == (lhs: Self, rhs: Self) -> Bool {
                        guard Relata.isSame(lhs.id, rhs.id) else { return false }
                        guard Relata.isSame(lhs.title, rhs.title) else { return false }
                        guard Relata.isSame(lhs.year, rhs.year) else { return false }
                        guard Relata.isEqual(lhs.printed, rhs.printed) else { return false }
                        guard Relata.isSame(lhs.updatedAt, rhs.updatedAt) else { return false }
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
                            Relata.Field(fieldPath, "printed", Relata.coding(of: Date?.self, as: .iso8601))
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
                        self.images = Through<Image>()
                    }

                    @_disfavoredOverload
                    init(
                        id: Int? = nil,
                        genre: (some Relata.ToOneConvertible<Genre>)? = nil as Relata.ToOne<Genre>?,
                        isbn: ISBN? = nil,
                        pages: ToMany<Page> = .init(),
                        authors: ToMany<Author> = .init()
                    ) {
                        self.id = id
                        self.genre = ToOne<Genre>?._link(genre)
                        self.isbn = HasOne<ISBN>._link(isbn)
                        self.pages = pages
                        self.authors = authors
                        self.images = Through<Image>()
                    }

                    init(saved other: Self, _ state: inout Relata.SavedState) {
                        let stored = state.isReloaded ? state.stored(other) : other
                        self.id = state.assignedKey(other.id)
                        self.genre = other.genre._saved(state, stored: stored.genre)
                        self.isbn = other.isbn._saved(state)
                        self.pages = other.pages._saved(state)
                        self.authors = other.authors._saved(state)
                        self.images = other.images
                    }

                    init(from reader: inout Relata.RowReader) throws {
                        self.id = try reader.readOptional(Int.self)
                        self.genre = try ToOne<Genre>?._read(&reader)
                        self.isbn = HasOne<ISBN>()
                        self.pages = ToMany<Page>()
                        self.authors = ToMany<Author>()
                        self.images = Through<Image>()
                    }

                    func bind(to binder: inout Relata.Binder) throws {
                        try binder.bindOptional(self.id)
                        try self.genre._bind(to: &binder)
                    }

                    func visitLinks(_ visitor: inout Relata.LinkVisitor) throws {
                        try self.genre._visit(&visitor, at: 0)
                        try self.isbn._visit(&visitor, at: 1)
                        try self.pages._visit(&visitor, at: 2)
                        try self.authors._visit(&visitor, at: 3)
                    }

                    mutating func loadLinks(from loader: inout Relata.LinkLoader) {
                        self.genre._load(&loader, at: 0)
                        self.isbn._load(&loader, at: 1)
                        self.pages._load(&loader, at: 2)
                        self.authors._load(&loader, at: 3)
                        self.images._load(&loader, at: 4)
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
                        do {
                            func add(_ property: Relata.Property) { properties.append(property) }
                            @available(*, unavailable, message: "'isbn' of the type HasOne<ISBN>: inverse: must name the to-one of the target that links back here, a ToOne<Book> (optional or not)") func add(_: Relata.RefusedProperty<Relata.RefusedInverse>) {}
                            let inverse = { Relata.KeyPaths(of: \Self.isbn).`book` }
                        #sourceLocation(file: "test.swift", line: 4)
                                                                     add(Relata.Property.hasOne("isbn", Relata.valueType(at: \Self.isbn), owner: Book.self, inverse: "book", inverse()))
                        #sourceLocation()
                        }
                        do {
                            func add(_ property: Relata.Property) { properties.append(property) }
                            @available(*, unavailable, message: "'pages' of the type ToMany<Page>: inverse: must name the property of the target that links back here: a ToOne<Book> (optional or not), or a ToMany<Book> for many-to-many") func add(_: Relata.RefusedProperty<Relata.RefusedInverse>) {}
                            @available(*, unavailable, message: "'pages' of the type ToMany<Page>: order: must name an integer attribute of the objects of the list") func add(_: Relata.RefusedProperty<Relata.RefusedOrder>) {}
                            let inverse = { Relata.KeyPaths(of: \Self.pages).`book` }
                            let order = { Relata.KeyPaths(of: \Self.pages).`number` }
                        #sourceLocation(file: "test.swift", line: 6)
                                   add(Relata.Property.toMany("pages", Relata.valueType(at: \Self.pages), owner: Book.self, inverse: "book", inverse(), order: Relata.listOrder(by: "number", order()), deleteRule: .cascade, minimum: 1))
                        #sourceLocation()
                        }
                        properties.append(.manyToMany("authors", ToMany<Author>.self, order: .stored, joinTable: "Wrote"))
                        do {
                            func add(_ property: Relata.Property) { properties.append(property) }
                            @available(*, unavailable, message: "'images' of the type Through<Image>: through: must name a ToMany of this model and then a to-one of its objects that leads to Image") func add(_: Relata.RefusedProperty<Relata.RefusedWay>) {}
                            let toMany = { Relata.KeyPaths<Book>().`pages` }
                            let toOne = { Relata.KeyPaths<Page>().`image` }
                        #sourceLocation(file: "test.swift", line: 8)
                                                                                     add(Relata.Property.through("images", Through<Image>.self, owner: Book.self, toMany: "pages", toOne: "image", toMany(), toOne()))
                        #sourceLocation()
                        }
                        return Relata.Entity(
                            name: entityName,
                            properties: properties.properties,
                            key: ["id"],
                            isKeyAssigned: true
                        )
                    }

                    static func == (lhs: Self, rhs: Self) -> Bool {
                        guard Relata.isSame(lhs.id, rhs.id) else { return false }
                        guard lhs.genre._isEqual(to: rhs.genre) else { return false }
                        guard lhs.isbn._isEqual(to: rhs.isbn) else { return false }
                        guard lhs.pages._isEqual(to: rhs.pages) else { return false }
                        guard lhs.authors._isEqual(to: rhs.authors) else { return false }
                        guard lhs.images._isEqual(to: rhs.images) else { return false }
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
