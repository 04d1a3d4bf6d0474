import RelataEngine
import RelataSQLite

/// How a database is opened, whatever it stands on and whichever kind of store opens it.
///
/// What concerns only servers has no effect on files, and the other way round.
public struct DatabaseOptions: Sendable {
    /// Whether writing is refused. The database must exist, and stays as it is: a file to the last byte.
    public var isReadOnly = false
    /// What a power cut can cost.
    public var durability = Durability.normal
    /// The largest number of reads at the same time.
    public var maximumReaders = 5
    /// How many transactions may write at once, on a database that lets several: SQLite lets one.
    public var maximumWriters = 5
    /// How many seconds a write waits for another process that writes.
    public var busyTimeout = 5.0
    /// How many seconds a call waits for a connection to a server while all are in use. Files have no such limit.
    public var connectionTimeout = 30.0
    /// How many seconds a server may take for one statement; `nil` for what the server says, 0 for as long as it takes.
    public var statementTimeout: Double?
    /// How many seconds a transaction may do nothing on a server before it is taken back and its connection closed;
    /// `nil` for what the server says, 0 for as long as it takes.
    public var idleInTransactionTimeout: Double?
    /// The URL of replicas of the server, which all reads outside of transactions that write go to; `nil` to read from
    /// the server itself. A read waits until its replica has what this store has written before, for
    /// ``busyTimeout`` seconds at most.
    public var replicaURL: String?
    /// Whether a pooler between the store and the server gives each transaction another of the server's connections, as
    /// pgbouncer does with `pool_mode = transaction`; `nil` to take any pooler for one.
    public var poolsTransactions: Bool?
    /// Called after each SQL statement, with its text and how long it ran.
    public var trace: SQLTrace?
    /// Whether what transactions do is also written down in the database, for readers that must not miss one: the store's
    /// `changes(after:limit:)` reads it.
    public var changeLog = false
    /// How many seconds may pass until observers notice what another process wrote, or another store that is open
    /// on the same database; `nil` for never. Nothing is asked while nobody observes.
    public var externalChangeDelay: Double? = 0.25
    /// Which tables of a server's database are looked at.
    package var tableScope = TableScope.own
    #if SQLCipher
    /// What the file is encrypted with, or is to be if it is new; `nil` for a plain file. A store in memory has no file,
    /// and no use for it.
    public var encryptionKey: EncryptionKey?
    #endif

    /// The defaults.
    public init() {}

    /// What the file is encrypted with, where the build has encrypted files.
    var key: EncryptionKey? {
        #if SQLCipher
        encryptionKey
        #else
        nil
        #endif
    }
}
