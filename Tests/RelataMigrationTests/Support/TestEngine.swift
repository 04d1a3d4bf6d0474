import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

#if PostgreSQL
import PostgresCluster
import RelataPostgres
#endif

/// An engine whose tables are migrated. Tests of a single engine are in the folder with its name.
enum TestEngine: String, Sendable, CustomTestStringConvertible {
    case sqlite
    case postgres

    var testDescription: String { rawValue }

    /// The available engines: PostgreSQL if it is installed.
    static let all: [TestEngine] = hasPostgres ? [.sqlite, .postgres] : [.sqlite]

    /// The reason for skipping tests of PostgreSQL.
    static let missing: Comment = "PostgreSQL isn't installed, or the trait is off"

    /// A connection to its own database.
    func connection() throws -> Connection {
        switch self {
        case .sqlite: try Connection(path: nil)
        case .postgres: try Self.postgresConnection()
        }
    }

    #if PostgreSQL
    static var hasPostgres: Bool { PrivateCluster.isInstalled }

    /// A separate database for migrations. Building an index concurrently waits for every transaction in its database,
    /// including those of other tests, which may wait for the thread that waits here.
    private static let database = Result { try PrivateCluster.shared.makeDatabase() }

    /// The URL of its own schema.
    static func postgresURL() throws -> String {
        let schema = "migration_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let url = try database.get().url
        let session = try Session(PostgresURL(url))
        try session.run("CREATE SCHEMA \(schema)")
        session.close()
        return url + "&options=-csearch_path%3D" + schema
    }

    /// - Parameter url: A database; one of its own by default.
    static func postgresConnection(_ url: String? = nil, trace: SQLTrace? = nil) throws -> Connection {
        let engine = try PostgresEngine(url: PostgresURL(url ?? postgresURL()), trace: trace)
        let connection = try engine.connect(.writing, waits: true)
        try connection.driver.makeReady(connection)
        return connection
    }
    #else
    static let hasPostgres = false

    private static func postgresConnection() throws -> Connection { throw RelataError.invalidUse("no PostgreSQL") }
    #endif

    // MARK: Differences

    /// Quotes names whose case counts, as SQLite needs it not.
    func quoting(_ sql: String) -> String {
        guard self == .postgres else { return sql }
        var result = ""
        var word = ""
        var quote: Character?
        func end() {
            let isName = word.contains(where: \.isUppercase) && (word.contains(where: \.isLowercase) || word.count == 1)
            result += isName ? "\"\(word)\"" : word
            word = ""
        }
        for character in sql {
            if quote == nil, character.isLetter || character == "_" || (character.isNumber && !word.isEmpty) {
                word.append(character)
                continue
            }
            end()
            result.append(character)
            if quote == nil, character == "'" || character == "\"" {
                quote = character
            } else if quote == character {
                quote = nil
            }
        }
        end()
        return result
    }

    /// The tables and indexes of a database, as text.
    func shape(of connection: Connection) throws -> [String] {
        switch self {
        case .sqlite: try connection.lines("SELECT type, name, sql FROM sqlite_master ORDER BY name")
        case .postgres:
            try connection.lines(
                """
                SELECT c.relkind::text, c.relname::text, coalesce(pg_get_indexdef(c.oid), '') FROM pg_class AS c
                WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind <> 'i' OR c.relnamespace
                    = current_schema()::regnamespace AND c.relkind = 'i' ORDER BY 2
                """)
                + connection.lines(
                    """
                    SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                        pg_get_expr(d.adbin, d.adrelid)
                    FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
                        LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                    WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
                    ORDER BY c.relname, a.attnum
                    """)
                + connection.lines(
                    """
                    SELECT k.conname::text, pg_get_constraintdef(k.oid) FROM pg_constraint AS k
                    WHERE k.connamespace = current_schema()::regnamespace ORDER BY 1
                    """)
        }
    }

    /// Checks that references are enforced and nothing is damaged.
    func checkIsSound(_ connection: Connection) throws {
        switch self {
        case .sqlite:
            #expect(try connection.lines("PRAGMA foreign_keys") == ["1"])
            #expect(try connection.lines("PRAGMA integrity_check") == ["ok"])
        case .postgres:
            #expect(!connection.isInTransaction)
            let invalid = """
                SELECT relname::text FROM pg_index JOIN pg_class ON oid = indexrelid
                WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace
                """
            #expect(try connection.lines(invalid) == [])
        }
    }

    /// Makes the connection refuse all writes.
    func refuseWriting(_ connection: Connection) throws {
        try connection.execute(
            self == .sqlite ? "PRAGMA query_only = ON" : "SET default_transaction_read_only = on")
    }
}
