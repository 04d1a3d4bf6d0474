public import Relata
import RelataCore
import Synchronization

/// Records the SQL that a store runs. A test can check how many statements a piece of code takes, and that none of them
/// reads a whole table.
///
/// ```swift
/// let recorder = StatementRecorder()
/// let store = try Store.inMemory(for: Book.self, options: recorder.options)
/// try recorder.expectQueries(2) { _ = try store.fetch(Book.all.including { $0.authors }) }
/// ```
///
/// It belongs to no test framework: an expectation that isn't met is an error that is thrown.
public final class StatementRecorder: Sendable {
    private let recorded = Mutex<[String]>([])

    /// A recorder that has recorded nothing.
    public init() {}

    /// Options for a store whose statements this recorder records.
    public var options: Store.Options { options(Store.Options()) }

    /// Returns a copy of the options that also records the statements here, in addition to their own trace.
    public func options(_ base: Store.Options) -> Store.Options {
        var options = base
        let trace = base.trace
        options.trace = { [self] sql, duration in
            recorded.withLock { $0.append(sql) }
            trace?(sql, duration)
        }
        return options
    }

    /// The statements recorded so far, in order, without those that only begin or end transactions.
    public var statements: [String] {
        recorded.withLock { $0 }.filter { sql in
            !["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA"].contains { sql.hasPrefix($0) }
        }
    }

    /// Clears the recording.
    public func reset() { recorded.withLock { $0 = [] } }

    /// Runs code and checks that it took exactly the given number of statements.
    ///
    /// - Throws: ``UnexpectedStatements`` with the SQL of all statements, and the errors of `body`.
    @discardableResult
    public func expectQueries<Result>(_ count: Int, _ body: () throws -> Result) throws -> Result {
        reset()
        let result = try body()
        try check(count)
        return result
    }

    /// Runs async code and checks that it took an exact number of statements. Nothing else should use the store at that
    /// time.
    ///
    /// - Throws: The errors of the call without `async`.
    @discardableResult
    public func expectQueries<Result: Sendable>(
        _ count: Int, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        reset()
        let result = try await body()
        try check(count)
        return result
    }

    /// Runs code and checks that none of its queries reads a whole table that an index should serve.
    ///
    /// - Throws: ``FullTableScan`` with the statement and its plan, and the errors of `body`.
    @discardableResult
    public func expectIndexed<Result>(on store: Store, _ body: () throws -> Result) throws -> Result {
        reset()
        let result = try body()
        let statements = queries()
        defer { reset() }
        for sql in statements { try check(sql, plan: try store.rows(explain(sql)), in: store.schema) }
        return result
    }

    /// Runs async code and checks that none of its queries reads a whole table that an index should serve. Nothing else
    /// should use the store at that time.
    ///
    /// - Throws: ``FullTableScan`` with the statement and its plan, and the errors of `body`.
    @discardableResult
    public func expectIndexed<Result: Sendable>(
        on store: Store, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        reset()
        let result = try await body()
        let statements = queries()
        defer { reset() }
        for sql in statements { try check(sql, plan: try await store.rows(explain(sql)), in: store.schema) }
        return result
    }

    /// The statements that read, each once.
    private func queries() -> [String] {
        Set(statements.filter { sql in ["SELECT", "UPDATE", "DELETE", "WITH"].contains { sql.hasPrefix($0) } }).sorted()
    }

    private func explain(_ sql: String) -> SQL { SQL(stringLiteral: "EXPLAIN QUERY PLAN " + sql) }

    private func check(_ sql: String, plan rows: [[Value]], in schema: Schema) throws {
        let plan = rows.compactMap { $0.last?.description }
        if plan.contains(where: { Self.isScan($0, of: schema) }) { throw FullTableScan(sql: sql, plan: plan) }
    }

    private func check(_ count: Int) throws {
        let statements = statements
        if statements.count != count { throw UnexpectedStatements(expected: count, statements: statements) }
    }

    /// Whether a step reads all rows of a table, in the table's order or an index's. A list that was bound, a subquery
    /// and a recursive table are read whole by nature.
    private static func isScan(_ step: String, of schema: Schema) -> Bool {
        let words = step.split(separator: " ")
        guard words.count >= 2, words[0] == "SCAN", !step.contains("VIRTUAL TABLE") else { return false }
        let name = words[1]
        let isAlias = name.hasPrefix("t") && name.dropFirst().allSatisfy(\.isNumber) && name.count > 1
        return isAlias || schema.tables.contains { $0.sqlName == name } || schema.joins.contains { $0.table == name }
    }
}

/// Code took another number of statements than expected.
public struct UnexpectedStatements: Error, CustomStringConvertible {
    /// The expected number.
    public let expected: Int
    /// The statements that were run.
    public let statements: [String]

    /// The numbers, and each statement on a line.
    public var description: String {
        "expected \(expected) statements, and there were \(statements.count):\n"
            + statements.enumerated().map { "  \($0 + 1). \($1)" }.joined(separator: "\n")
    }
}

/// A query reads a whole table.
public struct FullTableScan: Error, CustomStringConvertible {
    /// The statement.
    public let sql: String
    /// The steps of its plan.
    public let plan: [String]

    /// The statement, and each step of its plan on a line.
    public var description: String {
        "a whole table is read: add an index with #Index or @Attribute(.unique)\n  \(sql)\n"
            + plan.map { "    \($0)" }.joined(separator: "\n")
    }
}
