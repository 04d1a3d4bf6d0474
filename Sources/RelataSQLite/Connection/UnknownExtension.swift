import RelataCore

/// A collation or a function that a file needs, and that only the program that made it provides.
enum UnknownExtension {
    /// SQLite's message with an explanation; `nil` for any other message.
    ///
    /// - Parameter sql: The statement. Names in it are its author's, not the file's.
    static func explanation(of message: String, sql: String?) -> String? {
        let sql = sql?.lowercased() ?? ""
        if message == noPlan, !sql.contains("indexed by") {
            return "\(message): the rows are sorted by a collation that only the program that made the file has"
        }
        for (words, use) in [(collation, "sort"), (function, "compute")] where message.hasPrefix(words) {
            let name = message.dropFirst(words.count).prefix { $0 != "(" }.trimmingPrefix { $0 == " " }
            if sql.contains(name.lowercased()) { return nil }
            return
                "\(message), which only the program that made the file has: everything that doesn't \(use) with it works"
        }
        return nil
    }

    /// Whether an error is about a missing extension.
    static func isMissing(_ message: String) -> Bool {
        isCollation(message) || message.hasPrefix(function)
    }

    /// Whether an error is about a missing collation.
    static func isCollation(_ message: String) -> Bool {
        message.hasPrefix(collation) || message.hasPrefix(noPlan)
    }

    private static let collation = "no such collation sequence:"
    private static let function = "unknown function:"
    /// SQLite's error if the key of a `WITHOUT ROWID` table needs the collation.
    private static let noPlan = "no query solution"
}
