import Foundation
import RelataCore
import TestSupport

extension SeededGenerator {
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// A random schema with random rows, and the effects of a deletion on them: worked out object by object in memory, from
/// the rules alone.
struct DeleteOracle {
    let entities: [Entity]
    let schema: Schema
    /// By table and column.
    var rows: [String: [[String: Value]]] = [:]

    /// An object: its entity's number and its key.
    struct Object: Hashable {
        let entity: Int
        let key: KeyValue
    }

    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        entities = Self.entities(&random)
        schema = try Schema(entities)
        fill(&random)
    }

    // MARK: The schema

    private static func entities(_ random: inout SeededGenerator) -> [Entity] {
        let count = Int.random(in: 1...5, using: &random)
        var entities = (0..<count).map { index in
            var properties: [Property] = [.attribute(Attribute("id", type: random.chance(70) ? .integer : .text))]
            var key = ["id"]
            if random.chance(25) {
                properties.append(.attribute(Attribute("part", type: .text)))
                key.append("part")
            }
            properties.append(.attribute(Attribute("revision", type: .integer)))
            return Entity(
                name: "E\(index)", properties: properties, key: key, revision: random.chance(30) ? "revision" : nil)
        }
        for number in 0..<Int.random(in: 0...7, using: &random) {
            let source = Int.random(in: 0..<count, using: &random)
            let target = Int.random(in: 0..<count, using: &random)
            let isOptional = random.chance(70)
            var rules: [DeleteRule?] = [.cascade, .cascade, .deny, .noAction, nil]
            if isOptional { rules.append(.nullify) }
            let rule = rules.randomElement(using: &random) ?? nil
            let hasView = random.chance(50)
            entities[source].properties.append(
                .relationship(
                    Relationship(
                        "r\(number)", target: "E\(target)", kind: .toOne(isOptional: isOptional),
                        deleteRule: [nil, nil, nil, .cascade, .deny, .nullify].randomElement(using: &random) ?? nil,
                        onTargetDelete: hasView ? nil : rule)))
            guard hasView else { continue }
            entities[target].properties.append(
                .relationship(
                    Relationship(
                        "v\(number)", target: "E\(source)", kind: .toMany(inverse: "r\(number)"), deleteRule: rule,
                        minimumCount: minimum(&random))))
        }
        for number in 0..<Int.random(in: 0...2, using: &random) {
            let source = Int.random(in: 0..<count, using: &random)
            let target = Int.random(in: 0..<count, using: &random)
            let rules: [DeleteRule?] = [nil, nil, .nullify, .cascade, .deny]
            entities[source].properties.append(
                .relationship(
                    Relationship(
                        "m\(number)s", target: "E\(target)", kind: .manyToMany(),
                        deleteRule: rules.randomElement(using: &random) ?? nil, minimumCount: minimum(&random))))
            guard random.chance(50) else { continue }
            entities[target].properties.append(
                .relationship(
                    Relationship(
                        "w\(number)s", target: "E\(source)", kind: .manyToManyInverse(inverse: "m\(number)s"),
                        deleteRule: rules.randomElement(using: &random) ?? nil, minimumCount: minimum(&random))))
        }
        return entities
    }

    private static func minimum(_ random: inout SeededGenerator) -> Int? {
        random.chance(20) ? Int.random(in: 1...2, using: &random) : nil
    }

    // MARK: The rows

