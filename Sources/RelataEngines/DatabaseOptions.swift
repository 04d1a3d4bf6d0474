import RelataEngine
import RelataSQLite

/// The options for opening a database, on any engine and with any kind of store.
///
/// Options for servers have no effect on files, and options for files have none on servers.
public struct DatabaseOptions: Sendable {
    /// Whether writing is refused. The database must exist, and stays unchanged: a file to the last byte.
    public var isReadOnly = false
    /// The possible loss in a power cut.
    public var durability = Durability.normal
    /// The maximum number of concurrent reads.
    public var maximumReaders = 5
    /// The maximum number of concurrent write transactions. It has no effect on SQLite, which allows one.
    public var maximumWriters = 5
    /// The number of seconds that a write waits for another process that writes.
    public var busyTimeout = 5.0
    /// The number of seconds that a call waits for a connection to a server while all are in use. Files have no such
    /// limit.
    public var connectionTimeout = 30.0
    /// The number of seconds that a statement may run on a server; `nil` for the server's setting, 0 for no limit.
    public var statementTimeout: Double?
    /// The number of seconds that a transaction may be idle on a server before it is rolled back and its connection
    /// closed; `nil` for the server's setting, 0 for no limit.
    public var idleInTransactionTimeout: Double?
    /// The URL of replicas of the server for all reads outside of write transactions; `nil` to read from the server
    /// itself. A read waits until its replica has the earlier writes of this store, for ``busyTimeout`` seconds at
    /// most.
    public var replicaURL: String?
    /// Whether a pooler between the store and the server assigns each transaction another of the server's connections,
    /// like pgbouncer with `pool_mode = transaction`; `nil` to treat any pooler as one of this kind.
    public var poolsTransactions: Bool?
    /// Called after each SQL statement, with its text and its duration.
    public var trace: SQLTrace?
    /// Whether transactions also record their changes in the database, for readers that must not miss any: the store's
    /// `changes(after:limit:)` reads them.
    public var changeLog = false
    /// The longest time, in seconds, until observers see the writes of another process, or of another store on this
    /// database; `nil` for never. Without observers, the store doesn't check.
    public var externalChangeDelay: Double? = 0.25
    /// The tables of a server's database that are looked at.
    package var tableScope = TableScope.own
    #if SQLCipher
    /// The key with which the file is encrypted, or with which a new file will be encrypted; `nil` for a plain file. It
    /// has no effect on a store in memory.
    public var encryptionKey: EncryptionKey?
    #endif

    /// The defaults.
    public init() {}

    /// The encryption key, in builds that support encrypted files.
    var key: EncryptionKey? {
        #if SQLCipher
        encryptionKey
        #else
        nil
        #endif
    }
}
