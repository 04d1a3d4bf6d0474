/// The members of an ordered link and their positions, while edits are applied.
///
/// Positions have gaps, so that placing an object writes its own row and seldom another.
package struct OrderedList {
    private struct Member {
        let key: KeyValue
        /// `nil` for one without a position yet.
        var position: Int64?
    }

    static let gap = Relationship.Order.gap
    /// Positions beyond are treated as unset, so that no sum of them overflows.
    private static let usable: ClosedRange<Int64> = -(1 << 60)...(1 << 60)
    private var members: [Member]
    /// The members' keys, for a look-up for each added object.
    private var keys: Set<KeyValue>
    /// Former members that are still in ``members``: all of them are taken out at once.
    private var removed: Set<KeyValue> = []
    private var original: [KeyValue: Int64]
    /// The largest position of members that weren't read because edits only append.
    private let base: Int64

    /// The members as they are stored, in order.
    package init(_ stored: [(key: KeyValue, position: Int64?)]) {
        members = stored.map { stored in
            Member(key: stored.key, position: stored.position.flatMap { Self.usable.contains($0) ? $0 : nil })
        }
        keys = Set(stored.map(\.key))
        original = Dictionary(
            stored.compactMap { member in member.position.map { (member.key, $0) } },
            uniquingKeysWith: { first, _ in first })
        base = 0
    }

    /// The end of a list that is only appended to, and those of the appended objects that are in it already.
    package init?(appendingAfter base: Int64, members present: [KeyValue]) {
        guard Self.usable.contains(base) else { return nil }
        members = []
        keys = Set(present)
        original = [:]
        self.base = base
    }

    /// Adds an object at the end, unless it is a member.
    package mutating func append(_ key: KeyValue) {
        guard keys.insert(key).inserted else { return }
        compact()
        members.append(Member(key: key, position: nil))
    }

    /// Removes an object. Its row may be new when it is added again.
    package mutating func remove(_ key: KeyValue) {
        guard keys.remove(key) != nil else { return }
        removed.insert(key)
        original[key] = nil
    }

    /// Places an object right after another, or first.
    package mutating func place(_ key: KeyValue, after other: KeyValue?, in link: String) throws(RelataError) {
        if key == other { return append(key) }
        if keys.contains(key) { removed.insert(key) }
        compact()
        keys.insert(key)
        guard let other else {
            members.insert(Member(key: key, position: nil), at: 0)
            return
        }
        guard let index = members.firstIndex(where: { $0.key == other }) else {
            throw .invalidUse("\(other) isn't among \(link), so nothing can be placed after it")
        }
        members.insert(Member(key: key, position: nil), at: index + 1)
    }

    /// Sets the members. Those that keep their order keep their positions.
    package mutating func set(_ keys: [KeyValue]) {
        var last = Int64.min
        self.keys = []
        removed = []
        members = keys.compactMap { key in
            guard self.keys.insert(key).inserted else { return nil }
            guard let position = original[key], Self.usable.contains(position), position > last else {
                return Member(key: key, position: nil)
            }
            last = position
            return Member(key: key, position: position)
        }
        // The row of another may be new when it is added again.
        original = original.filter { self.keys.contains($0.key) }
    }

    private mutating func compact() {
        if removed.isEmpty { return }
        members.removeAll { removed.contains($0.key) }
        removed = []
    }

    /// The members with a new position.
    package mutating func changedPositions() -> [(KeyValue, Int64)] {
        compact()
        keepMost()
        return zip(members, positions()).compactMap { original[$0.key] == $1 ? nil : ($0.key, $1) }
    }

    /// Gives members their stored positions back if more can keep them: of those that were placed one after another, only
    /// the ones whose order changed need new ones.
    private mutating func keepMost() {
        guard members.contains(where: { $0.position == nil && original[$0.key] != nil }) else { return }
        let stored = members.map { member in
            original[member.key].flatMap { Self.usable.contains($0) ? $0 : nil }
        }
        let kept = Self.longestAscent(of: stored)
        guard kept.count > members.count(where: { $0.position != nil }) else { return }
        for index in members.indices { members[index].position = nil }
        for index in kept { members[index].position = stored[index] }
    }

    /// The places of the longest part of a list whose numbers ascend, in their order.
    private static func longestAscent(of numbers: [Int64?]) -> [Int] {
        // The place of the smallest number that a part of each length can end with, and each place's predecessor.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (place, number) in numbers.enumerated() {
            guard let number else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if (numbers[ends[middle]] ?? .min) < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var found: [Int] = []
        var next = ends.last
        while let place = next {
            found.append(place)
            next = previous[place]
        }
        return found.reversed()
    }

    /// The members whose stored position another member gets.
    package func holders(of changes: [(KeyValue, Int64)]) -> [KeyValue] {
        let taken = Set(changes.map(\.1))
        return changes.compactMap { key, _ in original[key].flatMap { taken.contains($0) ? key : nil } }
    }

    private func positions() -> [Int64] {
        var result: [Int64] = []
        var index = 0
        while index < members.count {
            let previous = result.last ?? base
            // The first position may be any: those of objects that were placed first are below zero.
            let isFirst = result.isEmpty && base == 0
            if let position = members[index].position, isFirst || position > previous {
                result.append(position)
                index += 1
                continue
            }
            // A run of members without a usable position, and the next that has one.
            var end = index
            while end < members.count, members[end].position.map({ !isFirst && $0 <= previous }) ?? true { end += 1 }
            let count = Int64(end - index)
            guard end < members.count, let next = members[end].position else {
                for step in 1...count { result.append(previous + step * Self.gap) }
                break
            }
            let start = result.isEmpty ? min(0, next - (count + 1) * Self.gap) : previous
            guard next - start > count else { return renumbered() }
            let distance = (next - start) / (count + 1)
            for step in 1...count { result.append(start + step * distance) }
            index = end
        }
        return result
    }

    private func renumbered() -> [Int64] { (1...Int64(members.count)).map { $0 * Self.gap } }
}
