/// The changes that opening a file with these models makes, planned without touching the file.
public struct MigrationPlan: Sendable {
    /// Every difference between the file and the models.
    public internal(set) var changes: [SchemaChange] = []
    /// The names of the migration steps that will run, in order.
    public internal(set) var steps: [String] = []
    /// Whether the file holds no tables yet.
    public internal(set) var isCreation = false

    /// Whether another program made the file and no step adopts it.
    package var isForeign = false
    /// The renames that the file records from now on.
    package var history = RenameHistory()
    /// The statements before the steps: renames, new tables and columns.
    package var preparation: [String] = []
    /// Conditions that must be false after the steps.
    package var checks: [MigrationCheck] = []
    /// The statements after the steps: rebuilt tables, drops, indexes.
    package var completion: [String] = []
    /// Indexes that are created once the rest is committed, so that writers don't wait for them.
    package var laterIndexes: [LaterIndex] = []
    /// The problem of rows if the database refuses a statement of the completion.
    package var explanations: [String: SchemaProblem] = [:]
    /// The columns that statements of the completion drop, by statement: other objects that need them are the reason
    /// for a refusal.
    package var drops: [String: SchemaProblem] = [:]
    /// Conditions that must be false at the end.
    package var finalChecks: [MigrationCheck] = []
    /// The number of compared columns; the others were known to be unchanged.
    package var comparedColumns = 0
    /// Whether tables or indexes are dropped or rebuilt, so that references may dangle afterwards.
    package var mayBreakReferences = false

    /// A plan that changes nothing.
    package init() {}

    /// Whether the file stays unchanged.
    public var isEmpty: Bool {
        changes.isEmpty && steps.isEmpty && preparation.isEmpty && completion.isEmpty && laterIndexes.isEmpty
    }
    /// The changes that prevent the file from being opened.
    public var refusals: [SchemaChange] { changes.filter(\.isRefused) }

    /// Throws if the file isn't opened.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` with every refused change.
    package func checkIsAllowed() throws(RelataError) {
        let refusals = refusals
        guard refusals.isEmpty else {
            throw .schemaMismatch(
                refusals.map { SchemaProblem(entity: $0.entity, property: $0.property, message: $0.message) })
        }
    }
}

extension MigrationPlan: CustomStringConvertible {
    /// One line for each change and step, the refused ones marked.
    public var description: String {
        if isEmpty { return "nothing changes" }
        let lines = changes.map { ($0.isRefused ? "refused: " : "") + "\($0)" } + steps.map { "step: \($0)" }
        return lines.joined(separator: "\n")
    }
}

/// An index that is created after the migration.
package struct LaterIndex: Hashable, Sendable {
    /// The index.
    package let index: IndexDescription
    /// The table's name.
    package let table: String

    init(_ index: IndexDescription, table: String) {
        self.index = index
        self.table = table
    }
}

