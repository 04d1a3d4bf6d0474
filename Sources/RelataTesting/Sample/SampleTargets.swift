import Relata
import RelataCore

/// The objects that a to-one may link to, by their index: stored objects come first.
struct SampleTargets {
    let reference: Reference
    /// The maximum number of links to one target.
    let capacity: Int?
    /// The number of links to each.
    private var loads: [Int]
    /// The targets with room for another link.
    private var free: [Int]
    /// New objects that need more links to them, and the number of these links.
    private var needy: [(index: Int, missing: Int)]

    init(_ reference: Reference, to target: SampleEntity, from source: SampleEntity, in transaction: WriteTransaction)
        throws
    {
        self.reference = reference
        capacity = reference.capacity
        let count = target.stored.count + target.rows.count
        loads = Array(repeating: 0, count: count)
        if capacity != nil, !source.stored.isEmpty {
            let counts = try transaction.counts(of: reference.columns, in: source.table.sqlName)
            for (index, key) in target.stored.enumerated() { loads[index] = counts[key] ?? 0 }
        }
        let capacity = capacity ?? .max
        free = loads.indices.filter { [loads] in loads[$0] < capacity }
        let isSelf = reference.source == reference.target
        let minimum = isSelf ? 0 : reference.minimumCount ?? 0
        needy = minimum == 0 ? [] : (target.stored.count..<count).reversed().map { ($0, minimum) }
    }

    /// The number of further links, if there is a limit.
    var room: Int { capacity.map { capacity in free.reduce(0) { $0 + capacity - loads[$1] } } ?? .max }

    /// Chooses a target; `nil` if none is free, or none is chosen.
    func pick(_ random: inout SampleRandom) -> Int? {
        if let needy = needy.last { return needy.index }
        if reference.isOptional, random.chance(0.2) { return nil }
        return free.randomElement(using: &random)
    }

    /// Notes a link.
    mutating func take(_ index: Int) {
        loads[index] += 1
        if let place = needy.indices.last, needy[place].index == index {
            needy[place].missing -= 1
            if needy[place].missing == 0 { needy.removeLast() }
        }
        if let capacity, loads[index] >= capacity, let place = free.firstIndex(of: index) {
            free.swapAt(place, free.count - 1)
            free.removeLast()
        }
    }

    /// Adds a target that was created since: for a link to the model itself.
    mutating func append() {
        free.append(loads.count)
        loads.append(0)
    }
}

extension Reference {
    /// The number of objects that may link to one, if that is limited.
    var capacity: Int? { isUnique ? 1 : maximumCount }
}
