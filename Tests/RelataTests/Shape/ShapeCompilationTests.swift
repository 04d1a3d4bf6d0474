import Testing

/// Compiler errors for shapes that don't match their model.
@Suite(.enabled(if: Compiler.arguments != nil, "the built modules and the macros weren't found beside the tests"))
struct ShapeCompilationTests {
    private static let models = """
        import Relata
        @Model struct Song { let id: ID<Song>; var title: String }
        @Model struct Item { let id: ID<Item>; var song: ToOne<Song>; var list: ToOne<List> }
        @Model struct List {
            let id: ID<List>
            var name: String
            @Relationship(inverse: \\Item.list) var items: ToMany<Item>
        }

        """

    @Test func validShapesCompile() throws {
        let shape =
            "@Shape(of: List.self) struct Card { var name: String; var items: [Item]; @Count(\\.items) var n: Int }"
        #expect(try Compiler.errors(in: Self.models + shape).errors == [])
    }

    @Test(arguments: [
        ("var titel: String", "value of type 'List.Fields' has no member 'titel'"),
        ("@Count(\\.itemz) var count: Int", "value of type 'List.Fields' has no member 'itemz'"),
        ("var name: Int", "the property's type isn't that of the attribute or expression, or an optional of it"),
        ("var items: [Song]", "a to-many is an array of its model, or of shapes of that model"),
        ("var items: Item", "a to-many is an array of its model, or of shapes of that model"),
        (
            "var items: [Other]; @Shape(of: Song.self) struct Other { var title: String }",
            "a to-many is an array of its model, or of shapes of that model"
        ),
        ("@First(\\.items) var item: Item", "the first of a to-many is an optional of its model"),
        ("@Root var list: Song", "@Root is the whole object: its type is the shape's model"),
        ("var name: String; static let name = from { $0.items.count }", "isn't that of the attribute or expression"),
    ])
    func aNameOrATypeThatDoesNotFitIsOneErrorAtItsProperty(property: String, message: String) throws {
        let (errors, output) = try Compiler.errors(
            in: Self.models + "@Shape(of: List.self) struct Card { \(property) }")
        #expect(errors.count == 1, "\(output)")
        #expect(errors.first?.contains(message) == true, "\(output)")
        // The error appears at the line that was written for the property.
        let name = try #require(property.firstMatch(of: /var (\w+)/)).1
        #expect(output.contains("static let \(name) = Relata.ShapeParts<List>"), "\(output)")
    }

    @Test func aToOneOfAnotherModelIsRefused() throws {
        let (errors, output) = try Compiler.errors(
            in: Self.models + "@Shape(of: Item.self) struct Card { var song: List }")
        #expect(errors.count == 1 && errors[0].contains("a to-one is its model"), "\(output)")
    }
}
