import RelataCore

/// The tables of a database that are looked at.
package enum TableScope: Hashable, Sendable {
    /// The tables in the search path, where a store's own tables are.
    case own
    /// All tables of any program, also in other schemas; those of the server's own schemas if they are named.
    ///
    /// If `callsFunctions` is set, generated SQL may call functions in a database that wasn't prepared for it: they
    /// belong to the session, and the database stays unchanged.
    case everywhere(including: [String], callsFunctions: Bool = false)
}

/// The contents of a server's database, of any program.
package struct ForeignTables {
    /// Tables and views. Partitions are a part of their partitioned table.
    package var tables: [TableDescription]
    /// Objects that can't be read, or only in part.
    package var notes: [SchemaProblem]
    /// Objects with the name of a table that aren't read, and their kinds.
    package var leftOut: [String: String]
    /// Foreign keys that no description holds: see ``ForeignTables/Stray``.
    package var strays: [Stray]

    /// A foreign key that no relationship represents, and that deletions must respect: of a single partition, of a
    /// table that can't be read, or of a schema that isn't looked at.
    package struct Stray {
        /// The table that holds it, and the columns.
        package let table: String
        package let columns: [String]
        /// The table that it refers to.
        package let target: String
        /// The table that the rows belong to which hold it.
        package let owner: String
        /// The key as the server compares it; `nil` if the table can't be read.
        package let native: NativeKey?
        /// The reason why a plan can't follow it; `nil` if only its existence is known.
        package let reason: String?

        /// Describes a foreign key. See the properties for the arguments.
        package init(
            table: String, columns: [String], target: String, owner: String, native: NativeKey?, reason: String?
        ) {
            self.table = table
            self.columns = columns
            self.target = target
            self.owner = owner
            self.native = native
            self.reason = reason
        }
    }

    /// Describes the contents. See the properties for the arguments.
    package init(
        tables: [TableDescription], notes: [SchemaProblem], leftOut: [String: String], strays: [Stray]
    ) {
        self.tables = tables
        self.notes = notes
        self.leftOut = leftOut
        self.strays = strays
    }
}

/// The number of rows of a table a transaction has changed.
package struct RowChanges: Hashable, Sendable {
    /// The number of inserted rows.
    package var inserted: Int
    /// The number of updated rows.
    package var updated: Int
    /// The number of deleted rows.
    package var deleted: Int

    /// The given numbers of each kind.
    package init(inserted: Int = 0, updated: Int = 0, deleted: Int = 0) {
        (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
    }

    /// The changes since an earlier moment.
    func since(_ earlier: RowChanges?) -> RowChanges {
        RowChanges(
            inserted: inserted - (earlier?.inserted ?? 0), updated: updated - (earlier?.updated ?? 0),
            deleted: deleted - (earlier?.deleted ?? 0))
    }
}

extension Connection {
    /// The contents of the database, if all of it is read and the engine reports more than a store's own tables.
    func foreignTables() throws(RelataError) -> ForeignTables? {
        guard case .everywhere(let schemas, _) = tableScope else { return nil }
        return try driver.foreignTables(including: schemas, self)
    }
}
