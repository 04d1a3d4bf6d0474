import RelataCore
import Testing

@Suite struct SaveOrderTests {
    /// Numbers that follow from a seed.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 33)
        }
    }

    /// Whether the edges that can't be broken go round in a cycle, by looking for one from every object.
    private func hasFirmCycle(_ count: Int, _ edges: [SaveOrder.Edge]) -> Bool {
        (0..<count).contains { start in
            var reached: Set<Int> = []
            var open = [start]
            while let object = open.popLast() {
                for edge in edges where edge.source == object && !edge.isBreakable {
                    if edge.target == start { return true }
                    if reached.insert(edge.target).inserted { open.append(edge.target) }
                }
            }
            return false
        }
    }

    @Test(arguments: 0..<500) func everyObjectComesAfterItsTargets(seed: Int) {
        var random = Seeded(state: UInt64(seed) &* 0x9e37_79b9 &+ 1)
        let count = Int.random(in: 1...12, using: &random)
        let edges = (0..<Int.random(in: 0...20, using: &random)).map { _ in
            SaveOrder.Edge(
                source: .random(in: 0..<count, using: &random), target: .random(in: 0..<count, using: &random),
                isBreakable: Int.random(in: 0...2, using: &random) > 0)
        }
        let isImpossible = hasFirmCycle(count, edges)
        guard let plan = SaveOrder(count: count, edges: edges) else {
            #expect(isImpossible, "seed \(seed): a plan exists")
            return
        }
        #expect(!isImpossible, "seed \(seed): no plan can exist")
        #expect(plan.order.sorted() == Array(0..<count), "seed \(seed): each object once")
        var places = [Int](repeating: 0, count: count)
        for (place, object) in plan.order.enumerated() { places[object] = place }
        for (number, edge) in edges.enumerated() {
            let isBroken = places[edge.target] >= places[edge.source]
            #expect(plan.broken.contains(number) == isBroken, "seed \(seed): edge \(number)")
            #expect(!isBroken || edge.isBreakable, "seed \(seed): edge \(number) can't be broken")
        }
    }

    @Test func withoutCyclesTheGivenOrderStays() {
        let edges = [SaveOrder.Edge(source: 0, target: 2, isBreakable: true)]
        let plan = SaveOrder(count: 4, edges: edges)
        #expect(plan?.broken == [])
        #expect(plan?.order == [1, 2, 3, 0])
    }
}
