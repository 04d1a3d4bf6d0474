/// A table of a database, or one that a schema wants, in the form in which the two are compared.
package struct TableDescription: Hashable, Sendable {
    /// The table's name.
    package var name: String
    /// The columns in order, generated ones included.
    package var columns: NamedColumns
    /// The names of the primary key's columns, in the key's order; empty if none is declared.
    package var primaryKey: [String]
    /// The name of the primary key's constraint, if it was read from a database that names it.
    package var primaryKeyName: String?
    /// Whether the index behind the primary key compares as the columns themselves do.
    package var keyComparesAsColumns = true
    /// Whether the key is SQLite's rowid: a single column declared as `INTEGER PRIMARY KEY`.
    package var isKeyAssigned: Bool
    /// Whether a key that the database assigns is never assigned again, even after its row was deleted: the key is
    /// declared `AUTOINCREMENT`.
    package var neverReusesKeys: Bool
    /// The foreign keys.
    package var foreignKeys: [ForeignKeyDescription]
    /// The indexes, those behind `UNIQUE` constraints included, that behind the primary key not.
    package var indexes: [IndexDescription]
    /// Whether the table has rowids.
    package var hasRowID: Bool
    /// The text of the statement that created the table, if it was read from a database.
    package var sql: String?
    /// The texts of the table's triggers, if it was read from a database.
    package var triggers: [String]
    /// The source of its rows, if another program may have created it on a server.
    package var source: TableSource?
    /// The reasons why deletions can't be planned.
    package var obstacles = DeletionObstacles()

    /// Describes a table.
    package init(
        name: String, columns: [ColumnDescription], primaryKey: [String], isKeyAssigned: Bool = false,
        neverReusesKeys: Bool = false, foreignKeys: [ForeignKeyDescription] = [], indexes: [IndexDescription] = [],
        hasRowID: Bool = true,
        sql: String? = nil, triggers: [String] = []
    ) {
        self.name = name
        self.columns = NamedColumns(columns)
        self.primaryKey = primaryKey
        self.isKeyAssigned = isKeyAssigned
        self.neverReusesKeys = neverReusesKeys
        self.foreignKeys = foreignKeys
        self.indexes = indexes
        self.hasRowID = hasRowID
        self.sql = sql
        self.triggers = triggers
    }

    /// Its name without its schema.
    var plainName: String { source?.name ?? name }

    /// The column of that name, regardless of case.
    package func column(_ name: String) -> ColumnDescription? { columns[name] }

    /// The table without some columns, and without the keys and indexes that they are part of.
    package func without(_ names: Set<String>) -> TableDescription {
        var table = self
        table.columns.removeAll { names.contains($0.name) }
        table.foreignKeys.removeAll { !names.isDisjoint(with: $0.columns) }
        table.indexes.removeAll { !names.isDisjoint(with: $0.columns) }
        return table
    }

    /// Whether rows have a number besides their columns, under the name `rowid`.
    var hasUndeclaredRowID: Bool {
        let key = primaryKey.count == 1 ? column(primaryKey[0]) : nil
        return hasRowID && key?.type.uppercased() != "INTEGER" && column("rowid") == nil
    }

    /// The foreign key with exactly these columns, in any order.
    package func foreignKey(on columns: [String]) -> ForeignKeyDescription? {
        foreignKeys.first { $0.isOn(columns) }
    }

    /// Whether these columns are unique together, in any order.
    ///
    /// - Parameter comparesAsColumns: Whether only keys and indexes count that compare as the columns themselves do.
    package func isUnique(_ columns: [String], comparesAsColumns: Bool = false) -> Bool {
        let wanted = Set(columns.map { $0.foldedName })
        if !comparesAsColumns || keyComparesAsColumns, Set(primaryKey.map { $0.foldedName }) == wanted { return true }
        return indexes.contains { index in
            index.isUnique && index.isPlain && (!comparesAsColumns || index.comparesAsColumns)
                && Set(index.columns.map { $0.foldedName }) == wanted
        }
    }

    /// Whether a foreign key to this table can be followed: SQLite takes a unique index of exactly the columns that the
    /// key names, and only one that compares as the columns themselves do.
    package func canBeReferredTo(by key: ForeignKeyDescription) -> Bool {
        key.targetColumns.isEmpty || isUnique(key.targetColumns, comparesAsColumns: true)
    }

    /// Whether rows with given values in these columns are found without a scan.
    package func isIndexed(_ columns: [String]) -> Bool {
        let wanted = columns.map { $0.foldedName }
        return primaryKey.map { $0.foldedName }.starts(with: wanted)
            || indexes.contains { $0.isPlain && $0.columns.map { $0.foldedName }.starts(with: wanted) }
    }
}

