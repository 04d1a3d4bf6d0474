/// The effects of a deletion, or of a planned one, object by object.
///
/// A plan and the deletion itself have equal reports. The order of keys within it isn't defined: use ``sorted()`` if it
/// matters.
///
/// Delete rules also apply to objects that are hidden from the caller. The report counts those, without naming them.
public struct DeletionReport: Hashable, Sendable {
    /// The name of the entity of the requested objects.
    public var entity: String
    /// The deleted objects, both requested ones and those deleted by rules, in the order of deletion. Requested objects
    /// that don't exist are left out.
    public var deleted: [DeletedObjects]
    /// The references that become unset in objects that stay.
    public var nullified: [NullifiedLinks]
    /// The deleted rows of join tables, with a deleted object at one of their ends.
    public var removedJoinRows: [RemovedJoinRows]
    /// The objects that prevent the deletion. If there are any, nothing is deleted, and the rest of the report is about
    /// a deletion without them.
    public var blockers: [Blocker]
    /// The lists that would have fewer members than their minimum (`minimum:`), each as the failure that the deletion
    /// throws in ``RelataError/validation(_:)``. If there are any, nothing is deleted.
    public var shortages: [ValidationFailure]
    /// The relationships along which deletion spread: both ends lost objects.
    public var cascades: [CascadePath]
    /// The number of hidden blockers besides ``blockers``.
    public var hiddenBlockerCount = 0

    /// An empty report.
    package init(
        entity: String, deleted: [DeletedObjects] = [], nullified: [NullifiedLinks] = [],
        removedJoinRows: [RemovedJoinRows] = [], blockers: [Blocker] = [], shortages: [ValidationFailure] = [],
        cascades: [CascadePath] = []
    ) {
        self.entity = entity
        self.deleted = deleted
        self.nullified = nullified
        self.removedJoinRows = removedJoinRows
        self.blockers = blockers
        self.shortages = shortages
        self.cascades = cascades
    }

    /// Whether blockers or lists that would become too short refuse the deletion.
    public var isDenied: Bool { !blockers.isEmpty || !shortages.isEmpty || hiddenBlockerCount > 0 }
    /// The number of deleted objects of all entities, including hidden ones.
    public var deletedCount: Int { deleted.reduce(0) { $0 + $1.keys.count + $1.hiddenCount } }

    /// The keys of the objects of one entity that go.
    public func deletedKeys(of entity: String) -> KeyList {
        deleted.first { $0.entity == entity }?.keys ?? KeyList()
    }

    /// A copy with keys, pairs, blockers and shortages in ascending order, for comparisons and display.
    public func sorted() -> DeletionReport {
        var report = self
        for index in deleted.indices { report.deleted[index].keys = deleted[index].keys.sorted() }
        for index in nullified.indices { report.nullified[index].keys = nullified[index].keys.sorted() }
        for index in removedJoinRows.indices { report.removedJoinRows[index] = removedJoinRows[index].sorted() }
        report.blockers.sort {
            ($0.relationship, $0.object.entity) != ($1.relationship, $1.object.entity)
                ? ($0.relationship, $0.object.entity) < ($1.relationship, $1.object.entity)
                : $0.object.key != $1.object.key
                    ? $0.object.key.precedes($1.object.key) : $0.blocked.key.precedes($1.blocked.key)
        }
        report.shortages.sort { left, right in
            let names = [(left.entity, left.property ?? ""), (right.entity, right.property ?? "")]
            if names[0] != names[1] { return names[0] < names[1] }
            return (left.key ?? KeyValue([])).precedes(right.key ?? KeyValue([]))
        }
        return report
    }
}

/// The objects of one entity that a deletion removes.
public struct DeletedObjects: Hashable, Sendable {
    /// The entity's name.
    public var entity: String
    /// The objects' keys.
    public var keys: KeyList
    /// The number of hidden objects that are deleted too.
    public var hiddenCount = 0

    /// Names objects that go.
    package init(entity: String, keys: KeyList) {
        self.entity = entity
        self.keys = keys
    }
}

/// The references of one to-one that a deletion unsets.
public struct NullifiedLinks: Hashable, Sendable {
    /// The entity that holds the reference.
    public var entity: String
    /// The to-one.
    public var property: String
    /// The keys of the objects with an unset reference.
    public var keys: KeyList
    /// The number of hidden objects with an unset reference.
    public var hiddenCount = 0

    /// Names references that become unset.
    package init(entity: String, property: String, keys: KeyList) {
        self.entity = entity
        self.property = property
        self.keys = keys
    }
}

/// The rows of one join table that a deletion removes.
public struct RemovedJoinRows: Hashable, Sendable {
    /// The many-to-many, as `Entity.property` of the side that declares the join table: `Book.authors`.
    public var relationship: String
    /// The keys of the objects of that side, row by row.
    public var sources: KeyList
    /// The keys of the objects of the other side, row by row.
    public var targets: KeyList
    /// The number of deleted rows with a hidden object at one end or both.
    public var hiddenCount = 0

    /// Names join rows that go.
    package init(relationship: String, sources: KeyList, targets: KeyList) {
        self.relationship = relationship
        self.sources = sources
        self.targets = targets
    }

    /// The number of deleted rows, including those of hidden objects.
    public var count: Int { sources.count + hiddenCount }
    /// The rows, each as the pair of keys it held.
    public var pairs: [(source: KeyValue, target: KeyValue)] {
        zip(sources, targets).map { (source: $0, target: $1) }
    }

    func sorted() -> RemovedJoinRows {
        let pairs = pairs.sorted {
            $0.source != $1.source ? $0.source.precedes($1.source) : $0.target.precedes($1.target)
        }
        var rows = self
        (rows.sources, rows.targets) = (KeyList(pairs.map(\.source)), KeyList(pairs.map(\.target)))
        return rows
    }
}

/// A relationship along which deletion spreads from one entity to another.
public struct CascadePath: Hashable, Sendable {
    /// The entity whose deletion spreads.
    public var from: String
    /// The relationship with the cascade rule, as `Entity.property`.
    public var relationship: String
    /// The entity that it spreads to.
    public var to: String

    /// Names a path.
    package init(from: String, relationship: String, to: String) {
        self.from = from
        self.relationship = relationship
        self.to = to
    }
}

extension Schema {
    /// The many-to-many of deleted join rows.
    package func join(of rows: RemovedJoinRows) -> Join? {
        joins.first { "\(tables[$0.source].name).\($0.property)" == rows.relationship }
    }
}
