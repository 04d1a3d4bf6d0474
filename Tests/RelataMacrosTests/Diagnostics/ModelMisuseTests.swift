import Testing

@Suite struct ModelMisuseTests {
    @Test func anOptionalIdBesideAnotherKeyIsRefused() {
        expectMisuse(
            in: """
                @Model struct Genre {
                    var id: Int?
                    @Attribute(.primaryKey, .notEmpty) let name: String
                }
                """,
            at: "id",
            "'id' of type Int? isn't the primary key, which is 'name', so the database never assigns it: remove "
                + "'.primaryKey' there, or rename 'id'",
            fixed: [
                """
                @Model struct Genre {
                    var id: Int?
                    @Attribute(.notEmpty) let name: String
                }
                """
            ])
        expectMisuse(
            in: """
                @Model struct Seat {
                    var id: Int64?
                    @Attribute(.primaryKey) let row: String
                    @Attribute(.primaryKey) let number: Int
                }
                """,
            at: "id",
            "'id' of type Int64? isn't the primary key, which is 'row', 'number', so the database never assigns it: "
                + "remove '.primaryKey' there, or rename 'id'")
    }

    @Test func theFixTurnsAClassIntoAStruct() {
        expectMisuse(
            in: "@Model public final class Book { let id: ID<Book> }", at: "class",
            "@Model needs a struct: a model is a value. Write 'struct' instead of 'class'",
            fixed: ["@Model public struct Book { let id: ID<Book> }"])
    }

    @Test func theFixTurnsAnActorIntoAStruct() {
        expectMisuse(
            in: "@Model actor Book { let id: ID<Book> }", at: "actor",
            "@Model needs a struct: a model is a value. Write 'struct' instead of 'actor'",
            fixed: ["@Model struct Book { let id: ID<Book> }"])
    }

    @Test func anEnumIsRefused() {
        expectMisuse(
            in: "@Model enum Book { case novel }", at: "enum",
            "@Model needs a struct: a model is a value. Write 'struct' instead of 'enum'")
    }

    @Test func aGenericStructIsRefused() {
        expectMisuse(
            in: "@Model struct Book<Content> { let id: ID<Book> }", at: "<Content>",
            "'Book' can't be generic: one entity has one table. Write a struct for each type of content")
    }

    @Test func aStructInsideAGenericOneIsRefused() {
        expectMisuse(
            in: "struct Library<Content> { @Model struct Book { let id: ID<Book> } }", at: "Book",
            "'Book' can't be generic: one entity has one table. Write a struct for each type of content")
    }

    @Test func aMissingKeyIsAdded() {
        expectMisuse(
            in: """
                /// A book.
                @Model struct Book {
                  // The title.
                  var title: String
                }
                """, at: "Book",
            "'Book' has no primary key: add 'let id: ID<Book>', or mark the properties that make up the key with "
                + "@Attribute(.primaryKey)",
            fixed: [
                """
                /// A book.
                @Model struct Book {
                  let id: ID<Book>
                  // The title.
                  var title: String
                }
                """
            ])
    }

    @Test func aTransientIdIsNotAKey() {
        let findings = expand("@Model struct Book { @Transient var id = 1 }").findings
        #expect(findings.map(\.node) == ["Book"])
    }

    @Test func onlyIntegerKeysCanBeOptional() {
        expectMisuse(
            in: "@Model struct Book { let id: String? }", at: "String?",
            "'id' can't be optional, as only an 'Int?' is assigned by the database: write 'String'",
            fixed: ["@Model struct Book { let id: String }"])
    }

    @Test func aPartOfAKeyCantBeOptional() {
        expectMisuse(
            in: "@Model struct Seat { @Attribute(.primaryKey) var row: Int?; @Attribute(.primaryKey) var number: Int }",
            at: "Int?", "'row' can't be optional, as each part of a compound primary key must be set: write 'Int'",
            fixed: [
                "@Model struct Seat { @Attribute(.primaryKey) var row: Int; @Attribute(.primaryKey) var number: Int }"
            ])
    }

    @Test(arguments: ["Double", "[String]", "Set<Int>"]) func aKeyMustIdentifyObjects(type: String) {
        expectMisuse(
            in: "@Model struct Book { let id: \(type) }", at: "id",
            "'id' can't be the primary key, because \(type) doesn't reliably identify objects: write an ID, an Int?, a "
                + "String, a UUID or an enum")
    }

    @Test func aToManyIsNotAKey() {
        expectMisuse(
            in: "@Model struct Book { var id: ToMany<Author> }", at: "id",
            "'id' can't be the primary key, because ToMany<Author> doesn't reliably identify objects: write an ID, an "
                + "Int?, a String, a UUID or an enum")
    }

    @Test(arguments: ["revision", "createdAt", "updatedAt"]) func aStampIsDeclaredOnce(stamp: String) {
        let type = stamp == "revision" ? "Int" : "Date"
        expectMisuse(
            inMembers: "@Attribute(.\(stamp)) var a: \(type); @Attribute(.\(stamp), column: \"B\") var b: \(type)",
            at: ".\(stamp)", "'Book' has another '.\(stamp)': keep one",
            fixed: ["@Attribute(.\(stamp)) var a: \(type); @Attribute(column: \"B\") var b: \(type)"])
    }

    @Test(
        arguments: [
            ("public", "let id", "public let id"), ("package", "let id", "package let id"),
            ("public", "internal let id", "public let id"), ("internal", "private let id", "let id"),
            ("private", "private let id", "fileprivate let id"),
            ("public", "private(set) var id", "private(set) public var id"),
        ])
    func anIdIsSeenAsFarAsItsModel(level: String, declaration: String, fixed: String) {
        expectMisuse(
            in: "@Model \(level) struct Book { \(declaration): ID<Book> }", at: "id",
            "'id' must be as visible as 'Book' is, because Identifiable exposes it: make it "
                + (level == "private" ? "fileprivate" : level),
            fixed: ["@Model \(level) struct Book { \(fixed): ID<Book> }"])
    }

    @Test func aPropertyCantHaveTheNameOfAGeneratedOne() {
        expectMisuse(
            inMembers: "var primaryKey: String", at: "primaryKey",
            "'primaryKey' is a name that every model uses itself: choose another, and keep the column with "
                + "@Attribute(column: \"primaryKey\")")
    }

    @Test func aTypeCantHaveTheNameOfAGeneratedOne() {
        expectMisuse(
            inMembers: "enum Key {}", at: "Key",
            "'Key' is the name of a type that @Model adds: choose another, or declare it outside the model")
    }

    /// The members keep the uses of the model free of further errors. They are empty, because their code would refer to
    /// what may be missing.
    @Test func anInvalidModelGetsEmptyMembers() {
        let text = expand("@Model struct Book { let id: ID<Book>; var title: String! }").text
        for member in [
            "init(id: Relata.ID<Book> = .init(), title: String? = nil) {", "var title: Relata.Field<String?> {",
            "typealias Key = Relata.ID<Book>", "extension Book: nonisolated Relata.Model",
        ] {
            #expect(text.contains(member), "\(member)")
        }
        #expect(!text.contains("self.title") && !text.contains("reader.read"))
    }

    @Test func everyMistakeIsReported() {
        let findings = expand("@Model struct Book { let id: ID<Book>; var a: Int!; var b = 1; let c: ToMany<Book> }")
            .findings
        #expect(findings.map(\.node) == ["Int!", "b", "let"])
    }
}
