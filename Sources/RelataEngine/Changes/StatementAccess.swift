import RelataCore

/// What a statement reads and writes, triggers and foreign key actions included.
package struct StatementAccess {
    /// What it reads.
    package var reads = TableRegion()
    /// What it writes.
    package var writes = TableRegion()
    /// What the actions of foreign keys write besides, where that isn't among ``writes``. The store's own deletions do it by
    /// themselves, and name it.
    package var actions = TableRegion()
    /// The tables that triggers write to, rather than the statement itself.
    package var triggered: Set<String> = []

    /// Nothing.
    package init() {}
}
