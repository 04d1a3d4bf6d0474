#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine

/// The changes of tables in PostgreSQL.
extension PostgresDriver {
    /// The lock for changing tables, which belongs to the schema. A migration holds it on the connection, other changes
    /// until the end of the transaction.
    private static let schemaLock =
        "788507589, coalesce(to_regnamespace(quote_ident(current_schema()))::oid::integer, 0)"

    package func makeReady(_ connection: Connection) throws(RelataError) {
        guard try connection.value(SQLStatement(PostgresFunctions.installed)) != .text(PostgresFunctions.comment),
            try !isReadOnly(connection)
        else { return }
        try naming(connection) { () throws(RelataError) in try connection.execute(PostgresFunctions.script) }
    }

    package func isReadOnly(_ connection: Connection) throws(RelataError) -> Bool {
        let query = "SELECT current_setting('transaction_read_only')::text"
        return try connection.value(SQLStatement(query)) == .text("on")
    }

    package func changingTables<Result>(_ connection: Connection, _ body: () throws -> Result) throws -> Result {
        guard !connection.isInTransaction else {
            throw RelataError.invalidUse("a migration needs its own transaction: open the store outside of one")
        }
        // The holder of the lock may change tables.
        if schemaLockKeeper != nil { return try body() }
        schemaLockKeeper = try makeLockKeeper()
        defer { schemaLockKeeper = nil }
        try lockSchema(connection)
        defer {
            // Also runs after a cancellation, when no other statement starts. Rolls back open work.
            makeReusable()
            if let schemaLockKeeper {
                schemaLockKeeper.rollBack()
            } else {
                let unlocked = try? connection.value(SQLStatement("SELECT pg_advisory_unlock(\(Self.schemaLock))"))
                if unlocked == nil { spoil() }
            }
            connection.clearStatements()
        }
        do {
            return try body()
        } catch let error as RelataError {
            throw named(error, connection)
        }
    }

    /// The tables' version is recorded from the beginning: if another process has raised it since, a transaction that
    /// creates a class fails and runs again.
    package func makingOwnTables(_ connection: Connection, _ body: () throws -> Void) throws {
        try changingTables(connection) {
            try connection.transaction {
                if try tableVersion(connection) == 0 { try raiseTableVersion(connection) }
                try body()
            }
        }
    }

    /// A session whose open transaction holds the lock when a pooler is in use: the next transaction would have another
    /// connection, and the lock would stay on the previous one.
    private func makeLockKeeper() throws(RelataError) -> Session? {
        guard session.isPooled else { return nil }
        return try run { (session) throws(PostgresFailure) in
            let keeper = try Session(session.url, poolsTransactions: true)
            // Between its statements it holds no snapshot, for whose end the creation of an index would wait.
            try keeper.run("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 0")
            return keeper
        }
    }

    private func tryLockingSchema(_ connection: Connection) throws(RelataError) -> Bool {
        guard let schemaLockKeeper else {
            let query = "SELECT pg_try_advisory_lock(\(Self.schemaLock))::integer::bigint"
            return try connection.value(SQLStatement(query)) == .integer(1)
        }
        let query = "SELECT pg_try_advisory_xact_lock(\(Self.schemaLock))::integer::bigint"
        let rows = try run { (_) throws(PostgresFailure) in try schemaLockKeeper.execute(SQLStatement(query)) }
        return try rows[0][0].integer() == 1
    }

    /// Requests the lock repeatedly: a statement that waits for it would block the creation of an index, which waits
    /// for all statements that began before.
    private func lockSchema(_ connection: Connection) throws {
        let deadline = ContinuousClock.now + lockTimeout
        var pause = 0.002
        while try !tryLockingSchema(connection) {
            try Task.checkCancellation()
            guard ContinuousClock.now < deadline else {
                throw RelataError.busy("another process changes the tables of \(connection.path): try again later")
            }
            Thread.sleep(forTimeInterval: pause)
            pause = min(pause * 2, 0.05)
        }
    }

    /// A transaction that saw the tables before others changed them fails, and runs again:
    /// ``beginChangingTablesFirst(_:_:)`` begins it then.
    package func beginChangingTables(_ connection: Connection) throws(RelataError) {
        if schemaLockKeeper == nil {
            _ = try connection.value(SQLStatement("SELECT pg_advisory_xact_lock(\(Self.schemaLock))"))
        }
        guard try connection.hasTable("relata_metadata") else { return }
        do {
            // Every change of the tables writes this row, so the server detects it.
            try connection.execute(
                "UPDATE \"relata_metadata\" SET value = value WHERE name = '\(Metadata.tableVersionName)'")
        } catch {
            hasSeenOldTables = mayTryAgain
            throw error
        }
    }

    /// Begins a transaction again that failed because others had changed the tables. It gets the lock for that before it
    /// sees anything, so it waits its turn once, and doesn't fail for that reason again.
    func beginChangingTablesFirst(_ connection: Connection, _ statement: String) throws(RelataError) {
        hasSeenOldTables = false
        defer {
            // A cancellation stops the statements of the transaction, but not this one: the lock may be there even if
            // waiting for it failed.
            let isCancelled = session.cancellation.isRequested
            session.endCancellation()
            let unlocked = try? connection.value(SQLStatement("SELECT pg_advisory_unlock(\(Self.schemaLock))"))
            if unlocked == nil { spoil() }
            if isCancelled { session.cancellation.cancel() }
        }
        _ = try connection.value(SQLStatement("SELECT pg_advisory_lock(\(Self.schemaLock))"))
        try connection.begin(statement)
        do {
            // From here on it is the transaction's own.
            _ = try connection.value(SQLStatement("SELECT pg_advisory_xact_lock(\(Self.schemaLock))"))
        } catch {
            makeReusable()
            throw error
        }
    }

