import Testing

/// The differences between models, part by part.
@Suite struct PartTests {
    private func expectParts(
        of source: String, _ parts: [String], without absent: [String] = [],
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        let text = expansion(of: source, sourceLocation: sourceLocation)
        for part in parts {
            #expect(text.contains(part), "missing: \(part)\nin: \(text)", sourceLocation: sourceLocation)
        }
        for part in absent {
            #expect(!text.contains(part), "found: \(part)\nin: \(text)", sourceLocation: sourceLocation)
        }
    }

    // MARK: Keys

    @Test func aKeyOfSeveralPropertiesIsAStruct() {
        expectParts(
            of: """
                @Model public struct Enrolment: Codable {
                    @Attribute(.primaryKey) public var student: ToOne<Student>
                    @Attribute(.primaryKey, .text) public let course: UUID
                    public var grade: Int?
                }
                """,
            [
                """
                    public struct Key: Hashable, Sendable, Codable {
                        public var student: Student.Key
                        public var course: UUID
                        public init(student: Student.Key, course: UUID) {
                            self.student = student
                            self.course = course
                        }
                    }
                """,
                """
                    public var primaryKey: Key? {
                        guard let student = self.student.id else { return nil }
                        return Key(student: student, course: self.course)
                    }
                """,
                "Student.keyTypes + [Relata.coding(of: UUID.self, as: .text).type]",
                """
                        try Key(student: Student.readKey(from: &reader), \
                course: reader.read(Relata.coding(of: UUID.self, as: .text)))
                """,
                """
                        try Student.bind(key.student, to: &binder)
                        try binder.bind(key.course, Relata.coding(of: UUID.self, as: .text))
                """,
                "init(student: ToOne<Student>, course: UUID, grade: Int? = nil) {",
                "key: [\"student\", \"course\"]",
                "extension Enrolment: nonisolated Relata.Model, nonisolated Hashable {}",
            ], without: ["isKeyAssigned"])
    }

    @Test func modelsWithAssignedKeysSaySo() {
        expectParts(
            of: "@Model struct Note { var id: Int? }",
            [
                "isKeyAssigned: true",
                "extension Note: nonisolated Relata.Model, nonisolated Relata.KeyAssignedModel, nonisolated Hashable",
            ])
        expectParts(of: "@Model struct Tag { var id: Int }", ["extension Tag"], without: ["KeyAssignedModel"])
    }

    @Test func aKeyOfSeveralValuesNeedsNoGuard() {
        expectParts(
            of: """
                @Model struct Seat {
                    @Attribute(.primaryKey) let row: Int
                    @Attribute(.primaryKey) let number: Int
                }
                """, ["        Key(row: self.row, number: self.number)\n", "struct Key: Hashable, Sendable {"])
    }

    @Test func theKeyOfAnotherObjectMayBeTheKey() {
        expectParts(
            of: "@Model struct Cover { @Attribute(.primaryKey) var book: ToOne<Book> }",
            [
                "typealias Key = Book.Key", "        self.book.id\n", "        Book.keyTypes\n",
                "        try Book.readKey(from: &reader)\n", "        try Book.bind(key, to: &binder)\n",
            ])
    }

    @Test(arguments: ["Int?", "Int64?", "Optional<Int>"]) func theDatabaseAssignsAnOptionalInteger(type: String) {
        expectParts(
            of: "@Model struct Book { let id: \(type) }",
            ["typealias Key = Int", "init(id: \(type) = nil)", "state.assignedKey(other.id)", "isKeyAssigned: true"])
    }

    @Test func aMarkedKeyIsAssignedToo() {
        expectParts(
            of: "@Model struct Book { @Attribute(.primaryKey, column: \"BookId\") let number: Int? }",
            ["self.number = state.assignedKey(other.number)", "isKeyAssigned: true", "column: \"BookId\""])
    }

    @Test(arguments: [("Int", ""), ("String", ""), ("UUID", " = .init()"), ("ID<Author>", "")])
    func aKeyHasADefaultWhereItIsMadeOnTheDevice(type: String, value: String) {
        let qualified = type.hasPrefix("ID") ? "Relata." + type : type
        expectParts(of: "@Model struct Book { let id: \(type) }", ["init(id: \(qualified)\(value)) {"])
    }

    // MARK: Initialisers

    @Test func privatePropertiesWithAValueAreNotParameters() {
        expectParts(
            of: """
                @Model struct Book {
                    let id: ID<Book>
                    private var secret: Secret = .none
                    fileprivate var note: String?
                    private(set) var title: String
                    private let code: Int
                }
                """,
            [
                "init(id: Relata.ID<Book> = .init(), title: String, code: Int) {",
                "fileprivate var secret: Relata.ValueField<Secret>",
                "fileprivate var code: Relata.Field", "\n        var title: Relata.Field",
            ])
    }

