import Foundation
import RelataCore
import RelataEngine
import RelataSQLite

#if PostgreSQL
import RelataPostgres
#endif

/// The location of a database: a file, memory, or a server. The location alone determines the engine.
package struct DatabaseLocation: Sendable {
    private enum Place: Sendable {
        case memory
        case file(String)
        #if PostgreSQL
        case server(PostgresURL)
        #endif
    }

    private let place: Place

    /// A database in memory that no other connection can open.
    package static let memory = DatabaseLocation(place: .memory)

    private init(place: Place) { self.place = place }

    /// A server's URL, or the path of a file.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a URL that can't be read, and in a build without servers.
    package init(_ text: String) throws(RelataError) {
        guard ServerURL.isOne(text) else {
            place = .file(text)
            return
        }
        #if PostgreSQL
        place = .server(try PostgresURL(text))
        #else
        throw .invalidUse(
            """
            \(text.prefix { $0 != ":" }) URLs need the trait PostgreSQL: add traits: ["PostgreSQL"] to the package's \
            dependency; the tool is built with --traits CommandLineTool,PostgreSQL
            """)
        #endif
    }

    /// A server's URL, the path of a file, or memory for `nil`.
    package init(_ text: String?) throws(RelataError) {
        if let text { try self.init(text) } else { self = .memory }
    }

    /// Whether it is in memory.
    package var isMemory: Bool { if case .memory = place { true } else { false } }

    /// Whether it is on a server.
    package var isServer: Bool { !isMemory && file == nil }

    /// The path of the file, if the database is one.
    package var file: String? { if case .file(let path) = place { path } else { nil } }

    /// The name in messages: the name of a file, or a URL without its password.
    package var name: String {
        switch place {
        case .memory: "memory"
        case .file(let path): URL(fileURLWithPath: path).lastPathComponent
        #if PostgreSQL
        case .server(let url): url.description
        #endif
        }
    }

    /// The prefix of the paths of files that belong to the database: the path of its own file, or a server's database
    /// by its name in the folder of the process; `nil` in memory.
    package var companionPath: String? {
        switch place {
        case .memory: nil
        case .file(let path): path
        #if PostgreSQL
        case .server(let url): (url.database ?? "relata").replacingOccurrences(of: "/", with: "_")
        #endif
        }
    }

    // MARK: Opening

    /// The engine of the database.
    ///
    /// - Parameter isLookedAtOnly: Whether a missing file counts as an empty one and isn't created.
    package func engine(
        _ options: DatabaseOptions = DatabaseOptions(), isLookedAtOnly: Bool = false
    ) throws(RelataError) -> any Engine {
        switch place {
        case .memory: return sqlite(nil, options, isReadOnly: options.isReadOnly, isLookedAtOnly)
        case .file(let path):
            let isMissing = isLookedAtOnly && !FileManager.default.fileExists(atPath: path)
            return sqlite(
                isMissing ? nil : path, options, isReadOnly: options.isReadOnly || isLookedAtOnly && !isMissing,
                isLookedAtOnly)
        #if PostgreSQL
        case .server(let url):
            guard options.key == nil else {
                throw .invalidUse(
                    "encryptionKey is for files only: leave it out, and let the database server encrypt its disk"
                )
            }
            let waits = PostgresWaits(
                busy: options.busyTimeout, connection: options.connectionTimeout, statement: options.statementTimeout,
                idleInTransaction: options.idleInTransactionTimeout)
            return try PostgresEngine(
                url: url, isReadOnly: options.isReadOnly || isLookedAtOnly,
                replicaURL: isLookedAtOnly ? nil : options.replicaURL, writers: options.maximumWriters,
                poolsTransactions: options.poolsTransactions, tableScope: options.tableScope, waits: waits,
                trace: isLookedAtOnly ? nil : options.trace)
        #endif
        }
    }

    private func sqlite(
        _ path: String?, _ options: DatabaseOptions, isReadOnly: Bool, _ isLookedAtOnly: Bool
    ) -> SQLiteEngine {
        SQLiteEngine(
            path: path, key: options.key, isReadOnly: isReadOnly, durability: options.durability,
            busyTimeout: options.busyTimeout, trace: isLookedAtOnly ? nil : options.trace)
    }

    /// The connections of a store.
    ///
    /// - Parameters:
    ///   - waitsToOpen: Whether the thread waits while another process has the database locked.
    ///   - readsFirst: Whether the database is looked at by a reading connection, if the engine has a gain from that.
    package func pool(
        _ options: DatabaseOptions, waitsToOpen: Bool = true, readsFirst: Bool = false, changes: ChangeHub? = nil
    ) throws -> ConnectionPool {
        try ConnectionPool(
            engine(options), isReadOnly: options.isReadOnly, readers: options.maximumReaders,
            busyTimeout: options.busyTimeout, waitsToOpen: waitsToOpen, readsFirst: readsFirst, changes: changes)
    }

    /// A connection by itself.
    package func connect(
        isReadOnly: Bool, tableScope: TableScope = .own
    ) throws(RelataError) -> Connection {
        var options = DatabaseOptions()
        options.tableScope = tableScope
        options.isReadOnly = isReadOnly
        options.durability = .full
        let engine = try engine(options)
        try engine.checkBeforeOpening(isReadOnly: isReadOnly)
        return try engine.connect(isReadOnly && !engine.isShared ? .reading : .writing, waits: true)
    }
}