/// A question about the rows of a database whose answer decides whether a change is possible.
package enum DataQuestion: Hashable, Sendable {
    /// Whether the database has a module of that name, such as a table-valued function, which a table would hide, or a
    /// system table, which would hide it.
    case isModule(name: String)
    /// Whether the name of an index is taken by a table, an index or another object. That of an invalid index of
    /// PostgreSQL is free: it is created again.
    case isTaken(name: String)
    /// Whether the database has a search index, exactly as declared.
    case hasSearch(SearchIndex)
    /// Whether the table has rows.
    case hasRows(table: String)
    /// Whether a row has a value in the column.
    case hasValues(table: String, column: String)
    /// Whether a row holds a number in the column that isn't a 64-bit integer.
    case hasFractions(table: String, column: String)
    /// Whether a row holds a number in the column, PostgreSQL's `numeric`, that no floating-point number is.
    case hasRounded(table: String, column: String)
    /// Whether a row has no value in the column.
    case hasNulls(table: String, column: String)
    /// Whether two rows have the same values in the columns, all of them set.
    case hasDuplicates(table: String, columns: [String])
    /// Whether a row holds a key that the target hasn't.
    case hasDangling(table: String, columns: [String], target: String, targetColumns: [String])
    /// Whether a row holds a value of another storage class than these.
    case hasOtherTypes(table: String, column: String, types: [String])

    /// The question as a query that has a row if the answer is yes.
    package func query(_ dialect: Dialect) -> String {
        switch self {
        case .isModule(let name):
            let name = SchemaDDL.literal(.text(name))
            return dialect == .sqlite
                ? "SELECT 1 FROM \(dialect.functionName("pragma_module_list")) WHERE name = \(name) COLLATE NOCASE"
                : "SELECT 1 FROM pg_class WHERE relname = \(name) AND relnamespace = 'pg_catalog'::regnamespace"
        case .isTaken(let name):
            let name = SchemaDDL.literal(.text(name))
            return dialect == .sqlite
                ? "SELECT 1 FROM sqlite_master WHERE name = \(name) COLLATE NOCASE LIMIT 1"
                : """
                SELECT 1 FROM pg_class AS c LEFT JOIN pg_index AS x ON x.indexrelid = c.oid WHERE c.relname = \(name) \
                AND c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND coalesce(x.indisvalid, true) LIMIT 1
                """
        case .hasSearch(let index): return index.isThere(dialect)
        case .hasRows(let table): return "SELECT 1 FROM \(dialect.quote(table)) LIMIT 1"
        case .hasNulls(let table, let column):
            return "SELECT 1 FROM \(dialect.quote(table)) WHERE \(dialect.quote(column)) IS NULL LIMIT 1"
        case .hasValues(let table, let column):
            return "SELECT 1 FROM \(dialect.quote(table)) WHERE \(dialect.quote(column)) IS NOT NULL LIMIT 1"
        case .hasFractions(let table, let column):
            let number = dialect.quote(column)
            return """
                SELECT 1 FROM \(dialect.quote(table)) WHERE \(number) <> trunc(\(number)) \
                OR \(number) >= 9223372036854775808 OR \(number) < -9223372036854775808 LIMIT 1
                """
        case .hasRounded(let table, let column):
            let number = dialect.quote(column)
            // The text of a floating-point number is exact, and its conversion to a decimal one isn't.
            return """
                SELECT 1 FROM \(dialect.quote(table)) \
                WHERE CAST(CAST(CAST(\(number) AS double precision) AS text) AS numeric) <> \(number) LIMIT 1
                """
        case .hasDuplicates(let table, let columns):
            let list = dialect.list(columns)
            return
                "SELECT \(list) FROM \(dialect.quote(table)) WHERE \(dialect.areSet(columns)) GROUP BY \(list) HAVING count(*) > 1 LIMIT 1"
        case .hasDangling(let table, let columns, let target, let targetColumns):
            return """
                SELECT 1 FROM \(dialect.quote(table)) AS s WHERE \(dialect.areSet(columns, of: "s")) AND NOT EXISTS \
                (SELECT 1 FROM \(dialect.quote(target)) AS t WHERE \(dialect.areSame(targetColumns, of: "t", columns, of: "s"))) LIMIT 1
                """
        case .hasOtherTypes(let table, let column, let types):
            let list = types.map { "'\($0)'" }.joined(separator: ", ")
            return """
                SELECT 1 FROM \(dialect.quote(table)) WHERE typeof(\(dialect.quote(column))) NOT IN (\(list)) LIMIT 1
                """
        }
    }
}

/// A question to the database, and the problem if the answer is yes.
package struct MigrationCheck: Sendable {
    package let question: DataQuestion
    let entity: String
    let property: String?
    /// The problem after the steps, and what a step must do.
    let finding: String
    let fix: String

    /// The problem of the row that the question's query found.
    package func problem(found row: [Value]) -> SchemaProblem {
        var values = ""
        if case .hasDuplicates = question { values = " (\(row.map(\.description).joined(separator: ", ")))" }
        return SchemaProblem(
            entity: entity, property: property, message: "\(finding) after the steps\(values): \(fix)")
    }
}
