import Testing

@Suite struct MarkerMisuseTests {
    @Test(arguments: ["@Attribute(.unique)", "@Relationship(ordered: true)", "@Transient"])
    func aMarkerOutsideAModelIsRemoved(marker: String) {
        let name = marker.prefix { $0 != "(" }
        expectMisuse(
            in: "struct Book { \(marker) var title: String }", at: marker,
            "\(name) works only inside a @Model struct: mark the struct with @Model, or remove it here",
            fixed: ["struct Book { var title: String }"])
    }

    @Test func aMarkerOfATypeInsideAModelIsRemoved() {
        expectMisuse(
            in: "@Model struct Book { let id: ID<Book>; struct Page { @Attribute var text: String } }",
            at: "@Attribute",
            "@Attribute works only inside a @Model struct: mark the struct with @Model, or remove it here",
            fixed: ["@Model struct Book { let id: ID<Book>; struct Page { var text: String } }"])
    }

    @Test func aMarkerOfAFunctionIsRemoved() {
        expectMisuse(
            inMembers: "@Transient func open() {}", at: "@Transient",
            "@Transient marks a stored property of a @Model struct: remove it here", fixed: ["func open() {}"])
    }

    @Test func aMarkerOfAComputedPropertyIsRemoved() {
        expectMisuse(
            inMembers: "@Attribute(.unique) var upper: String { title.uppercased() }", at: "@Attribute(.unique)",
            "'upper' is computed and so isn't stored: remove @Attribute, or make it a stored property",
            fixed: ["var upper: String { title.uppercased() }"])
    }

    @Test func aMarkerIsWrittenOnce() {
        expectMisuse(
            inMembers: "@Attribute(.unique) @Attribute(.notEmpty) var title: String", at: "@Attribute(.notEmpty)",
            "@Attribute is written twice: put all arguments into the first one",
            fixed: ["@Attribute(.unique) var title: String"])
    }

    @Test func aTransientPropertyHasNoOtherMarker() {
        expectMisuse(
            inMembers: "@Transient @Attribute(.unique) var title = \"\"", at: "@Attribute(.unique)",
            "'title' is transient and so isn't stored: remove @Attribute, or remove @Transient to store it",
            fixed: ["@Transient var title = \"\""])
    }

    @Test(arguments: ["formerName", "[\"a\", formerName]", "\"\"", "[]", "[\"a\", \"a\"]", "\"\\(formerName)\""])
    func anOriginalNameIsALiteral(_ names: String) {
        let place =
            names.hasPrefix("[") && names.contains("formerName") ? "formerName" : names
        expectMisuse(
            inMembers: "@Attribute(originalName: \(names)) var title: String", at: place,
            "'originalName:' of 'title' takes a text literal, or an array of different ones with the newest name first: "
                + "write 'originalName: \"old\"' or 'originalName: [\"newer\", \"older\"]'")
    }

    @Test func aRelationshipToAPlainValueBecomesAnAttribute() {
        expectMisuse(
            inMembers: "@Relationship(originalName: \"name\") var title: String",
            at: "@Relationship(originalName: \"name\")",
            "'title' is of type String, which isn't a link: write @Attribute, or make its type ToOne, HasOne, ToMany or "
                + "Through",
            fixed: ["@Attribute(originalName: \"name\") var title: String"])
    }

    @Test(arguments: [
        ("[Page] = []", "[Page]", "ToMany<Page>", " = []"), ("[Page] = [.first]", "[Page]", "ToMany<Page>", ""),
        ("[Page]", "[Page]", "ToMany<Page>", ""), ("Page?", "Page?", "ToOne<Page>?", ""),
        ("Page? = nil", "Page?", "ToOne<Page>?", " = nil"), ("Outer.Page", "Outer.Page", "ToOne<Outer.Page>", ""),
    ])
    func aRelationshipOfModelsIsALink(declared: String, type: String, link: String, value: String) {
        expectMisuse(
            inMembers: "@Relationship(deleteRule: .cascade) var pages: \(declared)", at: type,
            "'pages' is of type \(type), which isn't a link: write '\(link)'",
            fixed: ["@Relationship(deleteRule: .cascade) var pages: \(link)\(value)"])
    }

    @Test(arguments: [("[Book] = []", "[Book]", "ToMany<Book>"), ("Book?", "Book?", "ToOne<Book>?")])
    func aPropertyWithAModelTypeBecomesALink(declared: String, type: String, link: String) {
        expectMisuse(
            inMembers: "var parts: \(declared)", at: type,
            "'parts' is of type \(type), and a model isn't stored inside another: write '\(link)'",
            fixed: ["var parts: \(declared.replacing(type, with: link))"])
    }

