import Foundation
import Testing

/// Compiler errors for models whose links don't match.
@Suite(.enabled(if: Compiler.arguments != nil, "the built modules and the macros weren't found beside the tests"))
struct CompilationTests {
    private static let models = """
        import Relata
        @Model struct Song { let id: ID<Song>; var title: String; var length: Int }
        @Model struct Cover { let id: ID<Cover>; var list: ToOne<List>; var song: ToOne<Song>? }
        @Model struct Item {
            let id: ID<Item>
            var position: Int = 0
            var title: String
            var song: ToOne<Song>
            var list: ToOne<List>?
            var tags: ToMany<Song>
            var lists: ToMany<List>
        }

        """

    private static func list(_ link: String) -> String {
        models + "@Model struct List {\n    let id: ID<List>\n    \(link)\n}\n"
    }

    private static let inverse = "inverse: must name the property of the target that links back here"
    private static let has = "inverse: must name the to-one of the target that links back here"
    private static let leads = "through: must name a ToMany of this model and then a to-one of its objects"
    private static let order = "order: must name an integer attribute of the objects of the list"

    @Test(arguments: [
        "@Relationship(inverse: \\Item.list, order: \\Item.position) var items: ToMany<Item>",
        "@Relationship(inverse: \\Item.lists) var items: ToMany<Item>",
        "@Relationship(inverse: \\Cover.list) var cover: HasOne<Cover>",
        "@Relationship(inverse: \\Item.list) var items: ToMany<Item>\n"
            + "    @Relationship(through: \\List.items, \\Item.song) var songs: Through<Song>",
    ])
    func linksThatFitCompile(link: String) throws {
        let (errors, output) = try Compiler.errors(in: Self.list(link))
        #expect(errors == [], "\(output)")
    }

    private static func way(_ path: String) -> String {
        "@Relationship(inverse: \\Item.list) var items: ToMany<Item>\n"
            + "    @Relationship(through: \(path)) var songs: Through<Song>"
    }

    @Test(arguments: [
        // The path leads to an attribute, to a to-one of another model, or to a to-many of another.
        ("@Relationship(inverse: \\Item.title) var items: ToMany<Item>", inverse),
        ("@Relationship(inverse: \\Item.song) var items: ToMany<Item>", inverse),
        ("@Relationship(inverse: \\Item.tags) var items: ToMany<Item>", inverse),
        ("@Relationship(inverse: \\Cover.song) var cover: HasOne<Cover>", has),
        ("@Relationship(inverse: \\Item.lists) var item: HasOne<Item>", has),
        ("@Relationship(inverse: \\Item.title) var item: HasOne<Item>", has),
        ("@Relationship(inverse: \\Item.list, order: \\Item.title) var items: ToMany<Item>", order),
        // The path leads elsewhere, to an attribute, or to a list.
        (way("\\List.items, \\Item.list"), leads), (way("\\List.items, \\Item.title"), leads),
        (way("\\List.items, \\Item.tags"), leads),
    ])
    func aPathToAnotherTypeIsOneErrorAtThePropertyThatSaysWhatFits(link: String, message: String) throws {
        let source = Self.list(link)
        let (errors, output) = try Compiler.errors(in: source)
        #expect(errors.count == 1, "\(output)")
        #expect(errors.first?.contains(message) == true, "\(output)")
        // The error is at the type of the property, and contains both names.
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let last = try #require(lines.dropLast(2).last)
        let type = try #require(last.ranges(of: ": ").last?.upperBound)
        let column = last.distance(from: last.startIndex, to: type) + 1
        #expect(errors.first?.contains("models.swift:\(lines.count - 2):\(column):") == true, "\(output)")
        let name = try #require(last[..<type].split(separator: " ").last).dropLast()
        #expect(errors.first?.contains("'\(name)' of the type \(last[type...])") == true, "\(output)")
    }

