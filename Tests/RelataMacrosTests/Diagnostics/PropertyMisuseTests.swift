import Testing

@Suite struct PropertyMisuseTests {
    @Test(
        arguments: [
            ("2000", "Int"), ("-1", "Int"), ("0.5", "Double"), ("true", "Bool"), ("\"a\"", "String"),
            ("[1, 2]", "[Int]"), ("Date()", "Date"), ("ID<Genre>()", "ID<Genre>"), ("Shelf.Place()", "Shelf.Place"),
        ])
    func aMissingTypeIsTakenFromTheValue(value: String, type: String) {
        expectMisuse(
            inMembers: "var year = \(value)", at: "year",
            "'year' needs an explicit type, because @Model can't see inferred types: 'var year: \(type)'",
            fixed: ["var year: \(type) = \(value)"])
    }

    @Test(arguments: [".now", "make()", "[]", "[1, \"a\"]", "nil"]) func typesThatCannotBeInferredMustBeWritten(
        value: String
    ) {
        expectMisuse(
            inMembers: "var year = \(value)", at: "year",
            "'year' needs an explicit type, because @Model can't see inferred types: 'var year: …'")
    }

    @Test func anImplicitlyUnwrappedTypeBecomesOptional() {
        expectMisuse(
            inMembers: "var title: String!", at: "String!",
            "'title' can't be implicitly unwrapped, because a missing value would trap: write 'String?'",
            fixed: ["var title: String?"])
        expectMisuse(
            inMembers: "var genre: ToOne<Genre>! // The genre.", at: "ToOne<Genre>!",
            "'genre' can't be implicitly unwrapped, because a missing value would trap: write 'ToOne<Genre>?'",
            fixed: ["var genre: ToOne<Genre>? // The genre."])
    }

    @Test(arguments: ["Int??", "Optional<Int?>"]) func nestedOptionalsAreRefused(type: String) {
        expectMisuse(
            inMembers: "var year: \(type)", at: type, "'year' can't be optional twice: write 'Int?'",
            fixed: ["var year: Int?"])
    }

    @Test(
        arguments: [
            (
                "(Int, Int)",
                "a tuple can't be stored: declare a struct that is Codable and Sendable, or one property for each element"
            ),
            (
                "[(x: Int, y: Int)]?",
                "a tuple can't be stored: declare a struct that is Codable and Sendable, or one property for each element"
            ),
            (
                "() -> Int",
                "a function can't be stored: mark the property @Transient and give it an initial value, or remove it"
            ),
            (
                "(@Sendable (Int) -> Void)?",
                "a function can't be stored: mark the property @Transient and give it an initial value, or remove it"
            ),
            ("any Shape", "'any Shape' can't be read back: write a concrete type that is Codable and Sendable"),
            ("[any Shape]", "'any Shape' can't be read back: write a concrete type that is Codable and Sendable"),
            ("some Shape", "'some Shape' can't be read back: write a concrete type that is Codable and Sendable"),
            (
                "Shape & Codable",
                "'Shape & Codable' can't be read back: write a concrete type that is Codable and Sendable"
            ),
            ("Any", "'Any' can't be read back: write a concrete type that is Codable and Sendable"),
            ("Int.Type", "a type can't be stored: store its name, or mark the property @Transient"),
        ])
    func aTypeMustFitAColumn(type: String, reason: String) {
        expectMisuse(inMembers: "var shape: \(type)", at: type, "'shape' can't be stored: \(reason)")
    }

    @Test(arguments: ["[ToOne<Author>]", "ToMany<Author>?", "[ToMany<Author>]?"]) func linksCannotBeInsideOtherTypes(
        type: String
    ) {
        let isOptionalLink = type == "ToMany<Author>?"
        expectMisuse(
            inMembers: "var authors: \(type)", at: type,
            isOptionalLink
                ? "'authors' can't be optional, because a ToMany is a view that is loaded or not, and may be empty: remove the '?'"
                : "'authors' can't hold links inside another type: write 'ToMany<Author>'",
            fixed: ["var authors: ToMany<Author>"])
    }

    @Test func aLazyPropertyIsRefused() {
        expectMisuse(
            inMembers: "lazy var year: Int = 1", at: "lazy",
            "'year' can't be 'lazy': give it an initial value without 'lazy', or compute it",
            fixed: ["var year: Int = 1"])
    }

    @Test(arguments: ["weak", "unowned"]) func weakAndUnownedPropertiesAreRefused(modifier: String) {
        expectMisuse(
            inMembers: "\(modifier) var owner: Owner?", at: modifier,
            "'owner' can't be '\(modifier)': link another model with ToOne", fixed: ["var owner: Owner?"])
    }

    @Test func aPropertyWrapperIsRefused() {
        expectMisuse(
            inMembers: "@Published var year: Int", at: "@Published",
            "'year' can't be stored through '@Published', which hides its value: remove '@Published', or add @Transient "
                + "and an initial value",
            fixed: ["var year: Int"])
    }

    @Test func aConstantWithAValueIsRefused() {
        expectMisuse(
            in: "@Model struct Book { let id: ID<Book> = ID() }", at: "ID()",
            "'id' is a constant that no row could change: write 'var', leave the value to the initialiser, or make it "
                + "static if it isn't stored",
            fixed: [
                "@Model struct Book { var id: ID<Book> = ID() }", "@Model struct Book { let id: ID<Book> }",
                "@Model struct Book { static let id: ID<Book> = ID() }",
            ])
    }

    @Test(
        arguments: [
            ("var x: Int", "0"), ("var x: Bool", "false"), ("var x: String", "\"\""), ("var x: [Int]", "[]"),
            ("var x: [Int: Int]", "[:]"), ("let x: Int?", "nil"), ("var x: Cache", "<#value#>"),
        ])
    func aTransientPropertyNeedsAValue(declaration: String, value: String) {
        expectMisuse(
            inMembers: "@Transient \(declaration)", at: "x",
            "'x' is transient and needs an initial value, which it has after every fetch",
            fixed: ["@Transient \(declaration) = \(value)"])
    }

    @Test func tuplePatternsAreRefused() {
        expectMisuse(
            inMembers: "var (a, b): (Int, Int)", at: "(a, b)",
            "@Model needs one declaration for each property: declare each of these separately, with its type")
    }

    @Test func aConditionalPropertyIsRefused() {
        expectMisuse(
            inMembers: """
                #if DEBUG
                    static let limit = 3
                    var computed: Int { 1 }
                    var trace: String
                    #endif
                """, at: "var trace: String",
            "'trace' is inside '#if', where @Model doesn't see it: declare it outside, and compute what differs from it "
                + "inside")
    }
}
