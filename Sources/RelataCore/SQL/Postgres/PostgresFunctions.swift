/// The functions that generated SQL calls on PostgreSQL, equivalent to those that Swift registers with SQLite. They are
/// in a separate schema, are written in SQL and PL/pgSQL, and need no extension.
///
/// A database has them once for all its users. Their version is in the schema's comment.
package enum PostgresFunctions {
    /// The version of ``script``; raised whenever that changes.
    package static let version = 5

    /// Selects one text: the comment of the schema, which equals ``comment`` if this version's functions exist; `NULL`
    /// for no functions.
    package static let installed = "SELECT obj_description(to_regnamespace('relata'), 'pg_namespace')"

    /// The result of ``installed`` if this version's functions exist.
    package static var comment: String { "Relata's functions, version \(version)" }

    private static var functions: String {
        [text, words, search, expressions, json, dates, places, keys].joined(separator: "\n")
    }

    /// The statements that create the functions for one session, in a database without them: see ``temporary(_:)``.
    package static var temporaryScript: String { temporary(functions) }

    /// SQL that calls the functions of its session instead of those of the database. Quoted names stay unchanged.
    package static func temporary(_ sql: String) -> String {
        var result = ""
        var rest = sql[...]
        while let range = rest.firstRange(of: "relata.") {
            let before = rest[..<range.lowerBound]
            let isName = before.last.map { $0.isLetter || $0.isNumber || "_\"".contains($0) } ?? false
            result += before + (isName ? "relata." : "pg_temp.")
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    /// The statements that create the functions, or replace those of another version: run as one text, which is one
    /// transaction. Another connection that creates them at the same time waits.
    ///
    /// They rely on a database in UTF-8 and on PostgreSQL's collation `und-x-icu`, which exists if it was built with
    /// ICU.
    package static var script: String {
        """
        SELECT pg_advisory_xact_lock(7885075893410);
        CREATE SCHEMA IF NOT EXISTS relata;
        GRANT USAGE ON SCHEMA relata TO PUBLIC;
        \(functions)
        COMMENT ON SCHEMA relata IS \(SchemaDDL.literal(.text(comment)));
        """
    }
}

/// Sets of characters as PostgreSQL's regular expressions spell them.
enum CharacterClass {
    /// The characters of a set, for the inside of brackets.
    static func ranges(where contains: (Unicode.Scalar) -> Bool) -> String {
        var text = ""
        var start: UInt32?
        // No characters are assigned between the ideographs and the tags of plane 14, nor in the private planes after
        // them.
        for value in Array(UInt32(1)...0x3FFFF) + Array(0xE0000...0xE0FFF) + [0x110000] {
            let isInside = Unicode.Scalar(value).map(contains) ?? false
            if isInside, start == nil { start = value }
            guard !isInside, let first = start else { continue }
            text += escape(first)
            if value - 1 > first { text += "-" + escape(value - 1 > 0x3FFFF && first < 0x40000 ? 0x3FFFF : value - 1) }
            start = nil
        }
        return text
    }

    /// The characters of a set, as a string with escapes.
    static func list(where contains: (Unicode.Scalar) -> Bool) -> String {
        let scalars = (UInt32(1)...0xFFFF).compactMap(Unicode.Scalar.init).filter(contains)
        return "E'" + scalars.map { escape($0.value) }.joined() + "'"
    }

    private static func escape(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        let width = value > 0xFFFF ? 8 : 4
        return (value > 0xFFFF ? "\\U" : "\\u") + String(repeating: "0", count: width - digits.count) + digits
    }
}