    @Test func stampsNeedNoValueBeforeTheFirstSave() {
        expectParts(
            of: """
                @Model struct Book {
                    let id: ID<Book>
                    @Attribute(.createdAt) var made: Date
                    @Attribute(.updatedAt) var changed: Date?
                    @Attribute(.revision) var revision: Int
                }
                """,
            [
                "made: Date = .init()", "changed: Date? = nil", "revision: Int = 0", "state.createdAt(stored.made)",
                "state.updatedAt(stored.changed)", "state.revision(stored.revision)",
                "revision: \"revision\",\n            createdAt: \"made\",\n            updatedAt: \"changed\"",
            ])
    }

    @Test func aRequiredToOneMayBeSetLater() {
        expectParts(
            of: "@Model struct Book { let id: ID<Book>; var genre: ToOne<Genre> }", ["genre: ToOne<Genre> = .unset"])
    }

    @Test func aModelKeepsItsOwnMembers() {
        let source = """
            @Model struct Book {
                let id: ID<Book>
                var title: String
                init(id: ID<Book> = ID(), title: String) { self.id = id; self.title = "" }
                init(title: String) { self.init(id: ID(), title: title) }
                static func == (left: Book, right: Book) -> Bool { true }
                func hash(into hasher: inout Hasher) {}
            }
            """
        let text = expansion(of: source)
        for member in ["\n    init(id:", " == (", "func hash(into"] {
            #expect(text.ranges(of: member).count == 1)
        }
    }

    @Test(arguments: [
        "[]", "[ ]", ".init()", "ToMany()", "ToMany<Author>()", "ToMany<Author>.init()", "Relata.ToMany()",
    ])
    func anEmptyInitialListIsNotAnEdit(value: String) {
        expectParts(
            of: "@Model struct Book { let id: ID<Book>; var authors: ToMany<Author> = \(value) }",
            ["init(id: Relata.ID<Book> = .init(), authors: ToMany<Author> = .init())"])
    }

    @Test(arguments: ["[.king]", "ToMany([.king])", "usual()"])
    func anInitialListKeepsItsObjects(value: String) {
        expectParts(
            of: "@Model struct Book { let id: ID<Book>; var authors: ToMany<Author> = \(value) }",
            ["init(id: Relata.ID<Book> = .init(), authors: ToMany<Author> = \(value))"])
    }

