/// A link between the objects of one entity and those of another, or of the same.
public struct Relationship: Hashable, Sendable, Codable {
    /// The property's name in Swift.
    package var name: String
    /// The name of the entity on the other side.
    package var target: String
    /// The place in which the link is stored.
    package var kind: Kind
    /// The effect on the other side when the object that declares this is deleted; `nil` if it isn't declared.
    package var deleteRule: DeleteRule?
    /// On a to-one without a declared inverse: the effect on *this* object when the target is deleted.
    package var onTargetDelete: DeleteRule?
    /// On the inverse of a to-one: the effect on an object that is removed from it; `nil` if it isn't declared.
    package var removeRule: RemoveRule?
    /// The order of a to-many.
    package var order: Order?
    /// The least number of objects a to-many must hold.
    package var minimumCount: Int?
    /// The largest number of objects a to-many may hold.
    package var maximumCount: Int?
    /// The property's names in older versions of the model, if it was renamed.
    package var originalName: OriginalNames?
    /// The comparison of the columns of a to-one, or of a join table, with the target's key. Read from a database; a
    /// model's own columns always equal their target's.
    package var comparison = KeyComparison.equal
    /// The comparison of a join table's columns with the key of the entity that declares the many-to-many.
    package var sourceComparison = KeyComparison.equal
    /// The database's action on the columns of a to-one on deletion of the target, if it isn't a delete rule: such a
    /// deletion is refused. Read from a database.
    package var unsupportedAction: UnsupportedAction?
    /// The columns of an optional to-one that can't be unset. Another program may declare that for some of several
    /// columns. Read from a database; all columns of a model's optional to-ones can be unset.
    package var requiredColumns: [String] = []
    /// The source of a join table's rows, if another program made the table on a server.
    package var joinSource: TableSource?

    private enum CodingKeys: String, CodingKey {
        case name, target, kind, deleteRule, onTargetDelete, removeRule, order, minimumCount, maximumCount, originalName
    }

    /// Describes a relationship. See the properties for the arguments.
    package init(
        _ name: String, target: String, kind: Kind, deleteRule: DeleteRule? = nil, onTargetDelete: DeleteRule? = nil,
        removeRule: RemoveRule? = nil, order: Order? = nil, minimumCount: Int? = nil, maximumCount: Int? = nil,
        originalName: OriginalNames? = nil
    ) {
        self.name = name
        self.target = target
        self.kind = kind
        self.deleteRule = deleteRule
        self.onTargetDelete = onTargetDelete
        self.removeRule = removeRule
        self.order = order
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.originalName = originalName
    }

    /// The place in which a link is stored. A relationship is stored once: as a key, or in a join table; its other side
    /// is an inverse.
    package enum Kind: Hashable, Sendable, Codable {
        /// The foreign key is here. `columns` are the key's column names, empty for the default: the property's name
        /// with `Id` for a key of one column, with the capitalised name of the key's property for several.
        case toOne(isOptional: Bool, columns: [String] = [])
        /// The view of a to-one of the target that is unique (the other side of a one-to-one).
        case hasOne(inverse: String)
        /// The view of a to-one of the target (one-to-many).
        case toMany(inverse: String)
        /// Many-to-many, kept in a join table. `nil` names are the defaults.
        case manyToMany(JoinTableNames = JoinTableNames())
        /// The other side of a many-to-many that the target declares.
        case manyToManyInverse(inverse: String)
        /// Read-only: the targets of a to-one of the objects of a to-many of this entity, one for each of them.
        case through(toMany: String, toOne: String)
        /// Read-only: along a foreign key of another program that doesn't hold its target's primary key. It is never
        /// stored, nor part of the classes of a store: it is read from the database's current keys.
        case matched(MatchedColumns)
    }

    /// The order of a to-many: by (position, key).
    package enum Order: Hashable, Sendable, Codable {
        /// By an integer attribute that the target (of a one-to-many) declares; the property's name.
        case attribute(String)
        /// By a position column that the store manages: in the join table of a many-to-many, beside the key of a
        /// one-to-many.
        case stored

        /// The distance between written positions, so that placing an object seldom moves another.
        package static let gap: Int64 = 1024
    }

    /// Whether the link is the view of a to-one that the target declares.
    var isView: Bool {
        switch kind {
        case .hasOne, .toMany: true
        case .toOne, .manyToMany, .manyToManyInverse, .through, .matched: false
        }
    }

    /// Whether the link may hold several objects.
    package var isToMany: Bool {
        switch kind {
        case .toOne, .hasOne: false
        case .toMany, .manyToMany, .manyToManyInverse, .through: true
        case .matched(let columns): columns.isToMany
        }
    }
}

/// The names of a join table, each `nil` for its default.
public struct JoinTableNames: Hashable, Sendable, Codable {
    /// The table; by default the entity's table, `_` and the property: `Book_authors`.
    package var table: String?
    /// The columns of the declaring side's key; by default the entity's name and `Id`: `bookId`.
    package var sourceColumns: [String]
    /// The columns of the target's key; by default the target's name and `Id`, or the property's for a link to the
    /// same entity.
    package var targetColumns: [String]

    /// Names a join table.
    package init(table: String? = nil, sourceColumns: [String] = [], targetColumns: [String] = []) {
        self.table = table
        self.sourceColumns = sourceColumns
        self.targetColumns = targetColumns
    }
}

/// The effect on the other side of a relationship when an object is deleted. The names are those of SwiftData and Core
/// Data.
public enum DeleteRule: String, Hashable, Sendable, Codable, CaseIterable {
    /// The other side's reference becomes unset; the other object stays. The default.
    case nullify
    /// The other side is deleted too.
    case cascade
    /// The deletion is refused while the other side has a live object.
    case deny
    /// The other side keeps its reference, which then dangles. Such a reference has no foreign key.
    case noAction
}

/// The effect on an object that an edit removes from the inverse of a to-one.
public enum RemoveRule: String, Hashable, Sendable, Codable, CaseIterable {
    /// Its reference becomes unset and the object stays; for a required reference, that is an error. The default.
    case nullify
    /// The object is deleted, with the effects of its own delete rules: other libraries call that removing orphans.
    case delete
}