    /// Further compiler errors concern the macro's code, which must spell types.
    @Test func unknownTypesAreOneErrorAtTheirProperty() throws {
        let source = """
            import Relata
            @Model struct Song {
                let id: ID<Song>
                var title: Nothing
                var other: Int
            }
            """
        let (errors, output) = try Compiler.errors(in: source)
        #expect(errors.filter { $0.contains("models.swift:") }.count == 1, "\(output)")
        #expect(
            errors.first?.contains("models.swift:4:16: error: cannot find type 'Nothing' in scope") == true, "\(output)"
        )
    }

    /// Types inferred from an unknown type are unknown, and get no error.
    @Test(arguments: [
        ("var song: ToOne<Sang>", 1), ("var song: ToOne<Sang>?", 1), ("var songs: ToMany<Sang>", 1),
        ("@Relationship(ordered: true) var songs: ToMany<Sang>", 1),
        // A name in a marker causes an error of its own.
        ("@Relationship(inverse: \\Sang.list) var song: HasOne<Sang>", 2),
        ("@Relationship(inverse: \\Sang.list) var songs: ToMany<Sang>", 2),
        ("var title: Nothing\n    var song: ToOne<Song>\n    var maybe: ToOne<Song>?\n    var songs: ToMany<Song>", 1),
        ("var title: Nothing\n    @Relationship(inverse: \\Cover.list) var cover: HasOne<Cover>", 1),
    ])
    func aTypeThatIsNoneIsNamedAtItsPropertyBesideLinks(property: String, count: Int) throws {
        let (errors, output) = try Compiler.errors(in: Self.list(property))
        let own = errors.filter { $0.contains("models.swift:") }
        #expect(own.count == count && own.allSatisfy { $0.contains("cannot find") }, "\(output)")
        #expect(errors.allSatisfy { $0.contains("cannot find") }, "\(output)")
        for word in ["inferred", "extra argument", "missing argument"] { #expect(!output.contains(word), "\(output)") }
    }

    @Test func unstorableTypesAreOneErrorAtTheirProperty() throws {
        let source = """
            import Relata
            struct Plain { var number = 1 }
            @Model struct Song { let id: ID<Song>; var title: String }
            @Model struct List {
                let id: ID<List>
                var plain: Plain  // 'plain' can't be of the type Plain: a stored property must be Bool
                var plains: [Plain] = []  // 'plains' can't be of the type [Plain]: a stored property must be Bool
                var song: Song  // 'song' can't be of the type Song: models aren't stored inside another: write its type as 'ToOne<Song>'
                var maybe: Song?  // 'maybe' can't be of the type Song?: models aren't stored inside another: write its type as 'ToOne<Song>?'
                var songs: [Song] = []  // 'songs' can't be of the type [Song]: models aren't stored inside another: write its type as 'ToMany<Song>'
                var others: Array<Song>  // 'others' can't be of the type Array<Song>: models aren't stored inside another: write its type as 'ToMany<Song>'
                var unset: [Song]?  // 'unset' can't be of the type [Song]?: models aren't stored inside another: write its type as 'ToMany<Song>'
                var set: Set<Song> = []  // 'set' can't be of the type Set<Song>: models aren't stored inside another: write its type as 'ToMany<Song>'
            }
            """
        try Compiler.expectErrors(in: source)
        let (errors, output) = try Compiler.errors(in: source)
        let lines = source.split(separator: "\n")
        for (error, name) in zip(errors, ["plain", "plains", "song", "maybe", "songs"]) {
            let line = try #require(lines.firstIndex { $0.contains("var \(name): ") })
            let type = try #require(lines[line].firstRange(of: ": ")).upperBound
            let column = lines[line].distance(from: lines[line].startIndex, to: type) + 1
            #expect(error.contains("models.swift:\(line + 1):\(column):"), "\(output)")
        }
    }

    @Test(arguments: [
        ("@Relationship(inverse: \\Item.lisst) var items: ToMany<Item>", "has no member 'lisst'"),
        (way("\\List.items, \\Item.sung"), "has no member 'sung'"),
    ])
    func errorsNameUnknownPaths(link: String, message: String) throws {
        let (errors, output) = try Compiler.errors(in: Self.list(link))
        #expect(!errors.isEmpty && errors.allSatisfy { $0.contains(message) }, "\(output)")
    }

    /// An error that the macro itself detects is the only one: the model has its members nevertheless.
    @Test(arguments: [
        (
            "@Relationship(inverse: \\Cover.list) var items: ToMany<Item>",
            "a key path that starts from Item, not from Cover"
        ),
        (
            "@Relationship(inverse: \\Item.list, order: \\Song.length) var items: ToMany<Item>",
            "from Item, not from Song"
        ),
        (way("\\Item.song, \\Item.song"), "a key path that starts from List, not from Item"),
        (way("\\Item.lists, \\Item.song"), "a key path that starts from List, not from Item"),
    ])
    func aPathFromAnotherModelIsToldAtTheLink(link: String, message: String) throws {
        let (errors, output) = try Compiler.errors(in: Self.list(link))
        #expect(errors.count == 1, "\(output)")
        #expect(errors.first?.contains(message) == true && output.contains("from macro 'Model"), "\(output)")
    }

    @Test(arguments: [
        ("let cover: ToOne<Song>?", "must be 'var'"), ("var cover: HasOne<Cover>", "is the view of a to-one"),
        ("@Relationship(inverse: \\Cover.list) var cover: HasOne<Cover>?", "can't be optional"),
        ("var name = \"x\"", "'name'"), ("var name: String!", "'String?'"), ("lazy var number: Int = 1", "'lazy'"),
        ("var songs: [ToOne<Song>] = []", "ToMany<Song>"), ("var things: [Any] = []", "'Any' can't be read back"),
        ("@Transient var isOpen: Bool", "isOpen"),
        ("@Attribute(.revision) var first: Int\n    @Attribute(.revision) var second: Int", "revision"),
        ("@Attribute(.unique) var songs: ToMany<Song>", "songs"),
        ("@Attribute(.notEmpty) var number: Int = 0", "number"),
        ("#Unique<List>([\\.items])", "items"),
    ])
    func aMistakeInOnePropertyIsTheOnlyErrorWhereverTheModelIsUsed(property: String, message: String) throws {
        let source =
            Self.list("@Relationship(inverse: \\Item.list) var items: ToMany<Item>\n    " + property) + """

                func use(_ store: Store) async throws -> [List] {
                    let list = List()
                    try await store.save(Item(title: "t", song: .unset, list: ToOne(list)))
                    try await store.update(list.id) { $0.items.remove(id: Relata.ID()) }
                    let items = try await store.fetch(Item.where { $0.list.id == list.id }.including { $0.list })
                    let lists = Set(items.compactMap(\\.list?.loaded)).union([list])
                    return try await store.fetch(List.where { $0.items.count > lists.count }.including { $0.items })
                }
                """
        let (errors, output) = try Compiler.errors(in: source)
        #expect(errors.count == 1 && errors.first?.contains(message) == true, "\(output)")
    }

    /// The macro's code spells the types of properties: Swift infers none for a parameter or a computed property, and
    /// if a protocol's associated type is to be inferred from a property, the failure is a separate error.
    @Test(arguments: [
        // The type is spelled again in a generic parameter.
        "init<Other>(other title: Other) where Other == Nothing { self.title = title }",
        // The type is left out.
        "init(other title) { self.title = title }",
        "var other { self.title }",
        // The type is inferred from the property.
        """
        protocol Types { associatedtype Title; var title: Title { get } }
        }
        extension Song: Song.Types {
            init(other title: Title) { self.title = title }
        """,
    ])
    func noDeclarationTakesATypeThatIsNoneFromAProperty(declaration: String) throws {
        let (errors, output) = try Compiler.errors(
            in: """
                struct Song {
                    var title: Nothing
                    \(declaration)
                }
                """)
        #expect(errors.count > 1, "the type is inferred now, and what @Model writes needs no more spell it: \(output)")
    }

    @Test func modelsWithoutAKeyAreOneError() throws {
        let (errors, output) = try Compiler.errors(
            in: """
                import Relata
                @Model struct Word { var text: String }
                func use(_ store: Store) async throws { try await store.save(Word(text: "a")) }
                """)
        #expect(errors.count == 1, "\(output)")
    }

    // MARK: Properties that fewer see than the model

    @Test(arguments: [
        // A property with a value isn't a parameter, so its type can be private.
        ("public", "private var secret: Secret = Secret()"), ("internal", "private var secret: Secret = Secret()"),
        ("internal", "fileprivate var secret: Secret?"), ("public", "fileprivate var secret: [Secret] = []"),
        // Without a value, the model declares its own initialiser.
        (
            "internal",
            "fileprivate var secret: Secret\n    fileprivate init(id: Relata.ID<Vault>, secret: Secret) {"
                + "\n        self.id = id\n        self.secret = secret\n    }"
        ),
    ])
    func aPropertyOfATypeThatFewerSeeThanTheModelCompiles(level: String, property: String) throws {
        let source = """
            import Relata
            private struct Secret: Codable, Equatable { var word = "x" }
            @Model \(level) struct Vault {
                \(level) let id: ID<Vault>
                \(property)
                static func find() -> Query<Vault> { Vault.where { $0.id != Relata.ID<Vault>() } }
            }
            """
        let (errors, output) = try Compiler.errors(in: source)
        #expect(errors == [], "\(output)")
    }

    @Test func requiredPropertiesOfUnstorableTypesDoNotCompile() throws {
        let (errors, output) = try Compiler.errors(
            in: """
                import Relata
                private struct Secret: Codable, Equatable { var word = "x" }
                @Model struct Vault {
                    let id: ID<Vault>
                    fileprivate var secret: Secret
                }
                """)
        #expect(errors.count == 1, "\(output)")
        #expect(errors.first?.contains("initializer") == true && errors.first?.contains("private") == true, "\(output)")
    }

    /// Tests of the package see more than an app does.
    @Test(arguments: ["Tests/DocumentationTests", "Examples/Stories"])
    func theExamplesCompileOutsideThePackage(folder: String) throws {
        let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst()
        let paths = FileManager.default.enumerator(atPath: "\(root)/\(folder)")?.allObjects as? [String] ?? []
        let files = paths.filter { $0.hasSuffix(".swift") }.map { "\(root)/\(folder)/\($0)" }
        #expect(files.count > 5)
        let (errors, output) = try Compiler.errors(inFiles: files, ["-swift-version", "6", "-parse-as-library"])
        #expect(errors == [], "\(output)")
    }
}