    @Test func transientsKeepTheirValuesAndReadLinksAreUnloaded() {
        expectParts(
            of: #"""
                @Model struct Book {
                    let id: ID<Book>
                    var authors: ToMany<Author> = ToMany()
                    @Relationship(inverse: \Page.book) var pages: ToMany<Page>
                    @Relationship(through: \Book.pages, \Page.image) var images: Through<Image> = Through()
                    @Transient let limit = 3
                    @Transient var cache: [Int]?
                }
                """#,
            [
                "authors: ToMany<Author> = .init()", "self.cache = other.cache", "self.images = other.images",
                // A fetched object has no edits, even if its links are initialised with some.
                "self.authors = ToMany<Author>()", "self.images = Through<Image>()",
            ],
            without: ["self.limit", "self.cache = try"])
    }

    // MARK: Properties

    @Test func onlyConstantsBecomeDefaultsOfColumns() {
        expectParts(
            of: """
                @Model struct Book {
                    let id: ID<Book>
                    var a: Int = -1
                    var b: Status = .draft
                    var c: Status = Status.draft
                    var d: [String: [Int]] = ["a": [1]]
                    var e: Date = .now
                    var f: Date = Date()
                    var g: String = "\\(1)"
                    var h: Int? = nil
                    var i: Status = shared.status
                    var j: Date = Date.now
                }
                """,
            [
                "(of: Int.self), default: { -1 })", "(of: Relata.valueType(at: \\Self.b)), default: { .draft })",
                "default: { Status.draft }", "default: { [\"a\": [1]] }", "e: Date = .now", "g: String = \"\\(1)\"",
            ],
            without: ["default: { .now }", "default: { Date", "default: { \"", "default: { nil", "default: { shared"])
    }

    @Test func namesMayBeKeywords() {
        expectParts(
            of: "@Model struct Book { let id: ID<Book>; var `default`: Bool; @Attribute(.unique) var `in`: Int }",
            [
                "self.`default` = `default`", "try binder.bindValue(self.`in`)",
                "properties.value(\"default\", Bool.self)",
                "var `in`: Relata.Field<Int>", "uniques: [[\"in\"]]",
            ])
    }

    @Test func oneDeclarationMayHoldSeveralProperties() {
        expectParts(
            of: "@Model struct Book { let id: ID<Book>; var a, b: Int, c: String = \"\", d: ToOne<Book>? }",
            ["a: Int,\n        b: Int,\n        c: String = \"\",\n        d: ToOne<Book>? = nil"])
    }

    @Test func computedAndStaticPropertiesAreSkipped() {
        expectParts(
            of: """
                @Model struct Book {
                    let id: ID<Book>
                    static var shared = 1
                    var computed: Int { get { 1 } set {} }
                    var observed: Int = 0 { willSet {} didSet {} }
                    func open() {}
                    #if DEBUG
                    func trace() {}
                    #endif
                }
                """, ["init(id: Relata.ID<Book> = .init(), observed: Int = 0)"],
            without: ["self.computed", "self.shared"])
    }

    @Test(
        arguments: [
            "Relata.ToOne<Author>?", "Optional<ToOne<Author>>", "ToOne<Author>?",
            "Swift.Optional<Relata.ToOne<Author>>",
        ])
    func aToOneIsKnownHoweverItIsSpelled(type: String) {
        expectParts(
            of: "@Model struct Book { let id: ID<Book>; var author: \(type) }",
            [
                ".toOne(\"author\", \(type).self)", "try \(type)._read(&reader)",
                "var author: Relata.ToOneField<Author>", "[Author.self]",
            ])
    }

    @Test func aLinkToItsOwnModelMayUseSelf() {
        expectParts(
            of: #"""
                @Model struct Person {
                    let id: ID<Self>
                    var parent: ToOne<Self>?
                    @Relationship(inverse: \Person.parent) var children: ToMany<Self>
                }
                """#,
            ["id: Relata.ID<Person> = .init()", "ToOne<Person>?", "Relata.ToManyField<Person>", "[Person.self]"],
            without: ["<Self>("])
    }

    @Test func otherModelsKeysAreNamedByTheirModule() {
        expectParts(
            of: "@Model struct Book { let id: ID<Book>; var sources: [ID<Author>]; var editor: ID<Author>? }",
            ["Relata.coding(of: [Relata.ID<Author>].self)", "reader.readOptional(Relata.ID<Author>.self)"])
    }

    // MARK: Names and access

    @Test func aNestedModelIsNamedWithItsContext() {
        expectParts(
            of: "enum Library { struct Room { @Model struct Shelf { let id: ID<Shelf> } } }",
            ["static var entityName: String {", "\"Library.Room.Shelf\"\n"])
        expectParts(
            of: "extension Library.Room { @Model struct Shelf { let id: ID<Library.Room.Shelf> } }",
            [
                "static var entityName: String {", "\"Library.Room.Shelf\"\n",
                "id: Relata.ID<Library.Room.Shelf> = .init()",
            ])
    }

    @Test(
        arguments: [
            ("public", "public "), ("package", "package "), ("internal", ""), ("", ""), ("fileprivate", ""),
            ("private", ""),
        ])
    func membersAreSeenAsFarAsTheModel(level: String, modifier: String) {
        let id = ["public", "package"].contains(level) ? level + " " : ""
        expectParts(
            of: "@Model \(level) struct Book { \(id)let id: ID<Book> }",
            [
                "\n    \(modifier)init(from reader", "\n    \(modifier)struct Fields",
                "\n    \(modifier)static let entity:",
            ])
    }

    @Test func aPublicExtensionMakesItsModelsPublic() {
        expectParts(
            of: "public extension Library { @Model struct Book { public let id: ID<Book> } }",
            ["    public init(from reader"])
    }

    @Test func tablesAndColumnsAreNamedAsWritten() {
        expectParts(
            of: #"""
                @Model(table: "albums", originalTable: "records") struct Album {
                    @Attribute(column: "AlbumId") let id: Int?
                    @Attribute(originalName: ["heading", "name"]) var title: String
                    @Relationship(deleteRule: nil, columns: ["ArtistId"], originalName: "band") var artist: ToOne<Artist>
                    @Relationship(joinTable: "t", joinColumns: ["a", "b"], originalName: "old", deleteRule: .cascade)
                    var tracks: ToMany<Track>
                }
                """#,
            [
                "table: \"albums\",\n            originalTable: \"records\"", "column: \"AlbumId\"",
                "originalName: [\"heading\", \"name\"]", "columns: [\"ArtistId\"], originalName: \"band\"",
                "joinTable: \"t\", joinColumns: [\"a\", \"b\"], deleteRule: .cascade, originalName: \"old\"",
            ], without: ["deleteRule: nil"])
    }
}
