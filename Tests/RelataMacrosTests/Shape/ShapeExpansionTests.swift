import Testing

@Suite struct ShapeExpansionTests {
    @Test func eachPropertyIsOneCallThatTheCompilerChecks() {
        let text = expansion(
            of: #"""
                @Shape(of: Setlist.self) public struct Card {
                    @Root public var setlist: Setlist
                    public var name: String, note: String?
                    @From(\.items) public var songs: [Song]
                    @Count(\.items) public var count: Int
                    @Exists(\.owner.items) public var isUsed: Bool
                    @First(\.items) public var opener: Item?
                    @Minimum(\.items.key) public var lowest: Int?
                    @Maximum(\.items.song.key) public var highest: Int?
                    @Sum(\.items.key) public var sum: Int
                    @Average(\.items.key) public var average: Double?
                    public var latest: [Self]
                    static let latest = from { $0.items.limit(3) }
                    public var owner: ID<Owner>?
                    public var title: String { name }
                    @Transient public var isSelected = false
                    static let kind = 1
                }
                """#)
        for part in [
            "    public let id: Setlist.Key\n",
            "    public typealias RootModel = Setlist\n",
            "static let setlist = Relata.ShapeParts<Setlist>.root(Setlist.self)",
            "static let name = Relata.ShapeParts<Setlist>.part(String.self, { $0.name })",
            "static let note = Relata.ShapeParts<Setlist>.part(String?.self, { $0.note })",
            "static let songs = Relata.ShapeParts<Setlist>.part([Song].self, { $0.items })",
            "static let count = Relata.ShapeParts<Setlist>.part(Int.self, { $0.items.count })",
            "static let isUsed = Relata.ShapeParts<Setlist>.part(Bool.self, { !$0.owner.items.isEmpty })",
            "static let opener = Relata.ShapeParts<Setlist>.part(Item?.self, { $0.items.first })",
            "static let lowest = Relata.ShapeParts<Setlist>.part(Int?.self, { $0.items.minimum { $0.key } })",
            "static let highest = Relata.ShapeParts<Setlist>.part(Int?.self, { $0.items.song.maximum { $0.key } })",
            "static let sum = Relata.ShapeParts<Setlist>.part(Int.self, { $0.items.sum { $0.key } })",
            "static let average = Relata.ShapeParts<Setlist>.part(Double?.self, { $0.items.average { $0.key } })",
            "static let latest = Relata.ShapeParts<Setlist>.part([Card].self, Card.latest)",
            "static let owner = Relata.ShapeParts<Setlist>.part(Relata.ID<Owner>?.self, { $0.owner })",
            "extension Card: nonisolated Relata.Shape {",
            "public static let shapeLayout = Relata.ShapeLayout([(\"setlist\", Parts.setlist), (\"name\", Parts.name)",
            "        self.id = try reader.readKey(RootModel.self)\n        self.setlist = try Parts.setlist.read(&reader)\n",
            "        Parts.setlist.fill(&self.setlist, from: &loader)\n",
            "    public func hash(into hasher: inout Hasher) {\n        hasher.combine(self.id)\n    }",
        ] {
            #expect(text.contains(part), "missing: \(part)\nin: \(text)")
        }
        for absent in ["Parts.title", "Parts.isSelected", "Parts.kind"] { #expect(!text.contains(absent)) }
    }

    @Test func aCustomIdAndHashStay() {
        let text = expansion(
            of: """
                @Shape(of: Track.self) struct Card {
                    var id: Int?
                    func hash(into hasher: inout Hasher) {}
                }
                """)
        #expect(!text.contains("let id: Track.Key"))
        #expect(text.contains("        reader.skipKey(RootModel.self)\n        self.id = try Parts.id.read(&reader)\n"))
        #expect(!text.contains("hasher.combine"))
    }

    // MARK: Mistakes

    private func expectMisuse(
        inShape members: String, at node: String, _ message: String, fixed: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        func shape(_ members: String) -> String { "@Shape(of: Book.self) struct Card {\n    \(members)\n}" }
        RelataMacrosTests.expectMisuse(
            in: shape(members), at: node, message, fixed: fixed.map(shape), sourceLocation: sourceLocation)
    }

    @Test(arguments: ["class", "enum", "actor"]) func onlyStructsCanBeShapes(introducer: String) {
        RelataMacrosTests.expectMisuse(
            in: "@Shape(of: Book.self) \(introducer) Card {}", at: introducer,
            "@Shape needs a struct: a shape is a value. Write 'struct' instead of '\(introducer)'")
    }

    @Test func genericAndHiddenShapesAreRefused() {
        RelataMacrosTests.expectMisuse(
            in: "@Shape(of: Book.self) struct Card<T> {}", at: "<T>",
            "'Card' can't be generic: write a shape for each type of content")
        RelataMacrosTests.expectMisuse(
            in: "struct Outer { @Shape(of: Book.self) private struct Card { var a: Int } }", at: "private",
            "'Card' can't be private inside another type, where its conformance can't see it: write 'fileprivate'",
            fixed: ["struct Outer { @Shape(of: Book.self) fileprivate struct Card { var a: Int } }"])
        RelataMacrosTests.expectMisuse(
            in: "@Shape(of: model) struct Card { var a: Int }", at: "@Shape(of: model)",
            "@Shape needs its model by name, as in '@Shape(of: Setlist.self)'")
    }

    @Test func propertiesThatCannotBeFetchedAreRefused() {
        expectMisuse(
            inShape: "let title: String", at: "let",
            "'title' must be 'var': lists are filled in after their owners were read", fixed: ["var title: String"])
        expectMisuse(
            inShape: "var title = \"\"", at: "title",
            "'title' needs an explicit type, which determines how it is fetched: 'var title: …'")
        expectMisuse(
            inShape: "@Published var title: String", at: "@Published",
            "'title' can't be stored through '@Published', which hides its value: remove '@Published', or add "
                + "@Transient and an initial value", fixed: ["var title: String"])
    }

    @Test func incompleteAndUselessMarkersAreRefused() {
        expectMisuse(
            inShape: "@Count(\\.tags) var count: Int { 1 }", at: "@Count(\\.tags)",
            "'count' is computed or transient, so nothing is fetched for it: remove @Count",
            fixed: ["var count: Int { 1 }"])
        expectMisuse(
            inShape: "@Root @Count(\\.tags) var count: Int", at: "@Count(\\.tags)",
            "'count' has one source: keep @Root or @Count", fixed: ["@Root var count: Int"])
        expectMisuse(
            inShape: "@Sum(\\.tags) var count: Int", at: "@Sum(\\.tags)",
            "'count' needs the names to follow, such as '@Sum(\\.items.price)'")
        expectMisuse(
            inShape: "@From(path) var count: Int", at: "@From(path)",
            "'count' needs the names to follow, such as '@From(\\.items)'")
    }

    @Test func aStaticMemberAndAMarkerConflict() {
        expectMisuse(
            inShape: "@Count(\\.tags) var count: Int; static let count = from { $0.tags.count }",
            at: "@Count(\\.tags)", "'count' has one source: keep the static member or @Count",
            fixed: ["var count: Int; static let count = from { $0.tags.count }"])
    }

    @Test func markersBelongInShapes() {
        RelataMacrosTests.expectMisuse(
            in: "struct Card { @Count(\\.tags) var count: Int }", at: "@Count(\\.tags)",
            "@Count defines a property of a shape: mark the struct with @Shape, or remove it here",
            fixed: ["struct Card { var count: Int }"])
    }
}
