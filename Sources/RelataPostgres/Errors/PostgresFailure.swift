#if PostgreSQL
import RelataCPQ
import RelataCore

/// A failure that the server or libpq reported, and its meaning for a program.
package struct PostgresFailure: Error, Sendable {
    /// The error for programs. The names of tables and columns are the database's.
    package var error: RelataError
    /// The server's report, if the failure comes from the server.
    package let diagnostics: Diagnostics?
    /// The position of the failed statement in a pipeline, from 0 on.
    package var statement: Int?
    /// Whether a result has other columns than its statement was described with.
    private var hasOtherColumns = false

    /// The fields of a server's error.
    package struct Diagnostics: Hashable, Sendable {
        /// Five characters with the kind of the error.
        package let sqlState: String
        /// The error in a line.
        package let message: String
        /// Details, such as the values of a key.
        package let detail: String?
        /// A suggestion for a solution.
        package let hint: String?
        /// The location, such as the line of a `COPY`.
        package let context: String?
        /// The schema of the table.
        package let schema: String?
        /// The table that the error is about.
        package let table: String?
        /// The column that the error is about.
        package let column: String?
        /// The constraint or unique index that the error is about.
        package let constraint: String?
        /// The type that the error is about.
        package let type: String?
        /// The function of the server that found the error; its name doesn't depend on the language.
        package let routine: String?

        /// Whether a prepared statement has other columns since a table was altered.
        package var isStalePlan: Bool { sqlState == "0A000" && routine == "RevalidateCachedQuery" }
    }

    /// Kinds of constraints.
    package enum Constraint: Sendable {
        /// `UNIQUE` or a primary key, 23505.
        case unique
        /// A foreign key: 23503, or 23001 if its rule is `RESTRICT`.
        case foreignKey
        /// `NOT NULL`, 23502.
        case notNull
        /// `CHECK`, 23514.
        case check
        /// `EXCLUDE`, 23P01.
        case exclusion
    }

    /// A failure that isn't the server's.
    package init(_ error: RelataError) {
        self.error = error
        diagnostics = nil
    }

    /// The failure for rows whose types differ from those of their statement, because a table was altered since.
    static var otherColumns: PostgresFailure {
        var failure = PostgresFailure(
            .busy("another process has altered the tables: run the transaction again"))
        failure.hasOtherColumns = true
        return failure
    }

    init(_ error: RelataError, _ diagnostics: Diagnostics) {
        self.error = error
        self.diagnostics = diagnostics
    }

    /// Five characters with the kind of the error.
    package var sqlState: String? { diagnostics?.sqlState }

    /// The kind of constraint that refused a row.
    package var constraint: Constraint? {
        switch sqlState {
        case "23505": .unique
        case "23503", "23001": .foreignKey
        case "23502": .notNull
        case "23514": .check
        case "23P01": .exclusion
        default: nil
        }
    }

    /// Whether a retry of the whole transaction may succeed: other transactions interfered.
    package var isRetryable: Bool { sqlState == "40001" || sqlState == "40P01" }

    /// Whether the statement must be prepared again: a table was altered since, or the session has lost it.
    package var isStale: Bool { hasOtherColumns || diagnostics?.isStalePlan == true || sqlState == "26000" }

    /// Whether the text to be prepared contains several statements.
    var isOfSeveralStatements: Bool { sqlState == "42601" && diagnostics?.routine == "exec_parse_message" }

    /// The columns of the key in a detail: `Key (album, "track no")=(1, 2) already exists.` The words around the key
    /// are in the server's language.
    package var keyColumns: [String] {
        guard let detail = diagnostics?.detail, let start = detail.firstIndex(of: "("),
            let end = detail.range(of: ")=(")?.lowerBound, start < end
        else { return [] }
        return Self.names(detail[detail.index(after: start)..<end])
    }

    /// Names that are separated by commas. One in quotes may hold any character, quotes doubled.
    private static func names(_ text: Substring) -> [String] {
        var names: [String] = []
        var name = ""
        var isQuoted = false
        var previous: Character?
        for character in text {
            if character == "\"" {
                isQuoted.toggle()
                if isQuoted, previous == "\"" { name.append(character) }
            } else if character == ",", !isQuoted {
                names.append(name)
                name = ""
            } else if character != " " || isQuoted {
                name.append(character)
            }
            previous = character
        }
        return names + [name]
    }
}

extension PostgresFailure.Diagnostics {
    /// The fields of a result that is an error or a notice; `nil` if libpq itself made the error.
    init?(_ result: OpaquePointer) {
        // Swift doesn't see the macros that name these letters, PG_DIAG_SQLSTATE and so on.
        func field(_ letter: Unicode.Scalar) -> String? {
            PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
        }
        guard let sqlState = field("C") else { return nil }
        self.sqlState = sqlState
        message = field("M") ?? ""
        detail = field("D")
        hint = field("H")
        context = field("W")
        schema = field("s")
        table = field("t")
        column = field("c")
        constraint = field("n")
        type = field("d")
        routine = field("R")
    }
}
#endif
