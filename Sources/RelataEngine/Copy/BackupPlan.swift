/// The options of a backup.
package struct BackupPlan: Sendable {
    /// The treatment of an existing file.
    package enum Replacement: Sendable {
        /// It is left unchanged, and no copy is made.
        case never
        /// It is replaced if it is an unused database, so that a mistyped path replaces no other file.
        case database
        /// It is replaced, damaged or not: that is the purpose of a restore.
        case anyFile
    }

    /// The file to be made.
    package let path: String
    /// The treatment of an existing file.
    package let replacement: Replacement
    /// Whether the copy is checked before it gets its name.
    package let verifies: Bool

    /// A plan.
    package init(to path: String, _ replacement: Replacement, verifies: Bool) {
        self.path = path
        self.replacement = replacement
        self.verifies = verifies
    }

    /// The plan of a store, which replaces databases only.
    package init(to path: String, replaces: Bool, verifies: Bool) {
        self.init(to: path, replaces ? .database : .never, verifies: verifies)
    }
}
