import Foundation
import RelataCore
import RelataEngine
import RelataSQLite

#if PostgreSQL
import RelataPostgres
#endif

extension Store.Options {
    /// What a file is encrypted with, where the build has encrypted files.
    private var key: EncryptionKey? {
        #if SQLCipher
        encryptionKey
        #else
        nil
        #endif
    }

    /// The engine of a database, by what its path looks like.
    ///
    /// - Parameters:
    ///   - path: A file, or `nil` for a database in memory.
    ///   - isLookedAtOnly: Whether a file that isn't there is taken for an empty one, and none is made.
    func engine(for path: String?, isLookedAtOnly: Bool = false) throws(RelataError) -> any Engine {
        if let path, ServerURL.isOne(path) {
            guard key == nil else {
                throw .invalidUse(
                    "a database server has no use for an encryptionKey: leave it out, and have the server encrypt its disk"
                )
            }
            #if PostgreSQL
            let waits = PostgresWaits(
                busy: busyTimeout, connection: connectionTimeout, statement: statementTimeout,
                idleInTransaction: idleInTransactionTimeout)
            return try PostgresEngine(
                url: path, isReadOnly: isReadOnly || isLookedAtOnly,
                replicaURL: isLookedAtOnly ? nil : replicaURL, writers: maximumWriters,
                poolsTransactions: poolsTransactions, waits: waits, trace: isLookedAtOnly ? nil : trace)
            #else
            throw .invalidUse(
                "\(path.prefix { $0 != ":" }) URLs need the trait PostgreSQL: add traits: [\"PostgreSQL\"] to the package's dependency"
            )
            #endif
        }
        let isMissing = isLookedAtOnly && path.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        return SQLiteEngine(
            path: isMissing ? nil : path, key: key, isReadOnly: isReadOnly || isLookedAtOnly && !isMissing,
            durability: durability, busyTimeout: busyTimeout, trace: isLookedAtOnly ? nil : trace)
    }
}
