#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine
import Synchronization

/// A connection of PostgreSQL: what a ``Connection`` needs of a ``Session``.
package final class PostgresDriver: EngineDriver {
    let session: Session
    private let trace: SQLTrace?
    private let thread: ConnectionThread
    private var nextName = 0
    /// Names of statements that nobody needs any more, which the server is told of with the next statement.
    private var unused: [String] = []
    private var waitsForReferences = false
    private var isReadOnly = false
    /// How the open transaction begins, of which the server is told with its first statement.
    private var beginning: String?
    let settings: SessionSettings
    /// Whether prepared statements have other columns since a table was altered.
    private var hasStalePlans = false
    /// Whether the database is known to have Relata's own table.
    var knowsMetadata = false
    /// Whether the connection must be made anew before it is used again.
    private var isSpoiled = false
    package var lastInsertedKey: Int64 = .min
    package internal(set) var mayTryAgain = false
    package private(set) var changes = 0
    package private(set) var totalChanges = 0
    package let dialect = Dialect.postgres
    package let capabilities: EngineCapabilities = PostgresDriver.ownCapabilities

    init(_ url: PostgresURL, settings: SessionSettings, trace: SQLTrace?) throws(RelataError) {
        do throws(PostgresFailure) {
            session = try Session(url)
            try session.apply(settings)
        } catch {
            throw error.error
        }
        self.trace = trace
        self.settings = settings
        thread = ConnectionThread(name: "relata")
    }

    package func close() throws(RelataError) { session.close() }

    /// Has the server refuse what writes, in each transaction from now on.
    func refuseWriting() throws(RelataError) {
        isReadOnly = true
        _ = try run { (session) throws(PostgresFailure) in
            try session.run("SET default_transaction_read_only = on")
        }
    }

    package var executor: (any TaskExecutor)? { thread }

    package var canceller: (@Sendable () -> Void)? {
        let cancellation = session.cancellation
        return { cancellation.cancel() }
    }

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
            if error.isStalePlan { hasStalePlans = true }
            if error.isRetryable || error.isStalePlan { mayTryAgain = true }
            throw ConstraintFailures.error(error)
        }
    }

    /// The same for a statement that the trace is told of.
    func traced<Result>(
        _ sql: String, _ body: (Session) throws(PostgresFailure) -> Result
    ) throws(RelataError) -> Result {
        guard let trace else { return try run(body) }
        let start = ContinuousClock.now
        defer { trace(sql, ContinuousClock.now - start) }
        return try run(body)
    }

    /// Counts what a statement changed.
    func didRun(_ affectedRows: Int) {
        changes = affectedRows
        totalChanges += affectedRows
    }

    package func prepare(_ sql: String) throws(RelataError) -> Statement {
        try dropUnused()
        nextName += 1
        let name = "relata_\(nextName)"
        let prepared: PreparedStatement
        do {
            prepared = try run { (session) throws(PostgresFailure) in try session.prepare(name: name, sql: sql) }
        } catch {
            guard case .database(_, let message, _) = error, message.contains("multiple commands") else { throw error }
            throw .invalidUse("SQL is one statement, and another follows \"\(sql.prefix(100))\": run each by itself")
        }
        let remote = PostgresStatement(prepared, self)
        // A statement outlives neither the connection nor, on the server, a lost one.
        let generation = session.generation
        return Statement(
            RunningStatement(remote), controlsTransaction: Self.controlsTransaction(sql), size: remote.size
        ) { [weak self] in
            withExtendedLifetime(remote) {
                if let self, self.session.generation == generation { self.unused.append(name) }
            }
        }
    }

    /// Prepares a statement again whose table was altered; `nil` where its transaction has failed, or its rows have other
    /// columns than the caller reads.
    func preparedAnew(_ old: PreparedStatement, _ session: Session) throws(PostgresFailure) -> PreparedStatement? {
        guard session.transactionStatus == .idle, !old.name.isEmpty else { return nil }
        // Others are as stale, and this one is gone where it can't be prepared.
        hasStalePlans = true
        try session.deallocate(name: old.name)
        let new = try session.prepare(name: old.name, sql: old.sql)
        if new.columns.count == old.columns.count, new.parameters == old.parameters { return new }
        try session.deallocate(name: old.name)
        return nil
    }

    /// Whether statements are to be prepared again, which is asked once.
    func takeStalePlans() -> Bool {
        defer { hasStalePlans = false }
        return hasStalePlans
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

    private static func controlsTransaction(_ sql: String) -> Bool {
        [
            "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE",
        ].contains(firstWord(of: sql))
    }

    /// The word that a statement begins with, in upper case, behind blanks and comments.
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

    package func execute(script: String) throws(RelataError) {
        if endsUntold(script) { return }
        try tellBeginning()
        _ = try traced(script) { (session) throws(PostgresFailure) in try session.run(script) }
        didEndTransaction()
    }

    package func executeNoting(script: String) throws(RelataError) -> StatementAccess {
        try execute(script: script)
        // Whatever it did, those who observe the database look again.
        var access = StatementAccess()
        if !Self.controlsTransaction(script) { access.writes = .everything }
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

    private static func reads(_ sql: String) -> Bool {
        ["SELECT", "VALUES", "TABLE", "SHOW", "EXPLAIN"].contains(firstWord(of: sql))
    }

    package func error(_ result: StepResult, _ statement: RunningStatement) -> RelataError {
        statement.remoteStatement?.failure ?? .database(code: 0, message: "the statement failed", sql: statement.sql)
    }

    // MARK: Transactions

    package func beginLater(_ statement: String) -> Bool {
        beginning = statement
        return true
    }

    /// How the transaction begins, for whoever tells the server with a statement.
    func takeBeginning() -> String? {
        guard let beginning else { return nil }
        self.beginning = nil
        trace?(beginning, .zero)
        return beginning
    }

    /// Tells the server that a transaction begins, before something that can't be sent together with that.
    func tellBeginning() throws(RelataError) {
        guard let beginning = takeBeginning() else { return }
        _ = try run { (session) throws(PostgresFailure) in try session.run(beginning) }
    }

    /// Whether a statement ends a transaction of which the server was never told: there is nothing to do.
    func endsUntold(_ sql: String) -> Bool {
        guard beginning != nil, ["COMMIT", "ROLLBACK"].contains(sql) else { return false }
        beginning = nil
        return true
    }

    package var isInTransaction: Bool {
        if beginning != nil { return true }
        return switch session.transactionStatus {
        case .open, .failed, .active: true
        case .idle, .unknown: false
        }
    }

    /// The server would take COMMIT for ROLLBACK, and say nothing.
    package func checkBeforeCommit() throws(RelataError) {
        guard session.transactionStatus == .failed else { return }
        throw .invalidUse(
            "the transaction is over: an earlier error in it took all of it back. Let that error end its closure, and try again"
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

    /// While references wait nobody knows.
    package var hasDanglingReferences: Bool { waitsForReferences && isInTransaction }

    package func makeReusable() {
        session.endCancellation()
        beginning = nil
        guard !session.isLost, isInTransaction else { return }
        do throws(PostgresFailure) {
            try session.run("ROLLBACK")
        } catch {
            isSpoiled = true
        }
        didEndTransaction()
    }

    /// Has the connection made anew before it is used again, so that the server forgets what it holds.
    func spoil() { isSpoiled = true }

    /// Makes a connection usable that was lost since it was used last.
    ///
    /// - Returns: Whether prepared statements are gone.
    func reconnectIfLost() throws(RelataError) -> Bool {
        guard isSpoiled || session.wasEnded else { return false }
        isSpoiled = true
        beginning = nil
        _ = try run { (session) throws(PostgresFailure) in
            try session.reset()
            try session.apply(settings)
        }
        unused = []
        waitsForReferences = false
        if isReadOnly { try refuseWriting() }
        isSpoiled = false
        return true
    }

    /// How long a statement waits for a lock.
    var lockTimeout: Duration { settings.lockTimeout ?? .seconds(5) }

    // MARK: Cursors

    func newCursorName() -> String {
        nextName += 1
        return "relata_cursor_\(nextName)"
    }

    /// Whether a cursor can read the rows of a statement.
    func canBeDeclared(_ sql: String) -> Bool { Self.reads(sql) && Self.firstWord(of: sql) != "EXPLAIN" }

    /// Declares a cursor for a statement's rows.
    func declare(
        _ name: String, for statement: PostgresStatement, _ parameters: ParameterBuffer
    ) throws(RelataError) {
        try tellBeginning()
        let sql = "DECLARE \(name) NO SCROLL CURSOR FOR \(statement.sql)"
        try traced(statement.sql) { (session) throws(PostgresFailure) in
            try session.declare(sql, like: statement.prepared, parameters)
        }
    }

    /// The next rows of a cursor.
    func fetch(
        _ count: Int, from cursor: String, like prepared: PreparedStatement
    ) throws(RelataError) -> ResultSet {
        try run { (session) throws(PostgresFailure) in
            try session.fetch("FETCH FORWARD \(count) FROM \(cursor)", like: prepared)
        }
    }

    /// Closes a cursor; the end of its transaction does so, too.
    func close(cursor: String) {
        guard session.transactionStatus == .open else { return }
        _ = try? session.run("CLOSE \(cursor)")
    }
}
#endif
