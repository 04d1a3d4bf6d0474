import Relata
import RelataCore

/// The rows of a join table of a sample: which objects of a many-to-many are linked.
struct SampleJoins {
    private struct Pair: Hashable {
        let source: Int
        let target: Int
    }

    private let join: Join
    private let source: SampleEntity
    private let target: SampleEntity
    private var pairs: [Pair] = []
    private var known: Set<Pair> = []
    /// The number of links each object has.
    private var sourceLoads: [Int]
    private var targetLoads: [Int]

    /// Chooses links for the objects that are new.
    init(
        _ join: Join, _ source: SampleEntity, _ target: SampleEntity, _ random: inout SampleRandom,
        in transaction: WriteTransaction
    ) throws {
        self.join = join
        self.source = source
        self.target = target
        let old = try Self.loads(join.sourceColumns, join, source, isCounted: join.maximumCount != nil, transaction)
        sourceLoads = old + source.rows.map { _ in 0 }
        targetLoads =
            try Self.loads(join.targetColumns, join, target, isCounted: join.inverseMaximumCount != nil, transaction)
            + target.rows.map { _ in 0 }
        let newSources = sourceLoads.indices.dropFirst(source.stored.count)
        let newTargets = targetLoads.indices.dropFirst(target.stored.count)
        // Required links come before optional ones.
        for index in newSources { fill(join.minimumCount ?? 0, &random, source: index) }
        for index in newTargets { fill(join.inverseMinimumCount ?? 0, &random, target: index) }
        for index in newSources { fill(Int.random(in: 0...3, using: &random), &random, source: index) }
        if newSources.isEmpty {
            for index in newTargets { fill(Int.random(in: 0...3, using: &random), &random, target: index) }
        }
        try check(source, sourceLoads, least: join.minimumCount, join.property)
        try check(target, targetLoads, least: join.inverseMinimumCount, join.inverse ?? join.property)
    }

    private static func loads(
        _ columns: [String], _ join: Join, _ entity: SampleEntity, isCounted: Bool, _ transaction: WriteTransaction
    ) throws -> [Int] {
        guard isCounted, !entity.stored.isEmpty else { return entity.stored.map { _ in 0 } }
        let counts = try transaction.counts(of: columns, in: join.table)
        return entity.stored.map { counts[$0] ?? 0 }
    }

    /// Links a source until it has a number of targets, or until no target is left.
    private mutating func fill(_ count: Int, _ random: inout SampleRandom, source index: Int) {
        let count = min(count, join.maximumCount ?? count) - sourceLoads[index]
        add(count, &random) { Pair(source: index, target: $0) }
    }

    /// Links a target until it has a number of sources, or until no source is left.
    private mutating func fill(_ count: Int, _ random: inout SampleRandom, target index: Int) {
        let count = min(count, join.inverseMaximumCount ?? count) - targetLoads[index]
        add(count, &random) { Pair(source: $0, target: index) }
    }

    /// Links an object to a number of others, or to all remaining ones.
    private mutating func add(_ count: Int, _ random: inout SampleRandom, _ pair: (Int) -> Pair) {
        let others = pair(0).target == pair(1).target ? sourceLoads.count : targetLoads.count
        var added = 0
        func isOpen(_ pair: Pair) -> Bool {
            !known.contains(pair) && (join.source != join.target || pair.source != pair.target)
                && sourceLoads[pair.source] < join.maximumCount ?? .max
                && targetLoads[pair.target] < join.inverseMaximumCount ?? .max
        }
        // Chooses at random first, and then one after the other when few are left.
        for attempt in 0..<max(0, others) * 2 {
            if added >= count { return }
            let other = attempt < others ? Int.random(in: 0..<others, using: &random) : attempt - others
            let pair = pair(other)
            guard isOpen(pair) else { continue }
            known.insert(pair)
            pairs.append(pair)
            sourceLoads[pair.source] += 1
            targetLoads[pair.target] += 1
            added += 1
        }
    }

    private func check(_ entity: SampleEntity, _ loads: [Int], least: Int?, _ property: String) throws {
        guard let least, let index = loads.indices.dropFirst(entity.stored.count).first(where: { loads[$0] < least })
        else { return }
        throw RelataError.invalidUse(
            "insertSample can't give each \(entity.table.name) \(least) objects in \(property), and one only "
                + "\(loads[index]): ask for more objects, or insert some of your own before")
    }

    /// Writes the rows, each list in the order of its links.
    func insert(in transaction: WriteTransaction) throws {
        if pairs.isEmpty { return }
        let orders = [join.orderColumn, join.inverseOrderColumn].compactMap { $0 }
        var position = try orders.map { try transaction.largest($0, in: join.table) }.max() ?? 0
        for pair in pairs {
            position += Relationship.Order.gap
            let keys = source.key(pair.source).values + target.key(pair.target).values
            try transaction.execute(
                .insert(
                    into: join.table, join.sourceColumns + join.targetColumns + orders,
                    keys + orders.map { _ in .integer(position) }))
        }
    }
}
