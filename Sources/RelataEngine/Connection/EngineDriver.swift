import RelataCore

/// What an engine does for one connection: it prepares statements and knows what became of them. All else a
/// ``Connection`` does by itself, with SQL that the engine's dialect writes.
package protocol EngineDriver: MigrationDriver {
    /// The SQL that it understands.
    var dialect: Dialect { get }
    /// What it does differently from others.
    var capabilities: EngineCapabilities { get }

    /// Prepares the one statement of a text.
    func prepare(_ sql: String) throws(RelataError) -> Statement
    /// Runs SQL text that may hold several statements, without parameters.
    func execute(script: String) throws(RelataError)
    /// What a script reads and writes, which is run while that is found out.
    func executeNoting(script: String) throws(RelataError) -> StatementAccess
    /// Binds a list of values or keys to one parameter; the first is 1.
    func bind(_ list: Parameter, to statement: RunningStatement, at index: Int32) throws(RelataError)
    /// Binds rows of values to one parameter, each of so many columns.
    func bind(
        rows: Range<Int>, columns: Int, to statement: RunningStatement, at index: Int32, _ row: (Int) -> [Value]
    ) throws(RelataError)
    /// What collects rows for a statement that takes a list for each column; `nil` where the engine knows no such
    /// statements, or has no list of a column's type.
    func collector(for statement: RunningStatement) -> RemoteRows?
    /// What copies rows into a table; `nil` where they can't be copied in the form that `collector` takes.
    func copier(into table: Table, like collector: RemoteRows) throws(RelataError) -> RemoteRows?
    /// Why a step failed.
    func error(_ result: StepResult, _ statement: RunningStatement) -> RelataError
    /// Whether a statement writes something when it is run.
    func writes(_ statement: Statement) -> Bool
    /// Where statements run that block a thread, for calls of tasks; `nil` where the task's own thread serves.
    var executor: (any TaskExecutor)? { get }
    /// Begins to answer on the caller's own thread, which may run a single statement that only reads. Where more is needed,
    /// or the answer takes long, the statement fails.
    ///
    /// - Returns: Whether that is likely to succeed; else nothing has begun.
    func beginBriefUse() -> Bool
    /// Ends that.
    ///
    /// - Returns: Whether what was done is done. Else it is done again on ``executor``, and finds there what was begun.
    func endBriefUse() -> Bool
    /// Stops the statement that runs, from any thread; `nil` where the engine looks for cancelled tasks by itself.
    var canceller: (@Sendable () -> Void)? { get }
    /// Forgets that a statement was to be stopped.
    func endCancellation() throws(RelataError)
    /// Forgets a cancellation and takes back what is still open, once a call is over.
    func makeReusable()
    /// Whether the transaction failed because of others, so that the same may succeed once they are done.
    var mayTryAgain: Bool { get }
    /// Closes the connection, whose statements are gone.
    func close() throws(RelataError)

    /// Begins a transaction together with its first statement, which saves a round trip.
    ///
    /// - Returns: Whether it does; else the statement is run.
    func beginLater(_ statement: String) -> Bool
    /// Refuses to commit a transaction that an error has taken back already.
    func checkBeforeCommit() throws(RelataError)
    /// Whether a transaction is open.
    var isInTransaction: Bool { get }
    /// How many rows the last statement inserted, updated or deleted itself.
    var changes: Int { get }
    /// How many rows the connection changed so far, those that triggers and foreign keys changed included, as far as the
    /// engine counts them.
    var totalChanges: Int { get }
    /// The key that the database gave the last row that it inserted.
    var lastInsertedKey: Int64 { get }
    /// Forgets that key: it is the lowest number until a row is inserted again.
    func forgetLastInsertedKey()

    // MARK: What statements do

    /// What a statement reads and writes, triggers and foreign key actions included; `nil` where that can't be found out.
    func access(of statement: Statement) -> StatementAccess?
    /// Whether what was found out of statements may no longer be true, because the schema changed meanwhile.
    var hasRecompiled: Bool { get }
    /// What is found out from now on is true.
    func forgetRecompilation()
    /// The table that a change of the schema writes.
    var catalogTable: String { get }

    /// How a query would be run, step by step.
    func plan(of statement: SQLStatement, _ connection: Connection) throws(RelataError) -> [PlanStep]

    /// How the durable change log is kept, and other processes are told of commits.
    var changeLog: any ChangeLogStorage { get }

    // MARK: References

    /// Whether references wait for the end of the transaction to be checked.
    func referencesWait() throws(RelataError) -> Bool
    /// Has references wait, or checks them statement by statement again.
    func setReferencesWait(_ wait: Bool) throws(RelataError)
    /// Whether a reference dangles that is checked at the end of the transaction, which then can't be committed.
    var hasDanglingReferences: Bool { get }

    // MARK: The schema

    /// Whether a table is there.
    func hasTable(_ name: String, _ connection: Connection) throws(RelataError) -> Bool
    /// The database's own tables as they are. No other is looked at where names are given.
    ///
    /// - Parameter hidesReserved: Whether other programs' tables are left out, too, whose names are reserved.
    func tables(
        named names: [String]?, hidesReserved: Bool, _ connection: Connection
    ) throws(RelataError) -> [TableDescription]
    /// All tables and views of a database that other programs may have made, in every schema; `nil` where an engine has no
    /// more than ``tables(named:hidesReserved:_:)`` says.
    ///
    /// - Parameter including: Schemas of the server's own that are looked at too.
    func foreignTables(including schemas: [String], _ connection: Connection) throws(RelataError) -> ForeignTables?
    /// How many rows of each table the open transaction has changed so far, by the tables' full names; `nil` where the
    /// engine doesn't count them.
    func rowChanges(_ connection: Connection) throws(RelataError) -> [String: RowChanges]?
    /// Whether stores in other processes are told of what is committed, because the database has what that needs.
    func tellsOthers(_ connection: Connection) throws(RelataError) -> Bool
    /// The names of a table's columns; none where it isn't there.
    func columnNames(of table: String, _ connection: Connection) throws(RelataError) -> [String]
    /// What isn't read as a table and yet has the name of one, and what it is.
    func otherTables(_ connection: Connection) throws(RelataError) -> [String: String]
    /// The indexes of whole tables, the key's included, and their columns, empty names for expressions.
    func indexes(
        of table: String, _ connection: Connection
    ) throws(RelataError) -> [(name: String, columns: [String])]
    /// The names of a table's triggers, in order.
    func triggers(of table: String, _ connection: Connection) throws(RelataError) -> [String]
    /// The search indexes that the engine doesn't keep current by itself.
    func searchIndexes(_ connection: Connection) throws(RelataError) -> [SearchIndex]
    /// The collation of a column, as `CREATE INDEX` names it; `nil` for the one that compares bytes.
    func collation(of column: String, in table: String) -> String?
    /// The last key that the database assigned to a row of a table, be it there or gone; 0 if it assigned none.
    func lastAssignedKey(of table: String, _ connection: Connection) throws(RelataError) -> Int64
    /// The names of other schemas that hold tables, on an engine that has several.
    func otherSchemas(_ connection: Connection) throws(RelataError) -> [String]
    /// Has the database assign keys behind this one, and behind those that there are.
    func assignKeys(
        after key: Int64, of table: String, column: String, _ connection: Connection
    ) throws(RelataError)
    /// What a table says of its rows besides keys and indexes: the names of its conditions, or the words for them.
    func conditions(of table: TableDescription, _ connection: Connection) throws(RelataError) -> [String]
    /// Refuses a database that isn't where it was opened any more: nobody would find what is written to it.
    ///
    /// - Throws: ``RelataError/fileAccess(path:_:)``.
    func checkIsInPlace() throws(RelataError)
    /// What is damaged in the database's own files, as far as the engine can tell.
    func damage(_ connection: Connection) throws(RelataError) -> EngineDamage
}

extension EngineDriver {
    package func beginLater(_ statement: String) -> Bool { false }
    package func beginBriefUse() -> Bool { false }
    package func endBriefUse() -> Bool { false }
    package func collector(for statement: RunningStatement) -> RemoteRows? { nil }
    package func otherSchemas(_ connection: Connection) throws(RelataError) -> [String] { [] }
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
    /// The number of the step that it is a part of; 0 where it is a part of none.
    package let parent: Int64
    /// What is done, in the engine's words.
    package let detail: String

    /// A step.
    package init(id: Int64, parent: Int64, detail: String) {
        self.id = id
        self.parent = parent
        self.detail = detail
    }
}

/// What an engine says of files that are damaged.
package struct EngineDamage {
    /// What is wrong.
    package var problems: [String] = []
    /// Whether what is left can be read.
    package var isReadable = true
    /// What to do about it.
    package var mend = ""
    /// What mends it safely; `nil` where nothing does.
    package var repair: IntegrityRepair?

    /// Nothing is damaged.
    package init() {}
}