    private mutating func fill(_ random: inout SeededGenerator) {
        let keys = schema.tables.map { table in
            (1...Int.random(in: 1...8, using: &random)).map { number in
                table.keyColumns.map { column -> Value in
                    table.columns[column].type == .text ? .text("0\(number)") : .integer(Int64(number))
                }
            }
        }
        for table in schema.tables {
            for key in keys[table.index] {
                var row: [String: Value] = ["revision": 1]
                for (column, value) in zip(table.keyColumnNames, key) { row[column] = value }
                for reference in schema.references where reference.source == table.index {
                    var value = keys[reference.target].randomElement(using: &random)
                    if reference.isOptional && random.chance(40) { value = nil }
                    if !reference.isEnforced && random.chance(20) {
                        value = value.map { $0.map { if case .text = $0 { .text("gone") } else { .integer(99) } } }
                    }
                    for (index, column) in reference.columns.enumerated() { row[column] = value?[index] ?? .null }
                }
                rows[table.sqlName, default: []].append(row)
            }
        }
        for join in schema.joins {
            var pairs: Set<[String: Value]> = []
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                guard let source = keys[join.source].randomElement(using: &random),
                    let target = keys[join.target].randomElement(using: &random)
                else { continue }
                var row: [String: Value] = [:]
                for (column, value) in zip(join.sourceColumns + join.targetColumns, source + target) {
                    row[column] = value
                }
                pairs.insert(row)
            }
            rows[join.table] = pairs.sorted { "\($0.sorted { $0.key < $1.key })" < "\($1.sorted { $0.key < $1.key })" }
        }
    }

    // MARK: Deletions

    private func key(_ row: [String: Value], _ columns: [String]) -> KeyValue? {
        let values = columns.map { row[$0] ?? .null }
        return values.contains(.null) ? nil : KeyValue(values)
    }

    func objects(_ entity: Int) -> [Object] {
        let table = schema.tables[entity]
        return (rows[table.sqlName] ?? []).compactMap { row in
            key(row, table.keyColumnNames).map { Object(entity: entity, key: $0) }
        }
    }

    /// Every pair of linked objects with the rule for the second when the first is deleted.
    private func links() -> [(from: Object, to: Object, rule: DeleteRule, relationship: String)] {
        var links: [(from: Object, to: Object, rule: DeleteRule, relationship: String)] = []
        let stored = Set(schema.tables.flatMap { objects($0.index) })
        func add(_ from: Object, _ to: Object, _ rule: DeleteRule, _ declarer: Int, _ property: String) {
            guard stored.contains(from), stored.contains(to) else { return }
            links.append((from, to, rule, "\(schema.tables[declarer].name).\(property)"))
        }
        for reference in schema.references {
            let table = schema.tables[reference.source]
            for row in rows[table.sqlName] ?? [] {
                guard let own = key(row, table.keyColumnNames), let other = key(row, reference.columns) else {
                    continue
                }
                let (source, target) = (
                    Object(entity: table.index, key: own), Object(entity: reference.target, key: other)
                )
                add(
                    target, source, reference.onTargetDelete, reference.inverse == nil ? table.index : reference.target,
                    reference.inverse ?? reference.property)
                add(source, target, reference.onSourceDelete, table.index, reference.property)
            }
        }
        for join in schema.joins {
            for row in rows[join.table] ?? [] {
                guard let left = key(row, join.sourceColumns), let right = key(row, join.targetColumns) else {
                    continue
                }
                let (source, target) = (Object(entity: join.source, key: left), Object(entity: join.target, key: right))
                add(source, target, join.onSourceDelete, join.source, join.property)
                add(
                    target, source, join.onTargetDelete, join.inverse == nil ? join.source : join.target,
                    join.inverse ?? join.property)
            }
        }
        return links
    }

    /// The expected report, as sets.
    struct Outcome: Equatable {
        var deleted: Set<Object> = []
        var nullified: Set<String> = []
        var joinRows: Set<String> = []
        var blockers: Set<Blocker> = []
        var shortages: Set<ValidationFailure> = []
    }

    /// The outcome, and the remaining rows (all rows if blockers refuse the deletion).
    func delete(_ roots: [Object]) -> (outcome: Outcome, rows: [String: [[String: Value]]]) {
        let links = links()
        var outcome = Outcome(deleted: Set(roots).intersection(Set(roots.flatMap { objects($0.entity) })))
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for link in links where link.rule == .cascade && outcome.deleted.contains(link.from) {
                if outcome.deleted.insert(link.to).inserted { isGrowing = true }
            }
        }
        for link in links where link.rule == .deny {
            guard outcome.deleted.contains(link.from), !outcome.deleted.contains(link.to) else { continue }
            outcome.blockers.insert(
                Blocker(
                    object: reference(link.to), relationship: link.relationship, blocked: reference(link.from)))
        }
        outcome.shortages = shortages(outcome.deleted)
        var remaining = rows
        for table in schema.tables {
            remaining[table.sqlName] = (rows[table.sqlName] ?? []).compactMap { row in
                rest(of: row, in: table, &outcome)
            }
        }
        for join in schema.joins {
            remaining[join.table] = (rows[join.table] ?? []).filter { row in
                guard let left = key(row, join.sourceColumns), let right = key(row, join.targetColumns) else {
                    return true
                }
                let ends = [Object(entity: join.source, key: left), Object(entity: join.target, key: right)]
                guard ends.contains(where: outcome.deleted.contains) else { return true }
                outcome.joinRows.insert("\(schema.tables[join.source].name).\(join.property) \(left) \(right)")
                return false
            }
        }
        return (outcome, outcome.blockers.isEmpty && outcome.shortages.isEmpty ? remaining : rows)
    }

    /// The lists of objects that stay, which lose members and then have fewer than they must.
    private func shortages(_ deleted: Set<Object>) -> Set<ValidationFailure> {
        var failures: Set<ValidationFailure> = []
        func check(_ owners: Int, _ property: String?, _ minimum: Int?, _ pairs: [(owner: Object, member: Object)]) {
            guard let property, let minimum else { return }
            for owner in objects(owners) where !deleted.contains(owner) {
                let members = pairs.filter { $0.owner == owner }.map(\.member)
                let count = members.filter { !deleted.contains($0) }.count
                guard count < members.count, count < minimum else { continue }
                failures.insert(
                    ValidationFailure(
                        entity: schema.tables[owners].name, property: property, key: owner.key,
                        message: "must have at least \(minimum), and would have \(count)"))
            }
        }
        func pairs(_ table: String, _ owner: (Int, [String]), _ member: (Int, [String])) -> [(Object, Object)] {
            (rows[table] ?? []).compactMap { row in
                guard let near = key(row, owner.1), let far = key(row, member.1) else { return nil }
                return (Object(entity: owner.0, key: near), Object(entity: member.0, key: far))
            }
        }
        for reference in schema.references {
            let source = schema.tables[reference.source]
            check(
                reference.target, reference.inverse, reference.minimumCount,
                pairs(
                    source.sqlName, (reference.target, reference.columns), (reference.source, source.keyColumnNames)))
        }
        for join in schema.joins {
            let (source, target) = ((join.source, join.sourceColumns), (join.target, join.targetColumns))
            check(join.source, join.property, join.minimumCount, pairs(join.table, source, target))
            check(join.target, join.inverse, join.inverseMinimumCount, pairs(join.table, target, source))
        }
        return failures
    }

    private func rest(of row: [String: Value], in table: Table, _ outcome: inout Outcome) -> [String: Value]? {
        var row = row
        guard let own = key(row, table.keyColumnNames) else { return row }
        if outcome.deleted.contains(Object(entity: table.index, key: own)) { return nil }
        for reference in schema.references where reference.source == table.index && reference.onTargetDelete == .nullify
        {
            guard let target = key(row, reference.columns),
                outcome.deleted.contains(Object(entity: reference.target, key: target))
            else { continue }
            outcome.nullified.insert("\(table.name).\(reference.property) \(own)")
            for column in reference.columns { row[column] = .null }
            if table.entity.revision != nil, case .integer(let revision)? = row["revision"] {
                row["revision"] = .integer(revision + 1)
            }
        }
        return row
    }

    private func reference(_ object: Object) -> ObjectReference {
        ObjectReference(entity: schema.tables[object.entity].name, key: object.key)
    }

    /// A report in the same terms.
    func outcome(_ report: DeletionReport) -> Outcome {
        var outcome = Outcome(blockers: Set(report.blockers), shortages: Set(report.shortages))
        for objects in report.deleted {
            for key in objects.keys {
                outcome.deleted.insert(Object(entity: schema.index(of: objects.entity) ?? -1, key: key))
            }
        }
        for links in report.nullified {
            for key in links.keys { outcome.nullified.insert("\(links.entity).\(links.property) \(key)") }
        }
        for rows in report.removedJoinRows {
            for (source, target) in rows.pairs { outcome.joinRows.insert("\(rows.relationship) \(source) \(target)") }
        }
        return outcome
    }
}
