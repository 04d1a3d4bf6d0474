import Testing

@Suite struct AttributeMisuseTests {
    @Test func anOptionIsGivenOnce() {
        expectMisuse(
            inMembers: "@Attribute(.unique, .notEmpty, .unique) var title: String", at: ".unique",
            "'.unique' is given twice for 'title': keep one",
            fixed: ["@Attribute(.unique, .notEmpty) var title: String"])
    }

    @Test(
        arguments: [
            ("iso8601", "seconds", "Date"), ("createdAt", "updatedAt", "Date"), ("primaryKey", "revision", "Int"),
        ])
    func optionsMayExcludeEachOther(first: String, second: String, type: String) {
        expectMisuse(
            inMembers: "@Attribute(.\(first), .\(second)) var value: \(type)", at: ".\(second)",
            "'value' can't be both '.\(first)' and '.\(second)': keep one",
            fixed: ["@Attribute(.\(first)) var value: \(type)"])
    }

    @Test(
        arguments: [
            (".iso8601", "String", "a Date"), (".seconds", "Int?", "a Date"), (".text", "String", "a UUID or an ID"),
            (".createdAt", "String", "a Date"), (".updatedAt", "Int", "a Date"), (".revision", "Date", "an integer"),
            (".notEmpty", "Int", "text, Data or a collection"), (".range(1...5)", "String", "a number"),
            (".range(1...)", "[Int]", "a number"), (".length(1...5)", "Int", "text or Data"),
            (".pattern(\"a\")", "Date?", "text"),
            (".primaryKey", "Double", "an ID, an integer, a String, a UUID or an enum"),
        ])
    func anOptionFitsItsType(option: String, type: String, fits: String) {
        let name = option.prefix { $0 != "(" }
        expectMisuse(
            inMembers: "@Attribute(\(option)) var value: \(type)", at: option,
            "'\(name)' needs \(fits), and 'value' is of type \(type): remove it, or change the type",
            fixed: ["@Attribute var value: \(type)"])
    }

    @Test(
        arguments: [
            "@Attribute(.iso8601) var value: Foundation.Date?", "@Attribute(.notEmpty) var value: [String]",
            "@Attribute(.length(1...)) var value: String?", "@Attribute(.range(0.5...1)) var value: Decimal",
            "@Attribute(.text) var value: UUID", "@Attribute(.primaryKey) var value: Kind",
            "@Attribute(AttributeOption.range(1...5)) var value: Stars", "@Attribute(.revision) var value: Int",
        ])
    func anOptionMayFitATypeThatOnlyTheCompilerKnows(declaration: String) {
        #expect(expand("@Model struct Book { let id: ID<Book>; \(declaration) }").findings.map(\.message) == [])
    }

    @Test(arguments: [("range", "Int", "5...1"), ("range", "Double", "0.5...0.1"), ("length", "String", "5...-1")])
    func boundsMustNotBeEmpty(option: String, type: String, bounds: String) {
        expectMisuse(
            inMembers: "@Attribute(.\(option)(\(bounds))) var value: \(type)", at: ".\(option)(\(bounds))",
            "'.\(option)' of 'value' leaves no value: write the smaller bound first")
    }

    @Test func aRevisionIsAlwaysSet() {
        expectMisuse(
            inMembers: "@Attribute(.revision) var revision: Int?", at: "Int?",
            "'revision' counts the changes of every row: write an integer that isn't optional",
            fixed: ["@Attribute(.revision) var revision: Int"])
    }
}
