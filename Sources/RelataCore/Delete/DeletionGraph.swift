/// Everything that a deletion of objects of one entity can reach by the schema: which entities lose objects, in which
/// order, and which relationships are checked, unset or removed. Pure; the same for every engine.
package struct DeletionGraph: Sendable {
    /// The schema.
    package let schema: Schema
    /// The entity of the objects that are to be deleted, as a number in ``Schema/tables``.
    package let root: Int
    /// The entities that can lose objects, in groups: a group's doomed objects follow from its own and from those of
    /// earlier groups. A group of several entities is a cycle of cascades.
    package let groups: [[Int]]
    /// These entities in the order of deletion: referring rows before the rows they refer to, except on a cycle.
    package let order: [Int]
    /// The cascades among these entities.
    package let cascades: [DeletionEdge]
    /// The relationships that can refuse the deletion.
    package let denials: [DeletionEdge]
    /// The lists that can lose members and must keep some.
    package let counted: [CountedList]
    /// The foreign keys, as numbers in ``Schema/foreignKeys``, that become unset if the target is deleted and the
    /// source stays.
    package let nullified: [Int]
    /// The join tables, as numbers in ``Schema/joins``, that lose rows.
    package let joins: [Int]
    /// The enforced foreign keys, as numbers in ``Schema/foreignKeys``, on a cycle of those that deny or cascade,
    /// including those from an entity to itself: no order of deletion satisfies them row by row.
    package let knots: [Int]
    /// The ones that stay on a cycle after the references of the doomed rows are unset: see ``Schema/isLoose(_:)``.
    package let circles: [Int]
    /// The entities whose doomed keys must be known before the first deletion. For the others a query finds them: their
    /// rows refer by one reference to doomed rows that are deleted later.
    package let listed: Set<Int>
    /// The entities whose doomed rows a cascade of the database deletes with those that they refer to, and its foreign
    /// key, as a number in ``Schema/foreignKeys``: by no other do they refer to doomed rows.
    package let takenAlong: [Int: Int]
    /// Rows whose deletion can't be planned, if there are any: see ``DeletionConflict``.
    package let conflicts: [DeletionConflict]

    private let members: Set<Int>

    /// Whether an entity can lose objects.
    package func contains(_ entity: Int) -> Bool { members.contains(entity) }

    /// The cascades that end at an entity.
    package func cascades(to entity: Int) -> [DeletionEdge] { cascades.filter { $0.to == entity } }

    /// Computes the reach of a deletion from an entity.
    package init(schema: Schema, root: Int) {
        self.schema = schema
        self.root = root
        var found = [root]
        var edges: [DeletionEdge] = []
        var members: Set<Int> = [root]
        var next = 0
        while next < found.count {
            let leaving = schema.deletionEdges(from: found[next])
            next += 1
            edges += leaving
            for edge in leaving where edge.rule == .cascade && members.insert(edge.to).inserted {
                found.append(edge.to)
            }
        }
        self.members = members
        let cascades = edges.filter { $0.rule == .cascade }
        self.cascades = cascades
        denials = edges.filter { $0.rule == .deny }
        counted = schema.countedLists.filter { members.contains($0.member) }
        nullified = edges.compactMap { edge in
            if edge.rule == .nullify, case .referring(let key) = edge.path { key } else { nil }
        }
        conflicts = schema.deletionConflicts(among: members, unsetting: nullified)
        joins = schema.joins.filter { members.contains($0.source) || members.contains($0.target) }.map(\.index)

        groups = strongComponents(of: found) { node in cascades.filter { $0.from == node }.map(\.to) }.reversed()

        // Referring rows are deleted first. If that is impossible, a reference that nullifies may be broken: the
        // database unsets it in a row that is deleted as well.
        let inner = schema.foreignKeys.filter {
            $0.isEnforced && members.contains($0.source) && members.contains($0.target)
        }
        let hard = inner.filter { $0.rule != .nullify }
        // The rest of an untied cycle still has an order: SQLite may try to unset a required reference in a row that is
        // deleted later.
        let firm = hard.filter { !schema.isLoose($0) }
        var order: [Int] = []
        var knots: Set<Int> = []
        var circles: Set<Int> = []
        var listed = Set(groups.filter { $0.count > 1 }.joined())
        for group in Self.sourcesFirst(found, inner) {
            for knot in Self.sourcesFirst(group, hard) {
                for circle in Self.sourcesFirst(knot, firm) {
                    order += circle
                    circles.formUnion(
                        firm.filter { circle.contains($0.source) && circle.contains($0.target) }.map(\.index))
                }
                knots.formUnion(hard.filter { knot.contains($0.source) && knot.contains($0.target) }.map(\.index))
                if knot.count > 1 { listed.formUnion(knot) }
            }
        }
        self.order = order
        self.knots = knots.sorted()
        self.circles = circles.sorted()
        // Untying a cycle unsets columns that another foreign key may still need to find the rows. Only keys without a
        // relationship can share a column with others.
        if schema.foreignKeys.count > schema.references.count {
            for knot in self.knots.map({ schema.foreignKeys[$0] })
            where schema.foreignKeys.contains(where: {
                $0.source == knot.source && $0.index != knot.index && $0.isShared(with: knot)
            }) {
                listed.insert(knot.source)
            }
        }
        // Queries within queries, up to a depth that every engine reads.
        var depths: [Int: Int] = [:]
        for entity in groups.joined() {
            let arriving = cascades.filter { $0.to == entity }
            let isReferring = arriving.allSatisfy(\.isReferring)
            if arriving.count + (entity == root ? 1 : 0) > 1 || !isReferring { listed.insert(entity) }
            let depth = arriving.map { (depths[$0.from] ?? 0) + Self.depth(of: $0, in: schema) }.max() ?? 0
            if depth > Self.maximumDepth { listed.insert(entity) }
            depths[entity] = listed.contains(entity) ? 0 : depth
        }
        self.listed = listed
        var takenAlong: [Int: Int] = [:]
        for key in inner where key.rule == .cascade && key.source != root && !listed.contains(key.source) {
            let isOnlyOne = inner.filter { $0.source == key.source }.count == 1
            if isOnlyOne { takenAlong[key.source] = key.index }
        }
        self.takenAlong = takenAlong
    }

    /// The depth of nested queries that find the rows that refer by an edge.
    private static func depth(of edge: DeletionEdge, in schema: Schema) -> Int {
        guard case .referring(let number) = edge.path else { return 1 }
        let key = schema.foreignKeys[number]
        // If the two sides are compared by different rules, a separate query finds the referenced row.
        return key.comparison == .equal && key.targetColumns == schema.tables[key.target].keyColumnNames ? 1 : 3
    }

    /// The maximum nesting of queries.
    private static let maximumDepth = 8

    private static func sourcesFirst(_ entities: [Int], _ keys: [SchemaForeignKey]) -> [[Int]] {
        strongComponents(of: entities) { node in keys.filter { $0.source == node }.map(\.target) }.reversed()
    }
}
