import RelataCore

/// An engine's part of a connection: it prepares statements and reports their results. A ``Connection`` does everything
/// else, with SQL in the engine's dialect.
package protocol EngineDriver: MigrationDriver {
    /// The SQL that it understands.
    var dialect: Dialect { get }
    /// The engine's capabilities.
    var capabilities: EngineCapabilities { get }

    /// Prepares the one statement of a text.
    func prepare(_ sql: String) throws(RelataError) -> Statement
    /// Runs SQL text that may hold several statements, without parameters.
    func execute(script: String) throws(RelataError)
    /// The accesses of a script, which is run to find them.
    func executeNoting(script: String) throws(RelataError) -> StatementAccess
    /// Binds a list of values or keys to one parameter; the first is 1.
    func bind(_ list: Parameter, to statement: RunningStatement, at index: Int32) throws(RelataError)
    /// Binds rows of values to one parameter, each with the given number of columns.
    func bind(
        rows: Range<Int>, columns: Int, to statement: RunningStatement, at index: Int32, _ row: (Int) -> [Value]
    ) throws(RelataError)
    /// Collects rows for a statement that takes a list for each column; `nil` if the engine has no such statements, or
    /// no list of a column's type.
    func collector(for statement: RunningStatement) -> RemoteRows?
    /// Copies rows into a table; `nil` if they can't be copied in the form that `collector` takes.
    func copier(into table: Table, like collector: RemoteRows) throws(RelataError) -> RemoteRows?
    /// Whether the connection can send statements together now: inside a transaction that has begun.
    var canSendTogether: Bool { get }
    /// Sends statements with their bound values at once. They are stepped in the same order; nothing else may run before
    /// ``endSending()``.
    func send(_ statements: [RunningStatement]) throws(RelataError)
    /// Ends that mode, and drops results that weren't read.
    func endSending()
    /// The error of a failed step.
    func error(_ result: StepResult, _ statement: RunningStatement) -> RelataError
    /// Whether a statement writes something when it is run.
    func writes(_ statement: Statement) -> Bool
    /// The executor for statements that block a thread; `nil` if the task's own thread is used.
    var executor: (any TaskExecutor)? { get }
    /// Begins to answer on the caller's thread, which may run a single statement that only reads. If more is needed, or
    /// the answer takes long, the statement fails.
    ///
    /// - Returns: Whether that is likely to succeed; else nothing has begun.
    func beginBriefUse() -> Bool
    /// Ends that mode.
    ///
    /// - Returns: Whether the work is complete. Otherwise it is repeated on ``executor``, and continues a begun query.
    func endBriefUse() -> Bool
    /// Stops the running statement, from any thread; `nil` if the engine checks for cancelled tasks itself.
    var canceller: (@Sendable () -> Void)? { get }
    /// Clears a cancellation.
    func endCancellation() throws(RelataError)
    /// Clears a cancellation and rolls back open work, at the end of a call.
    func makeReusable()
    /// Whether the transaction failed because of others, so that a retry may succeed.
    var mayTryAgain: Bool { get }
    /// Closes the connection, whose statements are released already.
    func close() throws(RelataError)

    /// Begins a transaction together with its first statement, which saves a round trip.
    ///
    /// - Returns: Whether it does; otherwise the statement is run.
    func beginLater(_ statement: String) -> Bool
    /// Sends the next statement, if it is the first of the open transaction, together with its commit, which saves a round
    /// trip. If that statement changes no row, the transaction is open afterwards.
    ///
    /// - Parameter willCommit: Is called before. Does its part of the commit; `nil` to send the next statement as usual.
    func commitWithNextStatement(_ willCommit: (() throws -> Void)?)
    /// Whether the transaction was committed in that way.
    var hasCommittedEarly: Bool { get }
    /// Refuses to commit a transaction that an error has rolled back already.
    func checkBeforeCommit() throws(RelataError)
    /// Whether a transaction is open.
    var isInTransaction: Bool { get }
    /// A number for the state of the database that the open transaction reads: it differs from earlier ones of the same
    /// connection if any process has committed a change since.
    ///
    /// `nil` if the engine has no such number, nothing was read yet, or the transaction writes.
    var stateNumber: UInt32? { get }
    /// The number of rows the last statement inserted, updated or deleted itself.
    var changes: Int { get }
    /// The number of rows the connection has changed so far, including those changed by triggers and foreign keys, as
    /// far as the engine counts them.
    var totalChanges: Int { get }
    /// The key that the database gave the last row that it inserted.
    var lastInsertedKey: Int64 { get }
    /// Clears that key: it is the lowest number until a row is inserted again.
    func forgetLastInsertedKey()

    // MARK: Effects of statements

    /// The reads and writes of a statement, including triggers and foreign key actions; `nil` if they can't be
    /// determined.
    func access(of statement: Statement) -> StatementAccess?
    /// Whether recorded accesses of statements may be outdated, because the schema has changed.
    var hasRecompiled: Bool { get }
    /// Accesses that are recorded from now on are valid.
    func forgetRecompilation()
    /// The table that a change of the schema writes.
    var catalogTable: String { get }

    /// The plan of a query, step by step.
    func plan(of statement: SQLStatement, _ connection: Connection) throws(RelataError) -> [PlanStep]

    /// The storage of the durable change log, which also notifies other processes of commits.
    var changeLog: any ChangeLogStorage { get }

    // MARK: References

    /// Whether references wait for the end of the transaction to be checked.
    func referencesWait() throws(RelataError) -> Bool
    /// Has references wait, or checks them statement by statement again.
    func setReferencesWait(_ wait: Bool) throws(RelataError)
    /// Whether a reference dangles that is checked at the end of the transaction, which then can't be committed.
    var hasDanglingReferences: Bool { get }

    // MARK: The schema

    /// Whether a table exists.
    func hasTable(_ name: String, _ connection: Connection) throws(RelataError) -> Bool
    /// The database's own tables. With names, no other tables are read.
    ///
    /// - Parameter hidesReserved: Whether tables of other programs with reserved names are left out.
    func tables(
        named names: [String]?, hidesReserved: Bool, _ connection: Connection
    ) throws(RelataError) -> [TableDescription]
    /// All tables and views of a database of any program, in every schema; `nil` if an engine has none besides
    /// ``tables(named:hidesReserved:_:)``.
    ///
    /// - Parameter including: Schemas of the server's own that are looked at too.
    func foreignTables(including schemas: [String], _ connection: Connection) throws(RelataError) -> ForeignTables?
    /// The approximate numbers of rows of tables, as the planner's statistics have them, by the tables' names and, on an
    /// engine with several schemas, by their full names. A table without statistics is missing.
    func estimatedRows(_ connection: Connection) throws(RelataError) -> [String: Int64]
    /// The number of rows of each table the open transaction has changed so far, by the tables' full names; `nil` if
    /// the engine doesn't count them.
    func rowChanges(_ connection: Connection) throws(RelataError) -> [String: RowChanges]?
    /// Whether stores in other processes are notified of commits, because the database has the required objects.
    func tellsOthers(_ connection: Connection) throws(RelataError) -> Bool
    /// The names of a table's columns; none for a missing table.
    func columnNames(of table: String, _ connection: Connection) throws(RelataError) -> [String]
    /// Objects with the name of a table that aren't read as one, and their kinds.
    func otherTables(_ connection: Connection) throws(RelataError) -> [String: String]
    /// The indexes of whole tables, the key's included, and their columns, empty names for expressions.
    func indexes(
        of table: String, _ connection: Connection
    ) throws(RelataError) -> [(name: String, columns: [String])]
    /// The names of a table's triggers, in order.
    func triggers(of table: String, _ connection: Connection) throws(RelataError) -> [String]
    /// The search indexes that the engine doesn't update by itself.
    func searchIndexes(_ connection: Connection) throws(RelataError) -> [SearchIndex]
    /// The collation of a column, as `CREATE INDEX` names it; `nil` for the one that compares bytes.
    func collation(of column: String, in table: String) -> String?
    /// Whether a column takes texts for equal only if they differ in nothing but the case of ASCII, spaces at the end, and
    /// what follows U+0000.
    ///
    /// `false` if that isn't known.
    func comparesPlainly(
        _ column: String, of table: String, _ connection: Connection
    ) throws(RelataError) -> Bool
    /// The last key that the database assigned to a row of a table, even if it was deleted; 0 for none.
    func lastAssignedKey(of table: String, _ connection: Connection) throws(RelataError) -> Int64
    /// The names of other schemas that hold tables, on an engine that has several.
    func otherSchemas(_ connection: Connection) throws(RelataError) -> [String]
    /// The foreign keys to tables of its own schema that readable tables of other schemas hold, on an engine that has
    /// several.
    func keysOfOtherSchemas(_ connection: Connection) throws(RelataError) -> [ForeignTables.Stray]
    /// Makes the database assign keys after this one, and after the existing ones.
    func assignKeys(
        after key: Int64, of table: String, column: String, _ connection: Connection
    ) throws(RelataError)
    /// A table's rules for its rows besides keys and indexes: the names of its conditions, or their text.
    func conditions(of table: TableDescription, _ connection: Connection) throws(RelataError) -> [String]
    /// Refuses a database that was moved or removed since it was opened: writes to it would be lost.
    ///
    /// - Throws: ``RelataError/fileAccess(path:_:)``.
    func checkIsInPlace() throws(RelataError)
    /// Damage in the database's own files, as far as the engine can detect it.
    func damage(_ connection: Connection) throws(RelataError) -> EngineDamage
}

