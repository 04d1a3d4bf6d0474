/// The members of an ordered link and their positions, while edits are applied.
///
/// Positions have gaps, so that placing an object writes its own row and seldom another.
struct OrderedList {
    private struct Member {
        let key: KeyValue
        /// `nil` for one that has yet to get a position.
        var position: Int64?
    }

    private static let gap: Int64 = 1024
    private var members: [Member]
    private let original: [KeyValue: Int64]
    /// The largest position of members that weren't read because edits only append.
    private let base: Int64

    /// The members as they are stored, in order.
    init(_ stored: [(key: KeyValue, position: Int64?)], after base: Int64 = 0) {
        members = stored.map { Member(key: $0.key, position: $0.position) }
        original = Dictionary(
            stored.compactMap { member in member.position.map { (member.key, $0) } }, uniquingKeysWith: { first, _ in first })
        self.base = base
    }

    /// Makes an object a member, at the end if it is none.
    mutating func append(_ key: KeyValue) {
        if !members.contains(where: { $0.key == key }) { members.append(Member(key: key, position: nil)) }
    }

    mutating func remove(_ key: KeyValue) { members.removeAll { $0.key == key } }

    /// Makes an object stand right after another, or first.
    mutating func place(_ key: KeyValue, after other: KeyValue?, in link: String) throws(RelataError) {
        if key == other { return }
        members.removeAll { $0.key == key }
        guard let other else {
            members.insert(Member(key: key, position: nil), at: 0)
            return
        }
        guard let index = members.firstIndex(where: { $0.key == other }) else {
            throw .invalidUse("\(other) isn't among \(link), so nothing can be placed after it")
        }
        members.insert(Member(key: key, position: nil), at: index + 1)
    }

    /// Makes these the members. Those that keep their order keep their positions.
    mutating func set(_ keys: [KeyValue]) {
        var seen: Set<KeyValue> = []
        var last = Int64.min
        members = keys.compactMap { key in
            guard seen.insert(key).inserted else { return nil }
            guard let position = original[key], position > last else { return Member(key: key, position: nil) }
            last = position
            return Member(key: key, position: position)
        }
    }

    /// What must be written: the members whose position is new.
    func changedPositions() -> [(KeyValue, Int64)] {
        zip(members, positions()).compactMap { original[$0.key] == $1 ? nil : ($0.key, $1) }
    }

    private func positions() -> [Int64] {
        var result: [Int64] = []
        var index = 0
        while index < members.count {
            let previous = result.last ?? base
            if let position = members[index].position, position > previous || result.isEmpty && base == 0 {
                result.append(position)
                index += 1
                continue
            }
            // A run of members without a usable position, and the next that has one.
            var end = index
            while end < members.count, members[end].position.map({ $0 <= previous }) ?? true { end += 1 }
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
