import RelataCore

/// A safe repair of a finding: it removes dangling data, or restores a missing order, and changes nothing else.
public struct IntegrityRepair: Hashable, Sendable, CustomStringConvertible {
    /// A statement of it.
    package struct Step: Hashable, Sendable {
        /// The statement; its parameter is the time of the change, if it has one.
        package let sql: String
        /// The encoding of the time of the change.
        package let stamp: DateEncoding?

        /// A statement.
        package init(_ sql: String, stamp: DateEncoding? = nil) {
            self.sql = sql
            self.stamp = stamp
        }
    }

    /// The action, such as `unset them`.
    public let summary: String
    /// The statements that do it, in order.
    package let steps: [Step]

    /// The repair of a finding.
    ///
    /// - Parameters:
    ///   - summary: The repair, in words.
    ///   - steps: The statements, in order. They look for the contradictions again, because others may have repaired
    ///     them.
    package init(_ summary: String, _ steps: [Step]) {
        self.summary = summary
        self.steps = steps
    }

    /// The statements that do it, in order. `?1`, or `$1` on PostgreSQL, is the time of the change.
    public var sql: [String] { steps.map(\.sql) }

    /// `unset them: UPDATE …`
    public var description: String { "\(summary): \(sql.joined(separator: "; "))" }
}

/// The results of repairs.
public struct IntegrityRepairReport: Hashable, Sendable {
    /// A finding that wasn't repaired.
    public struct Refusal: Hashable, Sendable, CustomStringConvertible {
        /// The finding.
        public let finding: IntegrityFinding
        /// The reason: an error of the database, or a finding that would have become worse.
        public let reason: String

        /// `Book.genre: …`
        public var description: String { "\(finding.subject): \(reason)" }
    }

    /// The findings that were repaired.
    public internal(set) var repaired: [IntegrityFinding] = []
    /// Findings that have a repair, and weren't repaired.
    public internal(set) var refused: [Refusal] = []
    /// The findings of a check after the repair.
    public internal(set) var remaining: [IntegrityFinding] = []
}
