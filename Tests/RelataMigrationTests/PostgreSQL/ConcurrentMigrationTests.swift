#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataEngine
import RelataPostgres
import Synchronization
import TestSupport
import Testing

/// Migrations while others use the database, and those that were interrupted.
@Suite(.enabled(if: TestEngine.hasPostgres, TestEngine.missing)) struct ConcurrentMigrationTests {
    private let plain = book(.attribute("title"))
    private let indexed = book(.attribute("title"), indexes: [["title"]])

    /// A separate database with one row: making an index waits for open transactions in the same database.
    private func filled() throws -> TestDatabase {
        let database = try PrivateCluster.shared.makeDatabase()
        let connection = try TestEngine.postgresConnection(database.url)
        try Migrator.migrate(connection, schema: try Schema([plain]))
        try connection.execute("INSERT INTO \"Book\" VALUES (1, 'Emma')")
        return database
    }

    @Test func indexesOfFilledTablesAreBuiltConcurrently() throws {
        let database = try filled()
        defer { withExtendedLifetime(database) {} }
        let statements = Mutex<[String]>([])
        let connection = try TestEngine.postgresConnection(database.url) { sql, _ in
            statements.withLock { $0.append(sql) }
        }
        let plan = try Migrator.migrate(connection, schema: try Schema([indexed]))
        #expect(plan.laterIndexes.map(\.table) == ["Book"])
        #expect(statements.withLock { $0 }.contains { $0.hasPrefix("CREATE INDEX CONCURRENTLY") })
        #expect(try Introspection.tables(of: connection)[0].isIndexed(["title"]))
        #expect(try Migrator.migrate(connection, schema: try Schema([indexed])).isEmpty)
        #expect(try connection.lines("SHOW lock_timeout") == ["5s"])
    }

    @Test func indexesOfEmptyTablesAreBuiltInTheTransaction() throws {
        let connection = try TestEngine.postgres.connection()
        try Migrator.migrate(connection, schema: try Schema([plain]))
        #expect(try Migrator.migrate(connection, schema: try Schema([indexed])).laterIndexes.isEmpty)
        #expect(try Introspection.tables(of: connection)[0].isIndexed(["title"]))
    }

    @Test func aTransactionThatSawOldTablesFailsOnlyOnce() throws {
        let database = try filled()
        defer { withExtendedLifetime(database) {} }
        let engine = try PostgresEngine(url: PostgresURL(database.url))
        let (first, second) = (try engine.connect(.writing, waits: true), try engine.connect(.writing, waits: true))
        func change(_ connection: Connection) throws {
            try connection.driver.beginChangingTables(connection)
            try connection.driver.raiseTableVersion(connection)
        }
        try second.transaction { try change(second) }
        try engine.beginWriting(first)
        #expect(try first.lines("SELECT title FROM \"Book\"") == ["Emma"])
        try second.transaction { try change(second) }
        #expect(throws: RelataError.self) { try change(first) }
        #expect(first.driver.mayTryAgain)
        first.driver.makeReusable()
        try engine.beginWriting(first)
        // From its beginning on, nobody else can change the tables.
        let lock =
            "SELECT pg_try_advisory_lock(788507589, to_regnamespace(quote_ident(current_schema()))::oid::integer)::integer"
        #expect(try second.lines(lock) == ["0"])
        #expect(try first.lines("SELECT title FROM \"Book\"") == ["Emma"])
        try change(first)
        try first.commit()
        // And its end leaves nothing behind.
        #expect(try second.lines(lock) == ["1"])
    }

    @Test func anInterruptedIndexIsRebuilt() throws {
        let database = try filled()
        defer { withExtendedLifetime(database) {} }
        let first = try TestEngine.postgresConnection(database.url)
        let blocker = try TestEngine.postgresConnection(database.url)
        // An open transaction keeps the index from becoming valid, until the statement is stopped.
        try blocker.begin("BEGIN")
        try blocker.execute("INSERT INTO \"Book\" VALUES (2, 'Emma')")
        let canceller = try #require(first.driver.canceller)
        let name = try #require(
            try Migrator.prepare(first, schema: try Schema([indexed])).laterIndexes.first?.index.name)
        let stopped = Thread { [url = database.url] in
            // In any case, the statement ends.
            defer { canceller() }
            let watcher = try? TestEngine.postgresConnection(url)
            // Its catalog entry shows that it waits for the transaction.
            for _ in 0..<2000 {
                let found = try? watcher?.lines(
                    "SELECT 1 FROM pg_class WHERE relname = '\(name)' AND relnamespace = current_schema()::regnamespace"
                )
                if found == ["1"] { return }
                Thread.sleep(forTimeInterval: 0.005)
            }
            Issue.record("the index was not begun within 10 seconds")
        }
        stopped.start()
        #expect(throws: RelataError.self) { try Migrator.migrate(first, schema: try Schema([indexed])) }
        #expect(try first.lines("SHOW lock_timeout") == ["5s"])
        try blocker.execute("COMMIT")
        let invalid = "SELECT indisvalid FROM pg_index WHERE indexrelid = '\"\(name)\"'::regclass"
        #expect(try blocker.lines(invalid) == ["0"])
        try Migrator.migrate(blocker, schema: try Schema([indexed]))
        #expect(try blocker.lines(invalid) == ["1"])
        #expect(try Introspection.tables(of: blocker)[0].indexes.map(\.name) == [name])
        #expect(try Migrator.migrate(blocker, schema: try Schema([indexed])).isEmpty)
    }

    @Test func concurrentOpensCreateTheDatabaseOnce() async throws {
        let url = try TestEngine.postgresURL()
        let schema = try Schema([plain, genre])
        let changes = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try Migrator.migrate(try TestEngine.postgresConnection(url), schema: schema).changes.count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(changes == 2)
    }

    @Test func openingDuringAMigrationReportsTheMigration() throws {
        let url = try TestEngine.postgresURL()
        let first = try TestEngine.postgresConnection(url)
        let engine = try PostgresEngine(url: PostgresURL(url), waits: PostgresWaits(busy: 0.05))
        let second = try engine.connect(.writing, waits: true)
        let schema = try Schema([plain])
        try first.driver.changingTables(first) {
            let error = #expect(throws: RelataError.self) { try Migrator.migrate(second, schema: schema) }
            guard case .busy(let message)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains("another process changes the tables"))
        }
        try Migrator.migrate(second, schema: schema)
    }

    @Test func missingPrivilegesAreNamed() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let owner = try Session(PostgresURL(database.url))
        let role = "poor_" + UUID().uuidString.prefix(8).lowercased()
        try owner.run("CREATE ROLE \(role) LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        let url = try PrivateCluster.shared.url(database: database.name, user: role)
        let engine = try PostgresEngine(url: PostgresURL(url))
        let connection = try engine.connect(.writing, waits: true)
        #expect {
            try connection.driver.makeReady(connection)
        } throws: {
            "\($0)".contains("GRANT CREATE ON DATABASE \(database.name) TO \(role)")
        }
        connection.driver.makeReusable()
        try owner.run("GRANT CREATE ON DATABASE \"\(database.name)\" TO \(role)")
        try connection.driver.makeReady(connection)
        let schema = try Schema([plain])
        #expect {
            try Migrator.migrate(connection, schema: schema)
        } throws: {
            "\($0)".contains("GRANT USAGE, CREATE ON SCHEMA public TO \(role)")
        }
        try owner.run("GRANT USAGE, CREATE ON SCHEMA public TO \(role)")
        try Migrator.migrate(connection, schema: schema)
        try owner.run("ALTER TABLE \"Book\" OWNER TO postgres")
        #expect {
            try Migrator.migrate(connection, schema: try Schema([book(.attribute("title", isOptional: true))]))
        } throws: {
            "\($0)".contains("must be owner of table Book") && "\($0)".contains("REASSIGN")
        }
        connection.clearStatements()
        try connection.close()
    }
}
#endif
