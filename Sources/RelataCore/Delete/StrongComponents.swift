/// Tarjan's algorithm: the groups of nodes that reach each other, a group's successors before the group itself.
///
/// A node that is on no cycle is a separate group. The order depends only on the order of the nodes and successors.
func strongComponents(of nodes: [Int], successors: @escaping (Int) -> [Int]) -> [[Int]] {
    var search = ComponentSearch(members: Set(nodes), successors: successors)
    for node in nodes where search.numbers[node] == nil { search.visit(node) }
    return search.components
}

private struct ComponentSearch {
    let members: Set<Int>
    let successors: (Int) -> [Int]
    var numbers: [Int: Int] = [:]
    var lowest: [Int: Int] = [:]
    var stack: [Int] = []
    var onStack: Set<Int> = []
    var components: [[Int]] = []

    init(members: Set<Int>, successors: @escaping (Int) -> [Int]) {
        self.members = members
        self.successors = successors
    }

    /// Recursive: nodes are entities, and there are a few hundred at most.
    mutating func visit(_ node: Int) {
        let number = numbers.count
        numbers[node] = number
        var low = number
        stack.append(node)
        onStack.insert(node)
        for next in successors(node) where members.contains(next) {
            if numbers[next] == nil {
                visit(next)
                low = min(low, lowest[next] ?? low)
            } else if onStack.contains(next) {
                low = min(low, numbers[next] ?? low)
            }
        }
        lowest[node] = low
        guard low == number, let start = stack.lastIndex(of: node) else { return }
        let component = Array(stack[start...])
        stack.removeSubrange(start...)
        onStack.subtract(component)
        components.append(component)
    }
}
