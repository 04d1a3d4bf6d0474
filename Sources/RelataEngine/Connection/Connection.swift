import Foundation
import RelataCore
import Synchronization

/// One connection to a database.
///
/// An ``EngineDriver`` prepares its statements; everything else is common to all engines. Statements are stepped on the
/// caller's thread, because a switch to a queue takes ten times as long as a look-up by key.
///
/// A connection isn't `Sendable`: its holder, who leased it from the ``ConnectionPool``, uses it alone.
@usableFromInline
package final class Connection {
    /// The engine's part.
    package let driver: any EngineDriver
    /// The path of the database; empty for one in memory.
    package let path: String
    /// By their text as a value, because texts that Swift takes for equal may hold different constants.
    private var cache: [Value: Statement] = [:]
    /// The approximate number of bytes they take.
    private(set) var cachedSize = 0
    /// The last statement found in the cache: writing many rows needs the same one repeatedly.
    private var recent: (sql: Value, statement: Statement)?
    // The holder uses the connection alone, so properties that each look-up by key reads need no exclusivity checks.
    @exclusivity(unchecked) private var slots: [Statement?] = []
    /// Records accesses of statements, while that is requested.
    @exclusivity(unchecked) package internal(set) var accesses: AccessLog?
    /// Records changes of the open transaction, if that is requested.
    package internal(set) var recorder: ChangeRecorder?
    /// The file's own declarations about a schema's tables, once a deletion needed them.
    var fileKeys: FileKeys?
    /// The search indexes that writes update, once a commit needed them.
    var searchIndexes: [SearchIndex]?
    private(set) var isClosed = false
    /// Whether the engine has yet to prepare it for its first use.
    package var isUnprepared = false
    /// The tables that introspection and deletions look at.
    package var tableScope = TableScope.own
    /// Objects that must live as long as the connection.
    package var companion: AnyObject?
    /// A value from one state of the database.
    var kept: (state: UInt32, value: AnyObject)?
    /// Whether statements may run inside a transaction only: after some errors, such as a full disk, SQLite rolls back
    /// a whole transaction, and later statements would be committed separately.
    @exclusivity(unchecked) var needsTransaction = false
    /// The work before the commit of the open transaction, if the engine may commit together with a statement.
    var earlyCommit: (() throws -> Void)?
    /// The number of nested open savepoints.
    var savepointDepth = 0
    /// Whether SQL runs that isn't the store's own.
    var isRunningForeignSQL = false
    /// The schema whose tables give statements their numbers; `nil` for the pool's only one.
    private var numberedBy: Schema?

    /// A connection that an engine has opened.
    ///
    /// - Parameter path: The path of the database; empty for one in memory.
    package init(_ driver: any EngineDriver, path: String) {
        self.driver = driver
        self.path = path
    }

    /// The SQL that the connection understands.
    package var dialect: Dialect { driver.dialect }

    deinit {
        try? close()
    }

    /// Closes the connection. Further calls fail.
    package func close() throws(RelataError) {
        guard !isClosed else { return }
        isClosed = true
        (cache, recent, cachedSize) = ([:], nil, 0)
        slots = []
        try driver.close()
    }

    // MARK: Statements

    /// Runs `body` with a prepared statement that isn't in use, and resets it afterwards.
    ///
    /// Statements are cached by their text. If a cached one is being stepped (a query inside a loop over the same
    /// query), another is prepared.
    @inlinable
    package func withStatement<Result>(
        _ sql: String, _ body: (RunningStatement) throws -> Result
    ) throws -> Result {
        let statement = try lease(sql)
        defer { release(statement) }
        return try body(statement.running)
    }

    /// As ``withStatement(_:_:)`` for a query: `body` gets the previous number of rows, and returns the new one.
    package func withQuery<Result>(
        _ sql: String, _ body: (_ statement: RunningStatement, _ rowCount: inout Int) throws -> Result
    ) throws -> Result {
        let statement = try lease(sql)
        defer { release(statement) }
        return try body(statement.running, &statement.rowCount)
    }

    /// As ``withStatement(_:_:)``, with a small number instead of the text as the key; `sql` is only called the first
    /// time.
    @inlinable
    package func withStatement<Result>(
        slot: Int, _ sql: () throws -> String, _ body: (RunningStatement) throws -> Result
    ) throws -> Result {
        let statement = try lease(slot: slot, sql)
        defer { release(statement) }
        return try body(statement.running)
    }

    /// Runs a query that is cached by a small number, and reads its first row; `nil` if it has none.
    ///
    /// - Parameters:
    ///   - sql: The query, only called the first time.
    ///   - bind: Binds its parameters.
    @inlinable
    package func firstRow<Result>(
        slot: Int, _ sql: () throws -> String, bind: (inout Binder) throws -> Void, _ read: (Row) throws -> Result?
    ) throws -> Result? {
        try withStatement(slot: slot, sql) { statement in
            var binder = Binder(statement)
            try bind(&binder)
            guard try step(statement) else { return nil }
            return try read(Row(statement))
        }
    }

    /// Whether SQL writes something when it is run.
    package func writes(_ sql: String) throws -> Bool {
        let statement = try lease(sql)
        defer { release(statement) }
        return driver.writes(statement)
    }

    @usableFromInline
    func lease(_ sql: String) throws(RelataError) -> Statement {
        if needsTransaction { try requireTransaction() }
        if let cached = cached(.text(sql)), !cached.isLeased {
            if isRunningForeignSQL { try refuseTransactionControl(cached) }
            cached.isLeased = true
            if let accesses { note(cached, in: accesses) }
            return cached
        }
        let statement = try prepare(sql)
        if isRunningForeignSQL { try refuseTransactionControl(statement) }
        if let accesses { note(statement, in: accesses) }
        keep(statement, sql)
        return statement
    }

    /// Caches a statement. A program has a limited number of statements, but clients can invent any number of
    /// conditions.
    private func keep(_ statement: Statement, _ sql: String) {
        let size = statement.size
        guard size <= Self.cacheSize / 16, cache[.text(sql)] == nil else { return }
        if cache.count >= 500 || cachedSize + size > Self.cacheSize {
            (cache, recent) = (cache.filter { $0.value.isLeased }, nil)
            cachedSize = cache.values.reduce(0) { $0 + $1.size }
        }
        cachedSize += size
        cache[.text(sql)] = statement
    }

    /// The maximum number of bytes of cached statements.
    static let cacheSize = 8 << 20

    private func cached(_ sql: Value) -> Statement? {
        if let recent, recent.sql == sql { return recent.statement }
        guard let statement = cache[sql] else { return nil }
        recent = (sql, statement)
        return statement
    }

    @usableFromInline
    func lease(slot: Int, _ sql: () throws -> String) throws -> Statement {
        if needsTransaction { try requireTransaction() }
        if slot < slots.count, let statement = slots[slot], !statement.isLeased {
            statement.isLeased = true
            if let accesses { note(statement, in: accesses) }
            return statement
        }
        if slot >= slots.count { slots += Array(repeating: nil, count: slot + 32 - slots.count) }
        let statement = try prepare(sql())
        if let accesses { note(statement, in: accesses) }
        if slots[slot] == nil { slots[slot] = statement }
        return statement
    }

    private func requireTransaction() throws(RelataError) {
        guard !isInTransaction else { return }
        throw .invalidUse(
            "the transaction is over: an earlier error in it, such as a full disk, rolled it back. Let that error end its closure, and try again"
        )
    }

    @inlinable
    func release(_ statement: Statement) {
        statement.running.finish()
        statement.isLeased = false
    }

    func forEachStatement(_ body: (Statement) -> Void) {
        for statement in cache.values { body(statement) }
        for case let statement? in slots { body(statement) }
    }

    /// Discards all prepared statements after a change of the schema.
    package func clearStatements() {
        fileKeys = nil
        searchIndexes = nil
        (cache, recent, cachedSize) = ([:], nil, 0)
        slots = []
    }

    /// Uses the numbers of statements for the tables of a schema: other stores of the pool number other tables. Call it
    /// when a transaction begins.
    package func numberStatements(by schema: Schema) {
        guard numberedBy !== schema else { return }
        numberedBy = schema
        slots = []
    }

    // MARK: Running

    /// Runs a statement to its end and ignores its rows.
    package func execute(_ statement: SQLStatement) throws(RelataError) {
        try run(statement)
    }

    /// Runs SQL text that may hold several statements, without parameters.
    package func execute(_ sql: String) throws(RelataError) {
        if needsTransaction { try requireTransaction() }
        guard !isClosed else { throw .closed("the store is closed: open it again") }
        if let accesses {
            accesses.add(try driver.executeNoting(script: sql))
        } else {
            try driver.execute(script: sql)
        }
    }

    func prepare(_ sql: String) throws(RelataError) -> Statement {
        guard !isClosed else { throw .closed("the store is closed: open it again") }
        return try driver.prepare(sql)
    }

    /// Refuses a statement that begins or ends a transaction or a savepoint.
    private func refuseTransactionControl(_ statement: Statement) throws(RelataError) {
        guard statement.controlsTransaction else { return }
        throw .invalidUse(
            "\"\(statement.running.sql ?? "")\" can't be run, because the store ends transactions itself: a transaction is committed when its closure returns and rolled back when it throws; savepoint rolls back a part"
        )
    }

    /// Runs a statement to its end and returns the number of rows it inserted, updated or deleted itself.
    @discardableResult
    package func run(_ statement: SQLStatement) throws(RelataError) -> Int {
        let earlier = driver.totalChanges
        try rows(statement) { _ in }
        // The count of the last statement that could change rows, which may be an earlier one.
        return driver.totalChanges == earlier ? 0 : changes
    }

    /// Runs a query and gives each row to `body`, in order.
    package func rows(_ statement: SQLStatement, _ body: (Row) throws(RelataError) -> Void) throws(RelataError) {
        let leased = try lease(statement.sql)
        defer { release(leased) }
        try bind(statement.parameters, to: leased.running)
        while try step(leased.running) { try body(Row(leased.running)) }
    }

    /// As ``rows(_:_:)``, for a body that throws any error.
    package func forEachRow(_ query: SQLStatement, _ body: (Row) throws -> Void) throws {
        let cursor = try RowCursor(query, on: self)
        defer { cursor.close() }
        while let row = try cursor.next() { try body(row) }
    }

    /// All rows of a query, each column read as its type, or as it is stored if that is `nil`.
    package func values(_ statement: SQLStatement, types: [AttributeType?] = []) throws(RelataError) -> [[Value]] {
        var result: [[Value]] = []
        try rows(statement) { row in
            result.append((0..<row.columnCount).map { row.value(at: $0, as: $0 < types.count ? types[$0] : nil) })
        }
        return result
    }

    /// The first column of the first row, or `nil` without a row.
    package func value(_ statement: SQLStatement, as type: AttributeType? = nil) throws(RelataError) -> Value? {
        let leased = try lease(statement.sql)
        defer { release(leased) }
        try bind(statement.parameters, to: leased.running)
        guard try step(leased.running) else { return nil }
        return Row(leased.running).value(at: 0, as: type)
    }

    /// Binds parameters in order.
    package func bind(_ parameters: [Parameter], to statement: RunningStatement) throws(RelataError) {
        let count = statement.parameterCount
        guard parameters.count <= count else {
            throw .invalidUse("\(parameters.count) values were given to SQL with \(count) parameters")
        }
        for (index, parameter) in zip(Int32(1)..., parameters) {
            switch parameter {
            case .value(let value): try StatementParameter(statement, index).bind(value)
            case .list, .keys: try driver.bind(parameter, to: statement, at: index)
            }
        }
    }

    // MARK: Errors

    /// Steps a statement to its next row, or to its end; returns whether there is a row.
    @inlinable
    package func step(_ statement: RunningStatement) throws(RelataError) -> Bool {
        let result = statement.step()
        if result == .row { return true }
        try check(result, statement)
        return false
    }

    /// Throws SQLite's error if a step failed.
    @inlinable
    package func check(_ result: StepResult, _ statement: RunningStatement) throws(RelataError) {
        if result.isError { throw error(result, statement) }
    }

    /// The error of a step that failed.
    @usableFromInline
    package func error(_ result: StepResult, _ statement: RunningStatement) -> RelataError {
        driver.error(result, statement)
    }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { driver.isInTransaction }

    /// The key that the database gave the last row that this connection inserted.
    package var lastInsertedRowID: Int64 { driver.lastInsertedKey }

    /// Clears that key: it is the lowest number until a row is inserted again.
    package func forgetLastInsertedRowID() { driver.forgetLastInsertedKey() }

    /// The number of rows the last statement inserted, updated or deleted itself.
    package var changes: Int { driver.changes }

    /// The number of rows this connection has changed so far, including those changed by triggers and foreign keys.
    var totalChanges: Int { driver.totalChanges }
}
