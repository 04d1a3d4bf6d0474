/// For each owner the numbers of its members, in order.
@frozen @usableFromInline
struct MemberLists {
    /// The start of each owner's members in `members`, and the end.
    @usableFromInline var starts: [Int32]
    @usableFromInline var members: [Int32]

    /// Sorts members by their owners, and keeps the order of each owner's.
    init(owners: [Int32], members: [Int32], count: Int) {
        var starts = [Int32](repeating: 0, count: count + 1)
        for owner in owners { starts[Int(owner) + 1] += 1 }
        for owner in 0..<count { starts[owner + 1] += starts[owner] }
        var next = starts
        var sorted = [Int32](repeating: 0, count: members.count)
        for (owner, member) in zip(owners, members) {
            sorted[Int(next[Int(owner)])] = member
            next[Int(owner)] += 1
        }
        self.starts = starts
        self.members = sorted
    }

    /// One member for each owner; -1 for none.
    init(_ targets: [Int32]) {
        members = targets.filter { $0 >= 0 }
        starts = [0]
        for target in targets { starts.append(starts[starts.count - 1] + (target < 0 ? 0 : 1)) }
    }

    /// The range of an owner's members.
    @inlinable
    subscript(owner: Int) -> Range<Int> { Int(starts[owner])..<Int(starts[owner + 1]) }

    /// Sorts the members of each owner.
    mutating func sort(by precedes: (Int32, Int32) -> Bool) {
        let starts = starts
        members.withUnsafeMutableBufferPointer { members in
            for owner in 0..<starts.count - 1 where starts[owner + 1] - starts[owner] > 1 {
                // In place, because a slice of an array would be copied to be sorted.
                var own = UnsafeMutableBufferPointer(
                    rebasing: members[Int(starts[owner])..<Int(starts[owner + 1])])
                own.sort(by: precedes)
            }
        }
    }

    mutating func map(_ change: (Int32) -> Int32) {
        for index in members.indices { members[index] = change(members[index]) }
    }
}