extension EngineDriver {
    package func beginLater(_ statement: String) -> Bool { false }
    package func commitWithNextStatement(_ willCommit: (() throws -> Void)?) {}
    package var hasCommittedEarly: Bool { false }
    package func beginBriefUse() -> Bool { false }
    package func endBriefUse() -> Bool { false }
    package func collector(for statement: RunningStatement) -> RemoteRows? { nil }
    package var canSendTogether: Bool { false }
    package func send(_ statements: [RunningStatement]) throws(RelataError) {}
    package func endSending() {}
    package func otherSchemas(_ connection: Connection) throws(RelataError) -> [String] { [] }
    package func keysOfOtherSchemas(_ connection: Connection) throws(RelataError) -> [ForeignTables.Stray] { [] }
    package func searchIndexes(_ connection: Connection) throws(RelataError) -> [SearchIndex] { [] }
    package func copier(into table: Table, like collector: RemoteRows) throws(RelataError) -> RemoteRows? { nil }
    package var changeLog: any ChangeLogStorage { NumberedChangeLog() }
    package func rowChanges(_ connection: Connection) throws(RelataError) -> [String: RowChanges]? { nil }
    package func tellsOthers(_ connection: Connection) throws(RelataError) -> Bool { false }
    package func foreignTables(
        including schemas: [String], _ connection: Connection
    ) throws(RelataError) -> ForeignTables? { nil }
}

/// A step of the plan by which an engine runs a query.
package struct PlanStep: Sendable {
    /// Its number in the plan.
    package let id: Int64
    /// The number of the step that it is a part of; 0 for none.
    package let parent: Int64
    /// The action, in the engine's words.
    package let detail: String

    /// A step.
    package init(id: Int64, parent: Int64, detail: String) {
        self.id = id
        self.parent = parent
        self.detail = detail
    }
}

/// An engine's error for damaged files.
package struct EngineDamage {
    /// The problems that were found.
    package var problems: [String] = []
    /// Whether other data can be read.
    package var isReadable = true
    /// The advice on how to fix the problems.
    package var fix = ""
    /// A safe repair; `nil` if there is none.
    package var repair: IntegrityRepair?

    /// Nothing is damaged.
    package init() {}
}
