import TestSupport
import Testing

@testable import RelataCore

/// Random schemas, drawn.
@Suite struct DiagramLayoutTests {
    /// A schema with the given number of entities, and about the given number of relationships each.
    private static func schema(_ count: Int, links: Double, _ random: inout SeededGenerator) throws -> Schema {
        try Schema(
            (0..<count).map { index in
                let attributes = (0..<Int.random(in: 0...12, using: &random)).map { Property.text("attribute\($0)") }
                let number = Int.random(in: 0...Int(links * 2), using: &random)
                let relationships = (0..<number).map { link -> Property in
                    let target = "Entity\(Int.random(in: 0..<count, using: &random))"
                    return Bool.random(using: &random)
                        ? .toOne("one\(link)", target) : .manyToMany("many\(link)", target)
                }
                return Entity(name: "Entity\(index)", properties: [.id()] + attributes + relationships)
            })
    }

    @Test(arguments: 1...60) func noBoxesOverlapAndNoLineTouchesAnotherBox(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...40, using: &random)
        let diagram = try Self.schema(count, links: Double(Int.random(in: 0...2, using: &random)), &random).diagram()
        let geometry = DiagramGeometry(diagram)
        let boxes = geometry.boxes
        for (index, box) in boxes.enumerated() {
            #expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= geometry.width, "seed \(seed)")
            #expect(box.y + box.height <= geometry.height, "seed \(seed)")
            for other in boxes[..<index] {
                #expect(
                    box.x >= other.x + other.width || other.x >= box.x + box.width || box.y >= other.y + other.height
                        || other.y >= box.y + box.height, "seed \(seed)")
            }
        }
        #expect(geometry.paths.map(\.line).sorted() == Array(diagram.lines.indices), "seed \(seed)")
        for path in geometry.paths {
            let ends = [diagram.lines[path.line].source.box, diagram.lines[path.line].target.box]
            // The straight parts; the curves between them stay in the space between columns, checked by its width.
            for (from, to) in zip(path.points, path.points.dropFirst()) {
                let (left, right) = (min(from.x, to.x), max(from.x, to.x))
                let (top, bottom) = (min(from.y, to.y), max(from.y, to.y))
                for (index, box) in boxes.enumerated() where !(ends.contains(index) && from.y == to.y) {
                    #expect(
                        right <= box.x || left >= box.x + box.width || bottom <= box.y || top >= box.y + box.height,
                        "seed \(seed)")
                }
            }
        }
    }

    @Test func aTreeIsDrawnWithoutCrossings() throws {
        let schema = try Schema(
            [Entity(name: "E0", properties: [.id()])]
                + (1..<40).map { Entity(name: "E\($0)", properties: [.id(), .toOne("parent", "E\(($0 - 1) / 3)")]) })
        let geometry = DiagramGeometry(schema.diagram())
        let ends = geometry.paths.map { ($0.points[2], $0.points[1]) }
        for (index, line) in ends.enumerated() {
            for other in ends[..<index] where line.0.x == other.0.x {
                #expect((line.0.y - other.0.y) * (line.1.y - other.1.y) >= 0)
            }
        }
    }

    @Test func diagramsOfManyEntitiesHaveTheShapeOfAScreen() throws {
        var random = SeededGenerator(seed: 5)
        let geometry = DiagramGeometry(try Self.schema(50, links: 1, &random).diagram())
        #expect(geometry.width < geometry.height * 5)
        #expect(geometry.height < geometry.width * 3)
    }

    @Test(arguments: 1...40) func relatedBoxesArePlacedNearEachOther(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...9, using: &random)
        let wanted = (0..<count).map { _ in
            (y: Double.random(in: 0...60, using: &random), weight: Double.random(in: 0.5...3, using: &random))
        }
        let distances = (1..<max(count, 1)).map { _ in Double.random(in: 1...12, using: &random) }
        func cost(_ places: [Double]) -> Double {
            zip(places, wanted).reduce(0) { $0 + ($1.0 - $1.1.y) * ($1.0 - $1.1.y) * $1.1.weight }
        }
        let places = LayeredLayout.nearest(wanted, distances)
        for (index, distance) in distances.enumerated() {
            #expect(places[index + 1] - places[index] >= distance - 1e-9, "seed \(seed)")
        }
        // No allowed change makes it better.
        for first in 0..<count {
            for last in first..<count {
                for step in [-0.01, 0.01] {
                    var moved = places
                    for index in first...last { moved[index] += step }
                    let holds = distances.indices.allSatisfy { moved[$0 + 1] - moved[$0] >= distances[$0] }
                    #expect(!holds || cost(moved) >= cost(places) - 1e-9, "seed \(seed)")
                }
            }
        }
    }
}
