#if PostgreSQL
import RelataCore
import RelataEngine

/// Errors of constraints in the form that SQLite gives them, so that one translation names the model's properties.
enum ConstraintFailures {
    static func error(_ failure: PostgresFailure) -> RelataError {
        guard let constraint = failure.constraint, let diagnostics = failure.diagnostics else { return failure.error }
        let table = diagnostics.table ?? ""
        let columns = failure.keyColumns.map { "\(table).\($0)" }.joined(separator: ", ")
        switch constraint {
        case .unique, .exclusion:
            let isPrimary = diagnostics.constraint.map { $0 == "\(table)_pkey" || $0.hasSuffix("_pkey") } ?? false
            return .database(
                code: isPrimary ? ConstraintCode.primaryKey : ConstraintCode.unique,
                message: "UNIQUE constraint failed: \(columns)", sql: nil)
        case .notNull:
            return .database(
                code: ConstraintCode.notNull,
                message: "NOT NULL constraint failed: \(table).\(diagnostics.column ?? "")", sql: nil)
        case .foreignKey:
            // The table is always the referring one. The columns are its own if a row refers to a missing one.
            // Otherwise they are those of the row that is still referred to, which don't refer from that table.
            return .database(
                code: ConstraintCode.foreignKey,
                message: "\(diagnostics.message); FOREIGN KEY constraint failed: \(columns)", sql: nil)
        case .check:
            return .database(
                code: ConstraintCode.check, message: "CHECK constraint failed: \(diagnostics.constraint ?? "")",
                sql: nil)
        }
    }
}
#endif
