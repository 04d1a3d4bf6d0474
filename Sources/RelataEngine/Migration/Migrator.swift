import RelataCore

/// Migrates the tables of a database to the models, on any engine.
///
/// The ``MigrationPlanner`` plans the changes, and the connection's ``MigrationDriver`` does the engine's part.
package enum Migrator {
    /// The changes that opening the database with these models would make, without writing to it.
    package static func prepare(_ connection: Connection, schema: Schema, steps: [MigrationStep] = [])
        throws(RelataError)
        -> MigrationPlan
    {
        try checkNames(of: steps)
        if Metadata.isUnchanged(connection, fingerprint: fingerprint(schema, steps)) { return MigrationPlan() }
        return try plan(connection, schema, steps, try Metadata.read(connection))
    }

    /// Migrates the database to the models, in one transaction, and returns the changes. Indexes of tables with rows
    /// follow, if the engine creates them concurrently; after an interruption, the next call creates the rest.
    ///
    /// An unchanged database costs one look-up.
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` with every lossy change, and errors of steps. The tables are
    ///   unchanged then.
    @discardableResult
    package static func migrate(
        _ connection: Connection, schema: Schema, steps: [MigrationStep] = []
    ) throws -> MigrationPlan {
        try checkNames(of: steps)
        let fingerprint = fingerprint(schema, steps)
        if Metadata.isUnchanged(connection, fingerprint: fingerprint) { return MigrationPlan() }
        if try connection.driver.isReadOnly(connection) {
            let plan = try plan(connection, schema, steps, try Metadata.read(connection))
            try plan.checkIsAllowed()
            guard plan.isEmpty else {
                throw RelataError.readOnly(
                    "the \(connection.dialect.databaseWord) needs a migration, but is open for reading only: open it for "
                        + "writing once (\(plan.changes.map(\.description).joined(separator: "; ")))")
            }
            return plan
        }
        return try connection.driver.changingTables(connection) {
            let plan = try connection.transaction { try run(connection, schema, steps, fingerprint) }
            if plan.laterIndexes.isEmpty { return plan }
            for index in plan.laterIndexes { try connection.driver.makeIndex(index, connection) }
            try Metadata.write(fingerprint: fingerprint, .asDeclared, connection)
            return plan
        }
    }

    /// Prepares the database for a store: migrates it to the models, as ``migrate(_:schema:steps:)``, and reads how its
    /// tables compare foreign keys.
    ///
    /// - Parameter didMigrate: Is called with the changes that were made.
    /// - Returns: The entities with facts that no model declares: another program's column may collate `NOCASE`, so
    ///   that `'ABC'` refers to `'Abc'`. `nil` for a database in which all comparisons agree.
    package static func entities(
        migrating connection: Connection, schema: Schema, steps: [MigrationStep],
        didMigrate: (MigrationPlan) -> Void = { _ in }
    ) throws -> [Entity]? {
        try connection.driver.makeReady(connection)
        let known = Metadata.state(connection, fingerprint: fingerprint(schema, steps))
        if case .unchanged(.asDeclared) = known { return nil }
        if case .changed = known {
            let plan = try migrate(connection, schema: schema, steps: steps)
            if !plan.isEmpty { didMigrate(plan) }
            // Otherwise the first commit would query them.
            try connection.knownSearchIndexes()
        }
        // On other engines, columns that refer to each other are compared in the same way.
        guard connection.dialect == .sqlite else { return nil }
        return schema.entities(comparedBy: try Introspection.tables(of: connection, hidesReserved: false))
    }

    /// Whether a database is as a store needs it, without anything to change or to find out.
    package static func isReady(_ connection: Connection, schema: Schema, steps: [MigrationStep]) -> Bool {
        if case .unchanged(.asDeclared) = Metadata.state(connection, fingerprint: fingerprint(schema, steps)) {
            true
        } else {
            false
        }
    }

    /// Runs `body` in a transaction in which it may apply schemas to the database, together with other changes.
    ///
    /// - Parameter didCommit: Is called right after the transaction is committed, before others can have seen much of
    ///   it.
    /// - Throws: what `body` throws. The file is unchanged then.
    package static func transaction<Result>(
        on connection: Connection, _ body: () throws -> Result, didCommit: (Result) -> Void = { _ in }
    ) throws -> Result {
        try connection.driver.changingTables(connection) {
            let result = try connection.transaction(body)
            didCommit(result)
            return result
        }
    }

    /// Brings the tables to a schema within ``transaction(on:_:didCommit:)``. All of them are looked at.
    ///
    /// - Throws: the errors of ``migrate(_:schema:steps:)``.
    package static func apply(_ schema: Schema, steps: [MigrationStep], on connection: Connection) throws {
        _ = try run(connection, schema, steps, fingerprint(schema, steps), makesIndexesLater: false)
    }

    /// Migrates single entities of a file that fits a schema and has stored it. Nothing else is read: the time doesn't
    /// depend on the other entities.
    ///
    /// - Parameters:
    ///   - old: The schema that the file fits.
    ///   - entities: The names of the new, changed or removed entities.
    package static func apply(
        _ schema: Schema, since old: Schema, changing entities: Set<String>, steps: [MigrationStep],
        on connection: Connection
    ) throws {
        try run(try plan(connection, schema, since: old, changing: entities, steps), steps, connection)
        try remember(schema, changing: entities, connection)
    }

    /// Adds the new parts of a schema to the tables, within the caller's transaction, in which foreign keys are
    /// enforced.
    ///
    /// - Parameters:
    ///   - old: The schema that the file fits and has stored; `nil` for a file without one.
    ///   - entities: The names of the entities that are new or changed.
    /// - Returns: `false`, with nothing done, if tables or indexes would have to be dropped or rebuilt.
    package static func add(
        _ schema: Schema, since old: Schema?, changing entities: Set<String>, steps: [MigrationStep],
        on connection: Connection
    ) throws -> Bool {
        guard let old else {
            try connection.driver.beginChangingTables(connection)
            guard try !plan(connection, schema, steps, try Metadata.read(connection)).mayBreakReferences else {
                return false
            }
            try apply(schema, steps: steps, on: connection)
            return true
        }
        try connection.driver.beginChangingTables(connection)
        let plan = try plan(connection, schema, since: old, changing: entities, steps)
        if plan.mayBreakReferences { return false }
        try run(plan, steps, connection)
        try remember(schema, changing: entities, connection)
        return true
    }

    /// Compares the tables of some entities with a schema.
    private static func plan(
        _ connection: Connection, _ schema: Schema, since old: Schema, changing entities: Set<String>,
        _ steps: [MigrationStep]
    ) throws(RelataError) -> MigrationPlan {
        let part = schema.tables(changedBy: entities, since: old)
        let planner = MigrationPlanner(
            schema: schema, dialect: connection.dialect, part: part,
            actual: try Introspection.tables(of: connection, named: Array(part)), old: old,
            steps: steps.map(\.declaration), facts: facts(of: connection))
        return try planner.planned()
    }

    /// Remembers some entities in a file that remembers the rest.
    private static func remember(
        _ schema: Schema, changing entities: Set<String>, _ connection: Connection
    ) throws(RelataError) {
        let changed = entities.sorted()
        try Metadata.write(
            changed.compactMap { schema[$0] }.sorted { $0.index < $1.index }.map(\.entity),
            removing: changed.filter { schema[$0] == nil }, connection)
        try didChangeTables(connection)
    }

    private static func fingerprint(_ schema: Schema, _ steps: [MigrationStep]) -> String {
        SchemaFingerprint.of(schema, steps: steps.map(\.declaration.name))
    }

    /// A file remembers a step by its name, so that a second step of that name would never run.
    private static func checkNames(of steps: [MigrationStep]) throws(RelataError) {
        var names: Set<String> = []
        for step in steps where !names.insert(step.declaration.name).inserted {
            throw .invalidUse(
                "two migration steps are called \"\(step.declaration.name)\": give each its own name")
        }
    }

    private static func plan(
        _ connection: Connection, _ schema: Schema, _ steps: [MigrationStep], _ metadata: Metadata
    ) throws(RelataError) -> MigrationPlan {
        try CopyState.refusePart(in: connection)
        let planner = MigrationPlanner(
            schema: schema, dialect: connection.dialect, actual: try Introspection.tables(of: connection),
            // A file of another program is treated as new, whichever models have used it since.
            declared: metadata.isForeign ? nil : metadata.entities, history: metadata.renames,
            steps: steps.map(\.declaration).filter { !metadata.steps.contains($0.name) },
            facts: facts(of: connection))
        return try planner.planned()
    }

    private static func facts(of connection: Connection) -> (DataQuestion) throws(RelataError) -> Bool {
        { question throws(RelataError) in try connection.value(SQLStatement(question.query(connection.dialect))) != nil
        }
    }

    private static func run(
        _ connection: Connection, _ schema: Schema, _ steps: [MigrationStep], _ fingerprint: String,
        makesIndexesLater: Bool = true
    ) throws -> MigrationPlan {
        // Another process may have done it while this one waited for the lock.
        if Metadata.isUnchanged(connection, fingerprint: fingerprint) { return MigrationPlan() }
        var metadata = try Metadata.read(connection)
        let plan = try plan(connection, schema, steps, metadata)
        try run(plan, steps, connection, makesIndexesLater: makesIndexesLater)
        metadata.entities =
            schema.tables.map(\.entity) + (try others(metadata.entities ?? [], besides: schema, connection))
        metadata.isForeign = plan.isForeign
        metadata.steps += steps.map(\.declaration.name).filter { !$0.isEmpty && !metadata.steps.contains($0) }
        metadata.renames = plan.history
        // Tables that Relata creates need no check.
        let isOther =
            try !plan.isCreation && connection.dialect == .sqlite
            && schema.entities(comparedBy: Introspection.tables(of: connection, hidesReserved: false)) != nil
        // A database that lacks indexes isn't done.
        let isDone = plan.laterIndexes.isEmpty || !makesIndexesLater
        try metadata.write(
            connection, fingerprint: isDone ? fingerprint : "indexes are to be made", isOther ? .otherwise : .asDeclared
        )
        try didChangeTables(connection)
        return plan
    }

    /// The entities that only other programs declare, if their tables still exist: a program may have models for some of
    /// a server's classes. If they don't all fit the models, those that aren't linked to them are kept.
    private static func others(
        _ known: [Entity], besides schema: Schema, _ connection: Connection
    ) throws(RelataError) -> [Entity] {
        let names = Set(schema.tables.flatMap { [$0.name.foldedName, $0.sqlName.foldedName] })
        var others: [Entity] = []
        for entity in known where names.isDisjoint(with: [entity.name.foldedName, entity.table.foldedName]) {
            if try connection.hasTable(entity.table) { others.append(entity) }
        }
        let models = schema.tables.map(\.entity)
        // An entity doesn't fit if, for example, a model no longer has the other side of a relationship.
        return [others, unlinked(others)].first { (try? Schema(models + $0)) != nil } ?? []
    }

    /// Those of some entities whose relationships lead only to each other.
    private static func unlinked(_ entities: [Entity]) -> [Entity] {
        let names = Set(entities.map(\.name))
        let kept = entities.filter { $0.relationships.allSatisfy { names.contains($0.target) } }
        return kept.count == entities.count ? kept : unlinked(kept)
    }

    private static func run(
        _ plan: MigrationPlan, _ steps: [MigrationStep], _ connection: Connection, makesIndexesLater: Bool = false
    ) throws {
        try plan.checkIsAllowed()
        if plan.isEmpty { return }
        // Additions break no reference.
        let needsCheck = plan.mayBreakReferences || !plan.steps.isEmpty
        let dangling = needsCheck ? try connection.driver.danglingReferences(connection) : [:]
        for statement in plan.preparation { try connection.execute(statement) }
        let broken = plan.mayBreakReferences ? try connection.driver.brokenDependents(connection) : [:]
        // Earlier statements would be compiled again, which counts as accessing everything.
        connection.clearStatements()
        let transaction = MigrationTransaction(connection)
        for step in steps where plan.steps.contains(step.declaration.name) { try step.body(transaction) }
        try check(plan.checks, connection)
        try connection.driver.completing(connection) { () throws(RelataError) in
            for statement in plan.completion { try complete(statement, of: plan, connection) }
        }
        if !makesIndexesLater {
            for later in plan.laterIndexes {
                try connection.execute(
                    SchemaDDL.createIndex(later.index, on: later.table, dialect: connection.dialect))
            }
        }
        connection.clearStatements()
        if plan.mayBreakReferences {
            try compare(dependents: try connection.driver.brokenDependents(connection), with: broken)
        }
        try check(plan.finalChecks, connection)
        if needsCheck { try compare(try connection.driver.danglingReferences(connection), with: dangling) }
    }

    /// Runs a statement, and reports the rows that prevent it.
    private static func complete(
        _ statement: String, of plan: MigrationPlan, _ connection: Connection
    ) throws(RelataError) {
        do {
            try connection.execute(statement)
        } catch {
            if let problem = plan.explanations[statement], error.isAboutRows { throw .schemaMismatch([problem]) }
            guard let place = plan.drops[statement], case .database(_, let message, _) = error else { throw error }
            throw .schemaMismatch([
                SchemaProblem(
                    entity: place.entity, property: place.property,
                    message: "\(place.message) (\(message)): drop or change that first")
            ])
        }
    }

    /// Refuses changes that break views and triggers.
    private static func compare(
        dependents after: [String: String], with before: [String: String]
    ) throws(RelataError) {
        let problems = after.filter { before[$0.key] == nil }.sorted { $0.key < $1.key }.map { name, message in
            SchemaProblem(
                entity: name, message: "it needs what would be dropped: drop or change it first (\(message))")
        }
        if !problems.isEmpty { throw .schemaMismatch(problems) }
    }

    private static func check(_ checks: [MigrationCheck], _ connection: Connection) throws(RelataError) {
        var problems: [SchemaProblem] = []
        for check in checks {
            let found = try connection.values(SQLStatement(check.question.query(connection.dialect))).first
            if let found { problems.append(check.problem(found: found)) }
        }
        if !problems.isEmpty { throw .schemaMismatch(problems) }
    }

    private static func didChangeTables(_ connection: Connection) throws(RelataError) {
        if !connection.driver.raisesTableVersion { try connection.driver.raiseTableVersion(connection) }
    }

    // MARK: Foreign keys

    private static func compare(
        _ after: [[String]: Int], with before: [[String]: Int]
    ) throws(RelataError) {
        let problems = after.map { ($0, $1 - (before[$0] ?? 0)) }.filter { $1 > 0 }.map { tables, count in
            SchemaProblem(
                entity: tables[0],
                message: "the migration left \(count) reference(s) to missing rows of \(tables[1]): "
                    + "unset or fix them in a step")
        }
        if !problems.isEmpty { throw .schemaMismatch(problems.sorted { $0.description < $1.description }) }
    }
}

extension RelataError {
    /// Whether rows are the reason for a refused statement.
    fileprivate var isAboutRows: Bool {
        switch self {
        case .database(let code, _, _): code == ConstraintCode.foreignKey
        case .invalidUse: true
        default: false
        }
    }
}
