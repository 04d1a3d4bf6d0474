import Foundation
import Relata
import RelataCore

/// The number of objects of each model a sample has, so that required links find their targets and lists their members.
struct SampleCounts {
    private let root: Int
    private let schema: Schema
    private let entities: [Int: SampleEntity]

    /// Sets the number of wanted objects of each entity.
    static func plan(
        _ entities: [Int: SampleEntity], root: Int, count: Int, related: Int, _ schema: Schema,
        in transaction: WriteTransaction
    ) throws {
        let counts = SampleCounts(root: root, schema: schema, entities: entities)
        for entity in entities.values where entity.stored.isEmpty { entity.wanted = related }
        entities[root]?.wanted = count
        // Each round can ask for more elsewhere; demands that never end can't be met.
        for _ in 0..<100 {
            let before = counts.wanted
            for reference in schema.references { try counts.meet(reference, in: transaction) }
            for join in schema.joins { try counts.meet(join, in: transaction) }
            for entity in entities.values { counts.meetSets(of: entity) }
            if counts.wanted == before {
                try counts.check()
                return
            }
        }
        throw counts.refusal("the numbers of objects that its relationships ask for can't be met")
    }

    private var wanted: [Int: Int] { entities.mapValues(\.wanted) }

    private func refusal(_ reason: String) -> RelataError {
        .invalidUse("insertSample can't make \(schema.tables[root].name) objects: \(reason)")
    }

    /// Raises the number for a model, except for the root, whose number is given.
    private func raise(_ index: Int, to count: Int) {
        if index != root { entities[index]?.wanted = max(entities[index]?.wanted ?? 0, count) }
    }

    private func lower(_ index: Int, to count: Int) {
        if index != root { entities[index]?.wanted = min(entities[index]?.wanted ?? 0, max(0, count)) }
    }

    // MARK: To-ones

    private func meet(_ reference: Reference, in transaction: WriteTransaction) throws {
        guard let source = entities[reference.source], let target = entities[reference.target],
            reference.source != reference.target
        else { return }
        if !reference.isOptional, source.wanted > 0 {
            if target.total == 0 { raise(reference.target, to: 1) }
            if let capacity = reference.capacity {
                let room = try SampleTargets(reference, to: target, from: source, in: transaction).room
                let missing = source.wanted - room
                if missing > 0 { raise(reference.target, to: (missing + capacity - 1) / capacity) }
                lower(reference.source, to: room + (entities[reference.target]?.wanted ?? 0) * capacity)
            }
        }
        if let minimum = reference.minimumCount, minimum > 0 {
            raise(reference.source, to: (entities[reference.target]?.wanted ?? 0) * minimum)
            lower(reference.target, to: (entities[reference.source]?.wanted ?? 0) / minimum)
        }
    }

    /// A unique set of links needs enough targets: twice as many pairs as objects, so that random choices find free
    /// pairs.
    private func meetSets(of source: SampleEntity) {
        guard source.wanted > 0 else { return }
        let entity = source.table.entity
        for set in entity.uniques + [entity.key] {
            let links = schema.references.filter {
                $0.source == source.table.index && set.contains($0.property) && !$0.isOptional
            }
            let targets = links.compactMap { entities[$0.target] }
            guard links.count == set.count, targets.count == set.count, set.count > 1,
                targets.reduce(1.0, { $0 * Double($1.total) }) < Double(2 * source.total)
            else { continue }
            let each = pow(Double(2 * source.total), 1 / Double(set.count)).rounded(.up)
            for target in targets { raise(target.table.index, to: Int(each) - target.stored.count) }
        }
    }

    // MARK: Many-to-many

    private func meet(_ join: Join, in transaction: WriteTransaction) throws {
        guard let source = entities[join.source], let target = entities[join.target] else { return }
        let pairs = try transaction.count(of: join.table)
        if let least = join.minimumCount, least > 0 {
            let links = pairs + source.wanted * least
            raise(join.target, to: needed(least, links: links, capacity: join.inverseMaximumCount, of: target))
        }
        if let least = join.inverseMinimumCount, least > 0 {
            let links = pairs + target.wanted * least
            raise(join.source, to: needed(least, links: links, capacity: join.maximumCount, of: source))
        }
    }

    /// The number of new objects that are needed to reach a minimum, and to make room for the links.
    private func needed(_ least: Int, links: Int, capacity: Int?, of entity: SampleEntity) -> Int {
        let holders = capacity.map { (links + $0 - 1) / $0 } ?? 0
        return max(least, holders) - entity.stored.count
    }

    // MARK: The end

    /// Checks that every required link has a target.
    private func check() throws {
        for reference in schema.references where !reference.isOptional {
            guard let source = entities[reference.source], let target = entities[reference.target], source.wanted > 0,
                target.total == 0
            else { continue }
            throw refusal(
                "each \(source.table.name) needs \(target.table.name.withArticle), which needs more than there are")
        }
    }
}
