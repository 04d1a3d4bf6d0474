public import RelataCore
import RelataEngine

/// A transaction in which classes are changed.
package final class Alteration {
    package let connection: Connection
    /// The classes as they are now.
    package private(set) var classes: RecordClasses

    init(_ connection: Connection, _ classes: RecordClasses) {
        self.connection = connection
        self.classes = classes
    }

    /// Makes the tables what entities say.
    ///
    /// - Parameters:
    ///   - changes: What makes the entities others than the classes' own.
    ///   - finish: Writes what a layer above keeps of the classes, in the same transaction. Whoever knows the
    ///   classes by number finds that they are others, even where no table is.
    /// - Throws: ``RelataError/schemaMismatch(_:)`` where the tables can't follow.
    package func apply(
        _ entities: [Entity], _ changes: EntityChanges, finish: ((Connection) throws -> Void)? = nil
    ) throws {
        let changed = changes.names
        let schema =
            changed.isEmpty
            ? classes.schema : try Schema(entities, since: classes.schema, changedAt: changes.places)
        if !classes.isRemembered {
            try Migrator.apply(schema, steps: [changes.step], on: connection)
        } else if !changed.isEmpty {
            try Migrator.apply(
                schema, since: classes.schema, changing: changed, steps: [changes.step], on: connection)
        }
        try finish?(connection)
        classes = try RecordClasses(
            entities, schema: schema, version: try Self.renew(classes.version, on: connection), isRemembered: true,
            dialect: connection.dialect)
    }

    /// Gives the tables another number: what a layer above keeps of classes changes no table, but must be seen by
    /// everybody who knows the tables by number.
    ///
    /// - Returns: The number.
    private static func renew(_ old: Int64, on connection: Connection) throws(RelataError) -> Int64 {
        let version = try RecordClasses.version(of: connection)
        if version != old { return version }
        try connection.driver.raiseTableVersion(connection)
        return try RecordClasses.version(of: connection)
    }
}

extension RecordStore {
    /// Changes classes, in a transaction of its own.
    ///
    /// - Parameter body: May be called on another state than the caller last saw. What it finds in the store stays so until
    ///   the change is committed.
    /// - Returns: what `body` returns.
    package func altering<Result: Sendable>(_ body: @Sendable (Alteration) throws -> Result) async throws -> Result {
        try await noticingFullDisk {
            try await pool.alone { connection in
                let done = try Migrator.transaction(on: connection) {
                    () -> (result: Result, before: RecordClasses, after: RecordClasses) in
                    let known = try self.classes(for: connection)
                    let alteration = Alteration(connection, known)
                    let result = try body(alteration)
                    if alteration.classes !== known { try self.hub.willCommitUnknown(connection) }
                    return (result, known, alteration.classes)
                } didCommit: {
                    guard $0.before !== $0.after else { return }
                    self.remember($0.after)
                    // Whoever observes a class sees it as it is now.
                    self.hub.didCommitUnknown()
                }
                return done.result
            }
        }
    }
}

// MARK: For programs

extension RecordStore {
    /// Changes classes: adds, changes and removes them and their fields, all or nothing, in a transaction of its own.
    ///
    /// ```swift
    /// try await store.alter { schema in
    ///     try schema.addClass("Track")
    ///     try schema.addField("title", .text, to: "Track", isRequired: true)
    ///     try schema.addLink("album", to: "Album", in: "Track", onTargetDelete: .cascade)
    ///     try schema.addList("tracks", of: "Track", to: "Album", inverse: "album")
    /// }
    /// ```
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` where the tables can't follow, such as for a unique set of which objects
    ///   have the same values; what `change` throws. Nothing is changed then.
    public func alter(_ change: @Sendable (inout ClassesDraft) throws -> Void) async throws {
        try refuseFixed()
        try await altering { alteration in
            var draft = ClassesDraft(alteration.classes.entities)
            try change(&draft)
            try alteration.apply(checking: draft.entities)
        }
    }

    /// The classes of the store as a value, to be kept, compared, and deployed to another store.
    ///
    /// - Throws: ``RelataError`` where the database can't be read.
    public func schema() async throws -> RecordSchema {
        try await read { RecordSchema(entities: $0.recordClasses.entities) }
    }

    /// What deploying a schema would change, without changing anything.
    ///
    /// - Throws: ``RelataError`` where the database can't be read.
    public func deploymentPlan(for schema: RecordSchema) async throws -> MigrationPlan {
        try await read { transaction in
            let known = transaction.recordClasses.entities
            let wanted = schema.merged(into: known)
            if wanted == known { return MigrationPlan() }
            return try Migrator.prepare(
                transaction.connection, schema: try Schema(wanted), steps: [EntityChanges(wanted, since: known).step])
        }
    }

    /// Adds to the store what a schema has beyond it, and gives what both have the rules of the schema. What the schema
    /// doesn't have stays.
    ///
    /// ```swift
    /// try await production.deploy(try await development.schema())
    /// ```
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` with all that can't be deployed, such as a field that has another type
    ///   in the store. Nothing is changed then.
    public func deploy(_ schema: RecordSchema) async throws {
        try refuseFixed()
        try await altering { alteration in
            try alteration.apply(checking: schema.merged(into: alteration.classes.entities))
        }
    }

    private func refuseFixed() throws(RelataError) {
        if isFixed { throw .invalidUse("the classes are those of the app's models: change the models") }
    }
}

extension Alteration {
    /// Makes the tables what entities say, if they can be so.
    fileprivate func apply(checking entities: [Entity]) throws {
        let changes = EntityChanges(entities, since: classes.entities)
        if changes.isEmpty { return }
        if let (entity, owner) = try changes.nameTaken(on: connection) {
            throw RelataError.invalidUse("there can't be a class \(entity.name): \(owner) of that name: choose another")
        }
        try apply(entities, changes)
    }
}
