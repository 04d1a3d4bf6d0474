#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine
import Synchronization

/// A connection of PostgreSQL: connects a ``Connection`` with a ``Session``.
package final class PostgresDriver: EngineDriver {
    let session: Session
    let trace: SQLTrace?
    private let thread: ConnectionThread
    /// Whether the transaction is being committed. If the connection is lost now, the outcome is unknown.
    var isCommitting = false
    /// Whether statements must be prepared again, because a table was altered or the session has lost them.
    private var hasStaleStatements = false
    var nextName = 0
    /// Names of unused statements, which the next statement deallocates on the server.
    private var unused: [String] = []
    private var waitsForReferences = false
    private var isReadOnly = false
    /// The statements that begin the open transaction, which are sent with its first statement.
    var beginning: [String] = []
    let settings: SessionSettings
    let ownStatements = OwnStatements()
    /// The statement that is sent together with the end of the open transaction.
    var lastStatement: OwnStatement?
    /// The rest of the commit, if the next statement is sent together with it.
    var earlyCommit: (() throws -> Void)?
    package internal(set) var hasCommittedEarly = false
    /// The number of the change log, once it was read in this generation of the session.
    var knownLog: (generation: Int, log: Int64)?
    /// The replicas that the store reads from, and whether this connection leads to one.
    var replicas: ReplicaReads?
    var readsReplica = false
    /// The position up to which its replica had replayed the primary's log when last asked.
    var replayed: Int64 = 0
    /// A session that holds the lock for changing tables, if this session can't.
    var schemaLockKeeper: Session?
    /// The server's implicit effects when tables are written, once they were queried.
    var writeEffects: WriteEffects?
    /// Whether the last transaction failed to change the tables, because it didn't see them as they are.
    var hasSeenOldTables = false
    /// Whether the database is known to have Relata's own table.
    var knowsMetadata = false
    /// The number of the tables' version that the last transaction saw.
    var knownTableVersion: Int64?
    /// Whether generated SQL calls functions of the session's own.
    var callsTemporaryFunctions = false
    /// Whether the connection must be replaced before it is used again.
    private var isSpoiled = false
    package var lastInsertedKey: Int64 = .min
    package internal(set) var mayTryAgain = false
    /// The server has no number that tells whether others have committed changes since.
    package let stateNumber: UInt32? = nil
    package private(set) var changes = 0
    package private(set) var totalChanges = 0
    package let dialect = Dialect.postgres
    package let capabilities: EngineCapabilities = PostgresDriver.ownCapabilities

    init(
        _ url: PostgresURL, poolsTransactions: Bool?, settings: SessionSettings, thread: ConnectionThread,
        trace: SQLTrace?
    ) throws(RelataError) {
        do throws(PostgresFailure) {
            session = try Session(url, poolsTransactions: poolsTransactions)
            try session.apply(settings)
        } catch {
            throw error.error
        }
        self.trace = trace
        self.settings = settings
        self.thread = thread
    }

    package func close() throws(RelataError) { session.close() }

    /// Makes the server refuse writes in each transaction from now on.
    func refuseWriting() throws(RelataError) {
        isReadOnly = true
        // Through a pooler, each transaction sets this.
        if session.isPooled { return }
        _ = try run { (session) throws(PostgresFailure) in
            try session.run("SET default_transaction_read_only = on")
        }
    }

    package var executor: (any TaskExecutor)? { thread }

    package var canceller: (@Sendable () -> Void)? {
        let cancellation = session.cancellation
        return { cancellation.cancel() }
    }

    package var changeLog: any ChangeLogStorage { PostgresChangeLog(driver: self) }

    package func endCancellation() throws(RelataError) {
        session.endCancellation()
    }

    // MARK: Running

    /// Runs `body`, and gives its failure the form that SQLite's has.
    func run<Result>(
        _ body: (Session) throws(PostgresFailure) -> Result
    ) throws(RelataError) -> Result {
        do throws(PostgresFailure) {
            return try body(session)
        } catch {
            throw noted(error)
        }
    }

    /// The error of a failure. Also records the effects of the failure on the connection.
    private func noted(_ failure: PostgresFailure) -> RelataError {
        if failure.isStale { hasStaleStatements = true }
        if failure.isRetryable || failure.isStale { mayTryAgain = true }
        // A server that became a replica, or was one all along: another may take writes by now.
        if failure.sqlState == "25006", !isReadOnly { isSpoiled = true }
        if isCommitting, session.isLost {
            // A replica must also show the changes that may have been committed.
            replicas?.noteUnknown()
            return SQLState.lostInDoubt(failure.error)
        }
        return ConstraintFailures.error(failure)
    }

    /// Prepares the connection for another use.
    func beginUse() {
        mayTryAgain = false
        isCommitting = false
    }

    package func beginBriefUse() -> Bool {
        // A pooler needs several statements for each one, and the preparations may take long.
        guard session.isNearby, !session.isPooled, !readsReplica, !hasStaleStatements, !isSpoiled, !session.wasEnded
        else { return false }
        beginUse()
        session.beginBriefUse()
        return true
    }

    package func endBriefUse() -> Bool {
        session.endBriefUse()
        return !session.needsThread && !mayTryAgain && !session.isLost
    }

    /// Whether statements must be prepared again. The answer is given once: the server then drops its prepared
    /// statements.
    func takeStaleStatements() -> Bool {
        guard hasStaleStatements else { return false }
        hasStaleStatements = false
        unused = []
        session.forgetStatements()
        if !session.isPooled { _ = try? session.run("DEALLOCATE ALL") }
        return true
    }

    /// The statements that begin a transaction, with settings that a session through a pooler can't keep.
    func opening(_ sql: String) -> [String] {
        guard session.isPooled else { return [sql] }
        return [sql] + (isReadOnly ? ["SET TRANSACTION READ ONLY"] : []) + settings.statements(isLocal: true)
    }

    /// Runs a statement in the same way, and traces it.
    func traced<Result>(
        _ sql: String, _ body: (Session) throws(PostgresFailure) -> Result
    ) throws(RelataError) -> Result {
        guard let trace else { return try run(body) }
        let start = ContinuousClock.now
        // A statement that continues on another thread is traced there.
        defer { if !session.isBrief || !session.needsThread { trace(sql, ContinuousClock.now - start) } }
        return try run(body)
    }

    /// A transaction was committed that may have written.
    func didCommit() { if !readsReplica { replicas?.notePosition(self) } }

    /// Counts the rows that a statement changed.
    func didRun(_ affectedRows: Int) {
        changes = affectedRows
        totalChanges += affectedRows
    }

    package func prepare(_ text: String) throws(RelataError) -> Statement {
        let sql = callsTemporaryFunctions ? PostgresFunctions.temporary(text) : text
        try dropUnused()
        nextName += 1
        // The connection that a pooler chooses for the next transaction wouldn't know it.
        let name = session.isPooled ? "" : "relata_\(nextName)"
        let prepared: PreparedStatement
        do throws(PostgresFailure) {
            prepared = try session.prepare(name: name, sql: sql)
        } catch {
            guard error.isOfSeveralStatements else { throw noted(error) }
            throw .invalidUse(
                "SQL must be one statement, and another one follows \"\(sql.prefix(100))\": run each separately")
        }
        let remote = PostgresStatement(prepared, self)
        // A statement outlives neither the connection nor, on the server, a lost one.
        let generation = session.generation
        return Statement(
            RunningStatement(remote), controlsTransaction: Self.controlsTransaction(sql), size: remote.size
        ) { [weak self] in
            withExtendedLifetime(remote) {
                if let self, !name.isEmpty, self.session.generation == generation { self.unused.append(name) }
            }
        }
    }

    /// Prepares a statement again after its table was altered; `nil` if its transaction has failed, or its rows have
    /// other columns than the caller reads.
    func preparedAnew(_ old: PreparedStatement, _ session: Session) throws(PostgresFailure) -> PreparedStatement? {
        guard session.transactionStatus == .idle, !old.name.isEmpty else { return nil }
        // Other statements are stale too, and this one is lost if it can't be prepared.
        hasStaleStatements = true
        // The session may have lost it.
        _ = try? session.deallocate(name: old.name)
        let new = try session.prepare(name: old.name, sql: old.sql)
        if new.columns.count == old.columns.count, new.parameters == old.parameters { return new }
        try session.deallocate(name: old.name)
        return nil
    }

    private func dropUnused() throws(RelataError) {
        // Not within a transaction that has failed, and not one by one.
        guard unused.count >= 32, session.transactionStatus != .failed else { return }
        let names = unused
        unused = []
        _ = try run { (session) throws(PostgresFailure) in
            try session.run(names.map { "DEALLOCATE \"\($0)\"" }.joined(separator: "; "))
        }
    }

    package func execute(script: String) throws(RelataError) {
        if endsUntold(script) { return }
        try tellBeginning()
        _ = try traced(script) { (session) throws(PostgresFailure) in try session.run(script) }
        didEndTransaction()
    }

    package func executeNoting(script: String) throws(RelataError) -> StatementAccess {
        try execute(script: script)
        var access = StatementAccess()
        if Self.controlsTransaction(script) { return access }
        let word = Self.firstWord(of: script)
        if ["LOCK", "SET"].contains(word), !script.contains(";") { return access }
        if ["CREATE", "ALTER", "DROP"].contains(word), !script.contains(";") {
            access.writes.add(rowsOf: catalogTable)
        } else if let table = Self.writtenTable(of: script).map({ String($0) }), ReservedNames.isOwn(table) {
            access.writes.add(rowsOf: table)
        } else {
            // The statement may have any effect, so all observers of the database look again.
            access.writes = .everything
        }
        return access
    }

    package func bind(_ list: Parameter, to statement: RunningStatement, at index: Int32) throws(RelataError) {
        try statement.remoteStatement?.bind(list, at: index)
    }

    package func bind(
        rows: Range<Int>, columns: Int, to statement: RunningStatement, at index: Int32, _ row: (Int) -> [Value]
    ) throws(RelataError) {
        let keys = Parameter.keys(rows.map { KeyValue(row($0)) })
        try statement.remoteStatement?.bind(keys, at: index)
    }

    package func writes(_ statement: Statement) -> Bool {
        !Self.reads(statement.running.sql ?? "")
    }

    package func error(_ result: StepResult, _ statement: RunningStatement) -> RelataError {
        statement.remoteStatement?.failure ?? .database(code: 0, message: "the statement failed", sql: statement.sql)
    }

    // MARK: Transactions

    package func beginLater(_ statement: String) -> Bool {
        (beginning, lastStatement, hasCommittedEarly) = (opening(statement), nil, false)
        return true
    }

    package var isInTransaction: Bool {
        if !beginning.isEmpty { return true }
        return switch session.transactionStatus {
        case .open, .failed, .active: true
        case .idle, .unknown: false
        }
    }

    /// The server would treat COMMIT as ROLLBACK without an error.
    package func checkBeforeCommit() throws(RelataError) {
        guard session.transactionStatus == .failed else {
            isCommitting = true
            return
        }
        throw .invalidUse(
            "the transaction is over: an earlier error in it rolled it back. Let that error end its closure, and try again"
        )
    }

    private func didEndTransaction() { if !isInTransaction { waitsForReferences = false } }

    package func forgetLastInsertedKey() { lastInsertedKey = .min }

    package func referencesWait() throws(RelataError) -> Bool {
        didEndTransaction()
        return waitsForReferences
    }

    package func setReferencesWait(_ wait: Bool) throws(RelataError) {
        waitsForReferences = false
        try execute(script: "SET CONSTRAINTS ALL \(wait ? "DEFERRED" : "IMMEDIATE")")
        waitsForReferences = wait
    }

    /// While checks of references are deferred, this is unknown.
    package var hasDanglingReferences: Bool { waitsForReferences && isInTransaction }

    package func makeReusable() {
        session.endCancellation()
        (beginning, lastStatement) = ([], nil)
        guard !session.isLost, isInTransaction else { return }
        do throws(PostgresFailure) {
            try session.run("ROLLBACK")
        } catch {
            isSpoiled = true
        }
        didEndTransaction()
    }

    /// Replaces the connection before it is used again, so that the server drops its state.
    func spoil() { isSpoiled = true }

    /// Restores a connection that was lost since its last use.
    ///
    /// - Returns: Whether prepared statements are lost.
    func reconnectIfLost(_ connecting: Connecting) throws(RelataError) -> Bool {
        guard isSpoiled || session.wasEnded else { return false }
        isSpoiled = true
        (beginning, lastStatement) = ([], nil)
        try connecting.run(isCancelled: { session.cancellation.isRequested }) { () throws(RelataError) in
            _ = try run { (session) throws(PostgresFailure) in
                try session.reset()
                try session.apply(settings)
            }
            if isReadOnly { try refuseWriting() }
        }
        connecting.didReconnect()
        replayed = 0
        unused = []
        (waitsForReferences, isCommitting, hasStaleStatements, isSpoiled) = (false, false, false, false)
        return true
    }

    /// The time limit for locks.
    var lockTimeout: Duration { settings.lockTimeout ?? .seconds(5) }
}
#endif
