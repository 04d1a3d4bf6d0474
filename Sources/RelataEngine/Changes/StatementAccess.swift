import RelataCore

/// The reads and writes of a statement, including triggers and foreign key actions.
package struct StatementAccess {
    /// The tables and columns that it reads.
    package var reads = TableRegion()
    /// The tables and columns that it writes.
    package var writes = TableRegion()
    /// Additional writes by the actions of foreign keys, if they aren't in ``writes``. The store's own deletions do
    /// these themselves, and name them.
    package var actions = TableRegion()
    /// The tables that triggers write to, rather than the statement itself.
    package var triggered: Set<String> = []

    /// Nothing.
    package init() {}
}
