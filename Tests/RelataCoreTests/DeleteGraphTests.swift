import RelataCore
import Testing

@Suite struct DeletionGraphTests {
    private func entity(_ name: String, _ relationships: Relationship...) -> Entity {
        Entity(
            name: name,
            properties: [.attribute(Attribute("id", type: .integer))] + relationships.map { .relationship($0) })
    }

    private func toOne(_ name: String, _ target: String, _ rule: DeleteRule, required: Bool = false) -> Relationship {
        Relationship(name, target: target, kind: .toOne(isOptional: !required), onTargetDelete: rule)
    }

    @Test func referringRowsAreDeletedFirst() throws {
        let schema = try Schema([
            entity("Series"), entity("Episode", toOne("series", "Series", .cascade)),
            entity("Scene", toOne("episode", "Episode", .cascade, required: true), toOne("series", "Series", .cascade)),
            entity("History", toOne("episode", "Episode", .nullify)), entity("Fan", toOne("series", "Series", .deny)),
        ])
        let graph = DeletionGraph(schema: schema, root: 0)
        #expect(graph.order == [2, 1, 0])
        #expect(graph.groups == [[0], [1], [2]])
        #expect(graph.nullified == [3])
        #expect(graph.denials.map(\.relationship) == ["Fan.series"])
        #expect(graph.listed == [2], "two cascades end at a scene")
        #expect(graph.takenAlong == [1: 0])
        #expect(graph.knots.isEmpty)
        #expect(DeletionGraph(schema: schema, root: 3).order == [3])
    }

    @Test func nullifyingReferencesMakeNoCycle() throws {
        let schema = try Schema([
            entity("Series", toOne("current", "Episode", .nullify)),
            entity("Episode", toOne("series", "Series", .cascade)),
        ])
        let graph = DeletionGraph(schema: schema, root: 0)
        #expect(graph.order == [1, 0])
        #expect(graph.listed.isEmpty)
        #expect(graph.knots.isEmpty)
    }

    @Test func cyclesAreFoundBeforeAnythingIsDeleted() throws {
        let schema = try Schema([
            entity("Hen", toOne("egg", "Egg", .cascade)), entity("Egg", toOne("hen", "Hen", .cascade)),
            entity("Feather", toOne("hen", "Hen", .cascade)),
        ])
        let graph = DeletionGraph(schema: schema, root: 1)
        #expect(graph.groups.map { $0.sorted() } == [[0, 1], [2]])
        #expect(graph.order.first == 2)
        #expect(graph.knots == [0, 1])
        #expect(graph.listed == [0, 1])
        #expect(graph.takenAlong == [2: 2])
    }

    @Test func entitiesWithAnotherReferenceAreNotTakenAlong() throws {
        let schema = try Schema([
            entity("Series"), entity("Season", toOne("series", "Series", .cascade)),
            entity("Episode", toOne("season", "Season", .cascade), toOne("first", "Series", .deny)),
        ])
        let graph = DeletionGraph(schema: schema, root: 0)
        #expect(graph.order == [2, 1, 0])
        #expect(graph.takenAlong == [1: 0])
    }

    @Test func reportsNameTheSideThatDeclaresTheRule() throws {
        let schema = try Schema([
            entity("Genre", Relationship("books", target: "Book", kind: .toMany(inverse: "genre"), deleteRule: .deny)),
            entity(
                "Book", Relationship("genre", target: "Genre", kind: .toOne(isOptional: true), deleteRule: .cascade),
                Relationship("authors", target: "Author", kind: .manyToMany())),
            entity(
                "Author",
                Relationship(
                    "books", target: "Book", kind: .manyToManyInverse(inverse: "authors"), deleteRule: .cascade)),
        ])
        #expect(schema.deletionEdges(from: 0).map(\.relationship) == ["Genre.books"])
        #expect(schema.deletionEdges(from: 1).map(\.relationship) == ["Book.genre"])
        #expect(schema.deletionEdges(from: 2).map(\.relationship) == ["Author.books"])
        let order = DeletionGraph(schema: schema, root: 2).order
        #expect(
            order.firstIndex(of: 1) ?? 9 < order.firstIndex(of: 0) ?? 0, "a book goes before the genre it refers to")
    }
}
