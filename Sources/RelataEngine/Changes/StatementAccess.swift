import RelataCore

/// What a statement reads and writes, triggers and foreign key actions included.
package struct StatementAccess {
    /// What it reads.
    package var reads = TableRegion()
    /// What it writes.
    package var writes = TableRegion()
    /// The tables that triggers write to, rather than the statement itself.
    package var triggered: Set<String> = []

    /// Nothing.
    package init() {}
}