    @Test func anAttributeOfAToOneIsRemoved() {
        expectMisuse(
            inMembers: "@Attribute(column: \"GenreId\") var genre: ToOne<Genre>", at: "@Attribute(column: \"GenreId\")",
            "@Attribute is for values, and 'genre' is a link: name its columns with @Relationship(columns:), make it "
                + "unique with #Unique, and only a part of the primary key is marked @Attribute(.primaryKey) and nothing "
                + "else",
            fixed: ["@Relationship(columns: [\"GenreId\"]) var genre: ToOne<Genre>"])
    }

    @Test func anOptionOfALinkIsRemoved() {
        expectMisuse(
            inMembers: "@Attribute(.notEmpty) @Relationship(ordered: true) var authors: ToMany<Author>",
            at: "@Attribute(.notEmpty)",
            "@Attribute is for values, and 'authors' is a link: name its join table with @Relationship(joinTable:), "
                + "count it with minimum: and maximum:",
            fixed: ["@Relationship(ordered: true) var authors: ToMany<Author>"])
    }

    @Test func anAttributeOfAToManyBecomesARelationship() {
        expectMisuse(
            inMembers: "@Attribute(originalName: \"writers\") var authors: ToMany<Author>",
            at: "@Attribute(originalName: \"writers\")",
            "@Attribute is for values, and 'authors' is a link: name its join table with @Relationship(joinTable:), "
                + "count it with minimum: and maximum:",
            fixed: ["@Relationship(originalName: \"writers\") var authors: ToMany<Author>"])
    }

    @Test(arguments: ["Unique", "Index"]) func aPropertyListOutsideAModelIsRefused(macro: String) {
        expectMisuse(
            in: "struct Book { #\(macro)<Book>([\\.title]) }", at: "#\(macro)<Book>([\\.title])",
            "#\(macro) works only inside a @Model struct: move it there")
    }

    @Test func aPropertyListBelongsToItsModel() {
        expectMisuse(
            inMembers: "var title: String; #Index<Author>([\\.title])", at: "Author",
            "#Index describes the model that contains it: write '#Index<Book>'",
            fixed: ["var title: String; #Index<Book>([\\.title])"])
    }

    @Test(arguments: ["#Unique<Book>()", "#Unique<Book>([])"]) func aPropertyListContainsKeyPaths(list: String) {
        let node = list.hasSuffix("([])") ? "[]" : list
        expectMisuse(
            inMembers: list, at: node,
            "#Unique needs arrays of key paths: '#Unique<Book>([\\.first, \\.second])'")
    }

    @Test(arguments: ["\\Author.name", "\\.title.count", "title"]) func aPropertyListContainsKeyPathsOfItsModel(
        path: String
    ) {
        expectMisuse(
            inMembers: "var title: String; #Unique<Book>([\(path)])", at: path,
            "#Unique needs a key path literal to one property, such as '\\Book.name'")
    }

    @Test func aSearchContainsTextProperties() {
        expectMisuse(
            inMembers: "var title: String; var year: Int?; #Search<Book>([\\.title, \\.year])", at: "\\.year",
            "'year' is of type Int?, and only text is searched: name attributes of type String or String?")
        expectMisuse(
            inMembers: "var title: String; var author: ToOne<Author>; #Search<Book>([\\.author])", at: "\\.author",
            "'author' is a link, and #Search holds attributes of text: write '#Search<Author>' in 'Author', and search "
                + "there")
        expectMisuse(
            inMembers: "#Search<Book>([])", at: "[]",
            "#Search needs arrays of key paths: '#Search<Book>([\\.first, \\.second])'")
        expectMisuse(
            inMembers: "var title: String; var note: String; #Search<Book>([\\.title]); #Search<Book>([\\.note])",
            at: "#Search<Book>([\\.note])", "'Book' has two #Search: put all attributes into the first one")
    }

    @Test func aPropertyListHasNoDuplicates() {
        expectMisuse(
            inMembers: "var title: String; #Unique<Book>([\\.title, \\Book.title])", at: "\\Book.title",
            "'title' is in this #Unique twice: keep one")
    }

    @Test(arguments: ["upper", "isOpen", "authors", "nothing"]) func aPropertyListContainsStoredProperties(name: String)
    {
        expectMisuse(
            inMembers: """
                var upper: String { "" }
                @Transient var isOpen = false
                var authors: ToMany<Author>
                #Index<Book>([\\.\(name)])
                """, at: "\\.\(name)",
            "'\(name)' has no column for #Index: name stored attributes and to-one links only")
    }
}
