/// How a backup is made.
package struct BackupPlan: Sendable {
    /// What becomes of a file that is there.
    package enum Replacement: Sendable {
        /// It is left as it is, and nothing is made.
        case never
        /// It is replaced if it is a database that nobody uses: nobody's letter goes because of a slip.
        case database
        /// It is replaced, damaged or not: that is what a backup is for.
        case anyFile
    }

    /// The file to be made.
    package let path: String
    /// What becomes of a file that is there.
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
