/// The order in which objects are written, so that the targets of an object's references precede it.
///
/// A pure plan over numbers: an edge means that its source refers to its target. In a cycle of references, an edge is
/// broken that can be written afterwards (or whose check can wait for the end of the transaction).
package struct SaveOrder: Sendable {
    /// "The source refers to the target."
    package struct Edge: Sendable {
        /// The object that refers.
        package let source: Int
        /// The object that is referred to.
        package let target: Int
        /// Whether the source can be written before the target.
        package let isBreakable: Bool

        /// An edge between two objects.
        package init(source: Int, target: Int, isBreakable: Bool) {
            self.source = source
            self.target = target
            self.isBreakable = isBreakable
        }
    }

    /// All objects, each once.
    package let order: [Int]
    /// The edges (by their number) whose source is written before their target.
    package let broken: [Int]

    /// Plans the order of `count` objects. Keeps the given order unless an edge requires another.
    ///
    /// - Returns: `nil` when a cycle has no edge that can be broken.
    package init?(count: Int, edges: [Edge]) {
        // The sources that wait for a target, as linked lists in flat arrays: the plan is linear in objects and edges.
        var firstWaiting = [Int](repeating: -1, count: count)
        var nextWaiting = [Int](repeating: -1, count: edges.count)
        var waitsFor = [Int](repeating: 0, count: count)
        var waitsFirmly = [Int](repeating: 0, count: count)
        for (number, edge) in edges.enumerated().reversed() where edge.source != edge.target {
            nextWaiting[number] = firstWaiting[edge.target]
            firstWaiting[edge.target] = number
            waitsFor[edge.source] += 1
            if !edge.isBreakable { waitsFirmly[edge.source] += 1 }
        }
        // An object that refers to itself needs no order, but the check of its key can't come before its row.
        if edges.contains(where: { $0.source == $0.target && !$0.isBreakable }) { return nil }

        var order: [Int] = []
        order.reserveCapacity(count)
        var broken: Set<Int> = []
        var isDone = [Bool](repeating: false, count: count)
        var ready = (0..<count).filter { waitsFor[$0] == 0 }
        var nextReady = 0
        // Objects that wait for breakable edges only, in the order they reached that state.
        var breakable = (0..<count).filter { waitsFor[$0] > 0 && waitsFirmly[$0] == 0 }
        var nextBreakable = 0

        while order.count < count {
            let object: Int
            if nextReady < ready.count {
                object = ready[nextReady]
                nextReady += 1
            } else {
                while nextBreakable < breakable.count, isDone[breakable[nextBreakable]] { nextBreakable += 1 }
                guard nextBreakable < breakable.count else { return nil }
                object = breakable[nextBreakable]
                nextBreakable += 1
            }
            if isDone[object] { continue }
            isDone[object] = true
            order.append(object)
            var number = firstWaiting[object]
            while number >= 0 {
                let edge = edges[number]
                waitsFor[edge.source] -= 1
                if !edge.isBreakable { waitsFirmly[edge.source] -= 1 }
                if !isDone[edge.source] {
                    if waitsFor[edge.source] == 0 {
                        ready.append(edge.source)
                    } else if !edge.isBreakable && waitsFirmly[edge.source] == 0 {
                        breakable.append(edge.source)
                    }
                } else {
                    broken.insert(number)
                }
                number = nextWaiting[number]
            }
        }
        for (number, edge) in edges.enumerated() where edge.source == edge.target { broken.insert(number) }
        self.order = order
        self.broken = broken.sorted()
    }
}