/// The reasons why deletions that affect a table can't be planned: foreign keys don't say everything that happens to
/// its rows. Each is a part of a sentence that begins with the table.
package struct DeletionObstacles: Hashable, Sendable {
    /// The reason why it may have invisible rows.
    package var hidesRows: String?
    /// The reason why its rows can't be deleted.
    package var keepsRows: String?
    /// The reason why its rows can't be deleted by their keys.
    package var hasNoKeys: String?
    /// The reason why its references can't be unset.
    package var keepsReferences: String?

    /// A description without obstacles.
    package init() {}
}

/// A column of a table.
package struct ColumnDescription: Hashable, Sendable {
    /// The column's name.
    package var name: String
    /// The declared type, as it is written; may be empty.
    package var type: String
    /// Whether `NULL` is refused.
    package var isRequired: Bool
    /// The default as it is written in SQL, if there is one.
    package var defaultSQL: String?
    /// Whether its values are computed from other columns.
    package var isGenerated: Bool
    /// The name of the collation by which its texts are compared.
    package var collation: String
    /// The type in which its values are read, if it differs from the declared one.
    package var valueType: AttributeType?
    /// The declared type for display, if ``valueType`` doesn't determine it.
    package var shownType: String?

    /// Describes a column.
    package init(
        name: String, type: String, isRequired: Bool, defaultSQL: String? = nil, isGenerated: Bool = false,
        collation: String = "BINARY"
    ) {
        self.collation = collation
        self.name = name
        self.type = type
        self.isRequired = isRequired
        self.defaultSQL = defaultSQL
        self.isGenerated = isGenerated
    }

    /// Whether a row may be inserted without giving the column.
    package var canBeOmitted: Bool {
        isGenerated || !isRequired || (defaultSQL.map { $0.uppercased() != "NULL" } ?? false)
    }
}

/// A foreign key of a table.
package struct ForeignKeyDescription: Hashable, Sendable {
    /// The columns that hold it.
    package var columns: [String]
    /// The table it points at.
    package var target: String
    /// The columns it points at, in the same order; empty for the target's primary key if that isn't spelled out.
    package var targetColumns: [String]
    /// The database's action when the target's row is deleted.
    package var onDelete: Action
    /// The constraint's name, if it was read from a database that names it.
    package var name: String?
    /// Whether this description is complete.
    package var isWhole = true
    /// Those of its columns that become unset when the target is deleted; `nil` for all.
    package var unsetColumns: [String]?
    /// The key as the server compares it, for a table of a server.
    package var native: NativeKey?

    /// Describes a foreign key.
    package init(columns: [String], target: String, targetColumns: [String], onDelete: Action) {
        self.columns = columns
        self.target = target
        self.targetColumns = targetColumns
        self.onDelete = onDelete
    }

    /// Whether the key has exactly these columns, in any order.
    func isOn(_ columns: [String]) -> Bool {
        Set(self.columns.map { $0.foldedName }) == Set(columns.map { $0.foldedName })
    }

    /// A database's own action when the target's row is deleted.
    package enum Action: String, Hashable, Sendable {
        case none = "NO ACTION"
        case restrict = "RESTRICT"
        case cascade = "CASCADE"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"

        /// The action that other tools obey a rule by.
        init(_ rule: DeleteRule) {
            self =
                switch rule {
                case .cascade: .cascade
                case .nullify: .setNull
                case .deny, .noAction: .none
                }
        }

        /// Whether the database refuses the deletion.
        var isDenial: Bool { self == .none || self == .restrict }
    }
}

/// An index of a table.
package struct IndexDescription: Hashable, Sendable {
    /// The index's name; empty for the index of a constraint.
    package var name: String
    /// The columns in order; empty for an index that isn't plain.
    package var columns: [String]
    /// Whether it refuses equal values.
    package var isUnique: Bool
    /// Whether it is over whole columns of all rows, not over expressions or some rows.
    package var isPlain: Bool
    /// Whether it compares as the columns themselves do, not by another collation.
    package var comparesAsColumns = true
    /// Whether the largest value comes first, and `NULL` last, in an index of one column. It serves both directions of
    /// that column.
    package var isDescending: Bool
    /// The columns whose unset values come first, on an engine that puts them last by default.
    package var nullsFirst: [String] = []
    /// The text that created the index, if it was read from a database and doesn't belong to a constraint.
    package var sql: String?

    /// Describes an index.
    package init(
        name: String, columns: [String], isUnique: Bool, isPlain: Bool = true, isDescending: Bool = false,
        sql: String? = nil
    ) {
        self.name = name
        self.columns = columns
        self.isUnique = isUnique
        self.isPlain = isPlain
        self.isDescending = isDescending
        self.sql = sql
    }

    /// Whether its columns, uniqueness and direction are a complete description.
    var isWhole: Bool {
        isPlain
            && SQLWords.words(in: sql ?? "").isDisjoint(with: columns.count == 1 ? ["COLLATE"] : ["COLLATE", "DESC"])
    }
}