    package func holdRows(of table: String, _ connection: Connection) throws(RelataError) {
        // A read-only transaction changes nothing anyway.
        if try isReadOnly(connection) { return }
        try connection.execute("LOCK TABLE \(dialect.quote(table)) IN SHARE ROW EXCLUSIVE MODE")
    }

    package func completing(
        _ connection: Connection, _ body: () throws(RelataError) -> Void
    ) throws(RelataError) { try body() }

    /// The server refuses to drop objects that dependents need.
    package func brokenDependents(_ connection: Connection) throws(RelataError) -> [String: String] { [:] }

    /// The server refuses dangling references when a key is created.
    package func danglingReferences(_ connection: Connection) throws(RelataError) -> [[String]: Int] { [:] }

    package func makeIndex(_ index: LaterIndex, _ connection: Connection) throws(RelataError) {
        let name = dialect.quote(index.index.name)
        // It waits for every transaction that began before, for any time.
        _ = try run { (session) throws(PostgresFailure) in
            try session.apply(SessionSettings(statementTimeout: .zero, lockTimeout: .zero))
        }
        defer {
            session.endCancellation()
            _ = try? run { (session) throws(PostgresFailure) in try session.apply(settings) }
        }
        let leftOver = """
            SELECT 1 FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
            WHERE i.relname = $1::text AND i.relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND NOT x.indisvalid
            """
        if try connection.value(SQLStatement(leftOver, [.value(.text(index.index.name))])) != nil {
            try connection.execute("DROP INDEX CONCURRENTLY \(name)")
        }
        try connection.execute(
            SchemaDDL.createIndex(index.index, on: index.table, dialect: dialect, isConcurrent: true))
    }

    package func owner(ofName name: String, _ connection: Connection) throws(RelataError) -> String? {
        let sql = """
            SELECT CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence'
                WHEN 'i' THEN 'index' WHEN 'I' THEN 'index' WHEN 'c' THEN 'type' WHEN 'f' THEN 'foreign table'
                ELSE 'table' END || CASE WHEN relnamespace = 'pg_catalog'::regnamespace THEN ' of its own' ELSE '' END
            FROM pg_class WHERE relname = $1::text
                AND relnamespace IN (to_regnamespace(quote_ident(current_schema())), 'pg_catalog'::regnamespace) LIMIT 1
            """
        return try connection.value(SQLStatement(sql, [.value(.text(name))])).map {
            "the database has \($0.description.withArticle)"
        }
    }

    // MARK: The tables' version

    /// Migrations are counted; manual changes are seen when the store is opened again.
    package func tableVersion(_ connection: Connection) throws(RelataError) -> Int64 {
        if !knowsMetadata {
            guard try connection.hasTable("relata_metadata") else { return 0 }
            knowsMetadata = true
        }
        let rows = try runOwn(
            "SELECT CAST(value AS bigint) FROM relata_metadata WHERE name = '\(Metadata.tableVersionName)'")
        let version = rows.first?.integer(0) ?? 0
        // A statement keeps the types that its parameters had when it was prepared.
        if let knownTableVersion, knownTableVersion != version { connection.clearStatements() }
        knownTableVersion = version
        return version
    }

    package var raisesTableVersion: Bool { false }

    package func raiseTableVersion(_ connection: Connection) throws(RelataError) {
        try Metadata.writeTableVersion(try tableVersion(connection) + 1, connection)
    }

    // MARK: Rights

    private func naming(
        _ connection: Connection, _ body: () throws(RelataError) -> Void
    ) throws(RelataError) {
        do {
            try body()
        } catch {
            throw named(error, connection)
        }
    }

    /// An error that names the missing right, and how to grant it.
    private func named(_ error: RelataError, _ connection: Connection) -> RelataError {
        guard case .fileAccess(let path, let message) = error, message.contains("lacks a privilege") else {
            return error
        }
        let query = "SELECT quote_ident(current_user), quote_ident(current_schema()), quote_ident(current_database())"
        guard let names = try? connection.values(SQLStatement(query)).first?.map(\.description) else { return error }
        let fix: String
        if message.contains("must be owner of") {
            fix = "let the owner of the table open the store, or REASSIGN it to \(names[0])"
        } else if message.contains("for database") {
            fix =
                "GRANT CREATE ON DATABASE \(names[2]) TO \(names[0]), or let a role that has the right open the store first"
        } else if message.contains("for schema relata") {
            fix = "GRANT USAGE ON SCHEMA relata TO \(names[0])"
        } else if message.contains("for schema") {
            fix = "GRANT USAGE, CREATE ON SCHEMA \(names[1]) TO \(names[0])"
        } else {
            return error
        }
        let said = message.firstRange(of: "(").flatMap { start in
            message.firstRange(of: ")").map { String(message[start.upperBound..<$0.lowerBound]) }
        }
        return .fileAccess(path: path, "the role \(names[0]) lacks a privilege (\(said ?? message)): \(fix)")
    }
}
#endif
