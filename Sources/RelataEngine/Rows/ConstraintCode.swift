import RelataCore

/// The codes of a ``RelataError/database(code:message:sql:)`` for constraints: SQLite's extended result codes. Other
/// engines use the same codes and messages, so that programs can handle them in one way.
package enum ConstraintCode {
    /// A row with that key exists.
    package static let primaryKey = 1555
    /// A row of that number exists.
    package static let rowID = 2579
    /// Another row has these values.
    package static let unique = 2067
    /// A required column is unset.
    package static let notNull = 1299
    /// A reference dangles, or a row is still referred to.
    package static let foreignKey = 787
    /// A condition of the table doesn't hold.
    package static let check = 275
    /// A trigger refused.
    package static let trigger = 1811

    /// Whether a code is one of a constraint.
    package static func isAny(_ code: Int) -> Bool { code & 0xff == 19 }
}

extension RelataError {
    /// Whether the database stopped because the task was cancelled.
    package var isInterruption: Bool { if case .database(let code, _, _) = self { code & 0xff == 9 } else { false } }

    /// The message of a constraint or a trigger of the table, if a rule outside of the properties refused a row: no
    /// retry succeeds.
    package var refusalOfTable: String? {
        guard case .database(let code, let message, _) = self else { return nil }
        return ConstraintCode.isAny(code) ? message : nil
    }

    /// Whether a calculation of a query came to a number that is too large.
    package var isOverflow: Bool {
        if case .database(_, "integer overflow", _) = self { true } else { false }
    }
}
