/// The difference between a list and the one before it, by the identity of its elements.
public struct ListDifference<Element> {
    /// An element and its place.
    public typealias Place = (index: Int, element: Element)

    /// The current list.
    public let elements: [Element]
    /// Elements that are new, with their places in the new list, in ascending order.
    public let inserted: [Place]
    /// Removed elements, with their positions in the old list, in ascending order.
    public let removed: [Place]
    /// Moved elements, with both positions; as few as possible.
    public let moved: [(from: Int, to: Int, element: Element)]
    /// Elements that stayed and have a different value, with their positions in the new list.
    public let updated: [(index: Int, old: Element, new: Element)]

    /// Whether nothing differs.
    public var isEmpty: Bool { inserted.isEmpty && removed.isEmpty && moved.isEmpty && updated.isEmpty }

    /// Compares two lists. Repeated identities are paired in order.
    package init<ID: Hashable>(
        from old: [Element], to new: [Element], by identity: (Element) -> ID, areEqual: (Element, Element) -> Bool
    ) {
        elements = new
        var places: [ID: [Int]] = [:]
        for (index, element) in old.enumerated().reversed() { places[identity(element), default: []].append(index) }
        var inserted: [Place] = []
        var updated: [(index: Int, old: Element, new: Element)] = []
        var kept: [(from: Int, to: Int)] = []
        var isKept = Array(repeating: false, count: old.count)
        for (index, element) in new.enumerated() {
            guard let place = places[identity(element)]?.popLast() else {
                inserted.append((index, element))
                continue
            }
            isKept[place] = true
            kept.append((place, index))
            if !areEqual(old[place], element) { updated.append((index, old[place], element)) }
        }
        self.inserted = inserted
        self.updated = updated
        removed = old.indices.filter { !isKept[$0] }.map { ($0, old[$0]) }
        let standing = Self.longestAscent(kept.map(\.from))
        moved = kept.indices.filter { !standing.contains($0) }.map { (kept[$0].from, kept[$0].to, new[kept[$0].to]) }
    }

    /// The indexes of a longest ascending subsequence: these elements needn't move.
    private static func longestAscent(_ numbers: [Int]) -> Set<Int> {
        // For each length, the index of the smallest number that ends an ascent of it, and the predecessor of each.
        var ends: [Int] = []
        var previous = Array(repeating: -1, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var result: Set<Int> = []
        var index = ends.last ?? -1
        while index >= 0 {
            result.insert(index)
            index = previous[index]
        }
        return result
    }
}

extension ListDifference: Sendable where Element: Sendable {}
