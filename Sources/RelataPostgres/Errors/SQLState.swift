#if PostgreSQL
import Foundation
import RelataCore

/// The meaning of a server's error codes for a program.
enum SQLState {
    /// The error of a statement.
    ///
    /// - Parameters:
    ///   - server: The server and the database, as messages name them.
    ///   - wasCancelled: Whether the client cancelled the statement. A timeout has the same code.
    static func error(
        _ failure: PostgresFailure.Diagnostics, server: String, sql: String?, wasCancelled: Bool
    ) -> RelataError {
        let message = failure.message
        switch failure.sqlState {
        case "23505":
            let columns = PostgresFailure(.closed(""), failure).keyColumns
            guard let table = failure.table, !columns.isEmpty else { return unnamed(failure, sql) }
            return .uniqueViolation(entity: table, properties: columns)
        case "40001", "40P01":
            return .busy("another transaction changed the same rows (\(message)): run the transaction again")
        case "0A000" where failure.isStalePlan:
            return .busy("another process has altered the tables (\(message)): run the transaction again")
        case "55P03": return .busy("another transaction holds a lock for too long (\(message)): try again later")
        case "53300", "57P03":
            return .busy("\(server) accepts no connection at the moment (\(message)): try again later")
        case "57014" where wasCancelled: return .interrupted
        case "57014": return .busy("a statement took longer than its time limit (\(message)): raise the limit")
        case "26000":
            return .busy("the session lost its prepared statements (\(message)): run the transaction again")
        case "25006": return .readOnly("\(server) can't be written in this transaction (\(message))")
        case "53100": return .noSpaceLeft(server)
        case "42501":
            return .fileAccess(path: server, "the role lacks a privilege (\(message)): GRANT it")
        case "2200H":
            return .invalidUse("the database has no greater key for a new row: give new objects their own keys")
        case "22003": return .invalidUse("a number is too large or too small for its column (\(message))")
        case "22021", "22P05":
            return .invalidUse("PostgreSQL's text can't contain such a character (\(message)): store it as data")
        // A value that isn't one of its type, or that is larger than the server's limits.
        case let state where state.hasPrefix("22") || state.hasPrefix("54"):
            return .invalidUse(message + (failure.detail.map { ": " + $0 } ?? ""))
        case let state where state.hasPrefix("28") || state == "3D000":
            return .fileAccess(path: server, "\(message): check the user, the password and the database")
        case "25P03": return lost(server, "\(message); Options.idleInTransactionTimeout sets the limit")
        case "57P01", "57P02", "57P05": return lost(server, message)
        case let state where state.hasPrefix("08") && state != "08P01": return lost(server, message)
        default: return unnamed(failure, sql)
        }
    }

    /// The error of a lost connection.
    static func lost(_ server: String, _ message: String) -> RelataError {
        .fileAccess(path: server, "the server went away (\(line(message))): connect again")
    }

    /// The error of a connection that couldn't be opened.
    ///
    /// - Parameter codes: The codes of the servers that refused.
    static func connecting(_ server: String, _ message: String, codes: Set<String>) -> RelataError {
        let message = line(message)
        // Too many connections; not yet up, or going down.
        return !codes.isDisjoint(with: ["53300", "57P03"])
            ? .busy("\(server) accepts no connection at the moment (\(message)): try again later")
            : .fileAccess(
                path: server, "can't connect (\(message)): check the address, the user, the password and the database")
    }

    /// Whether libpq's message of a failed connection contains a message of a server. These begin with their severity,
    /// which is equal in all languages but some.
    static func isSaidByServer(_ message: String) -> Bool { message.contains(":  ") }

    /// The codes in a message for which libpq was set to verbose: `FATAL:  28P01: password …`
    static func codes(in message: String) -> Set<String> {
        Set(
            message.components(separatedBy: ":  ").dropFirst().compactMap { part in
                let code = part.prefix { $0 != ":" }
                return code.utf8.count == 5 && code.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
                    ? String(code) : nil
            })
    }

    /// The error of a connection that is lost during its commit.
    static func lostInDoubt(_ error: RelataError) -> RelataError {
        guard case .fileAccess(let server, let message) = error else { return error }
        return .fileAccess(
            path: server,
            "\(message); the transaction may have been committed or not: check for its writes before you run it again"
        )
    }

    /// A message of several lines in one.
    static func line(_ message: String) -> String {
        message.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .joined(separator: "; ")
    }

    private static func unnamed(_ failure: PostgresFailure.Diagnostics, _ sql: String?) -> RelataError {
        let parts = [failure.message, failure.detail, failure.hint].compactMap(\.self).joined(separator: "; ")
        return .database(code: code(failure.sqlState), message: "\(parts) (SQLSTATE \(failure.sqlState))", sql: sql)
    }

    /// The five characters as a number in base 36, times 256. SQLite's codes have their kind in the lowest byte, so
    /// none of them equals one of these.
    static func code(_ sqlState: String) -> Int { (Int(sqlState, radix: 36) ?? 0) << 8 }
}
#endif
