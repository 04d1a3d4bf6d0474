import RelataCore

/// Which tables of a database are looked at.
package enum TableScope: Hashable, Sendable {
    /// Those that names without a schema lead to, where a store's own tables are.
    case own
    /// Every one, whoever made it, also in other schemas; those of the server's own schemas where they are named.
    ///
    /// Generated SQL finds its functions in a database that nobody prepared for it where `callsFunctions` says so: they
    /// are the session's own, and the database stays as it is.
    case everywhere(including: [String], callsFunctions: Bool = false)
}

/// What a server's database holds, whoever made it.
package struct ForeignTables {
    /// Tables and views. Those of partitions are one, that which has them.
    package var tables: [TableDescription]
    /// What can't be read, or only in part.
    package var notes: [SchemaProblem]
    /// What isn't read and yet has the name of a table, and what it is.
    package var leftOut: [String: String]
    /// Foreign keys that no description holds: see ``ForeignTables/Stray``.
    package var strays: [Stray]

    /// A foreign key that no relationship can stand for, and deletions must look out for: one of a single partition, or of
    /// a table that can't be read.
    package struct Stray {
        /// The table that holds it, and the columns.
        package let table: String
        package let columns: [String]
        /// The table that it refers to.
        package let target: String
        /// The table that the rows belong to which hold it.
        package let owner: String
        /// The key as the server compares it; `nil` where the table can't be read.
        package let native: NativeKey?
        /// Why it is none that a plan can follow.
        package let reason: String

        /// Describes a foreign key. See the properties for what each argument means.
        package init(
            table: String, columns: [String], target: String, owner: String, native: NativeKey?, reason: String
        ) {
            self.table = table
            self.columns = columns
            self.target = target
            self.owner = owner
            self.native = native
            self.reason = reason
        }
    }

    /// Describes what there is. See the properties for what each argument means.
    package init(
        tables: [TableDescription], notes: [SchemaProblem], leftOut: [String: String], strays: [Stray]
    ) {
        self.tables = tables
        self.notes = notes
        self.leftOut = leftOut
        self.strays = strays
    }
}

/// How many rows of a table a transaction has changed.
package struct RowChanges: Hashable, Sendable {
    /// How many were added.
    package var inserted: Int
    /// How many were changed.
    package var updated: Int
    /// How many went.
    package var deleted: Int

    /// So many of each kind.
    package init(inserted: Int = 0, updated: Int = 0, deleted: Int = 0) {
        (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
    }

    /// What came after an earlier moment.
    func since(_ earlier: RowChanges?) -> RowChanges {
        RowChanges(
            inserted: inserted - (earlier?.inserted ?? 0), updated: updated - (earlier?.updated ?? 0),
            deleted: deleted - (earlier?.deleted ?? 0))
    }
}

extension Connection {
    /// What the database holds, if all of it is looked at and the engine tells more of it than of a store's own tables.
    func foreignTables() throws(RelataError) -> ForeignTables? {
        guard case .everywhere(let schemas, _) = tableScope else { return nil }
        return try driver.foreignTables(including: schemas, self)
    }
}
