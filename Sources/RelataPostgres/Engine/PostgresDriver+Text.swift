#if PostgreSQL
import Foundation

/// The facts that the text of a statement shows.
extension PostgresDriver {
    /// Whether a statement begins or ends a transaction or a part of it.
    static func controlsTransaction(_ sql: String) -> Bool {
        [
            "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE",
        ].contains(firstWord(of: sql))
    }

    /// The first word of a statement, in upper case, after blanks and comments.
    static func firstWord(of sql: String) -> String {
        var rest = sql[...]
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == ";" || $0 == "(" }
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*"), let end = rest.range(of: "*/") {
                rest = rest[end.upperBound...]
            } else {
                return rest.prefix { $0.isLetter }.uppercased()
            }
        }
    }

    /// Whether a statement only reads.
    static func reads(_ sql: String) -> Bool {
        ["SELECT", "VALUES", "TABLE", "SHOW", "EXPLAIN"].contains(firstWord(of: sql))
    }
}
#endif
