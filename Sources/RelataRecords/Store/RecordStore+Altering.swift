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

    /// Changes the tables to those of entities.
    ///
    /// - Parameters:
    ///   - changes: The differences of the entities from the classes' own.
    ///   - finish: Writes a higher layer's facts about the classes, in the same transaction. The number of the classes
    ///     changes, even if no table does.
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the tables can't follow.
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

    /// Gives the tables another number: a higher layer's facts about classes change no table, but all users of the
    /// tables' number must notice the change.
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
    /// Changes classes, in a separate transaction.
    ///
    /// - Parameter body: May be called on a newer state than the caller last saw. The store doesn't change between this
    ///   call and the commit.
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
                    // Observers of a class see its new state.
                    self.hub.didCommitUnknown()
                }
                return done.result
            }
        }
    }
}

// MARK: For programs

extension RecordStore {
    /// Changes classes: adds, changes and removes them and their fields, all or nothing, in a separate transaction.
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
    /// - Throws: ``RelataError/schemaMismatch(_:)`` if the tables can't follow, such as for a unique set with duplicate
    ///   values; what `change` throws. Nothing is changed then.
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
    /// - Throws: ``RelataError`` if the database can't be read.
    public func schema() async throws -> RecordSchema {
        try await read { RecordSchema(entities: $0.recordClasses.entities) }
    }

    /// The changes that deploying a schema would make, without making them.
    ///
    /// - Throws: ``RelataError`` if the database can't be read.
    public func deploymentPlan(for schema: RecordSchema) async throws -> MigrationPlan {
        try await read { transaction in
            let known = transaction.recordClasses.entities
            let wanted = schema.merged(into: known)
            if wanted == known { return MigrationPlan() }
            return try Migrator.prepare(
                transaction.connection, schema: try Schema(wanted), steps: [EntityChanges(wanted, since: known).step])
        }
    }

    /// Adds the missing parts of a schema to the store, and applies its rules to common parts. Parts that the schema
    /// doesn't have stay.
    ///
    /// ```swift
    /// try await production.deploy(try await development.schema())
    /// ```
    ///
    /// - Throws: ``RelataError/schemaMismatch(_:)`` with all impossible changes, such as a field that has another type
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
    /// Changes the tables to those of entities, if possible.
    fileprivate func apply(checking entities: [Entity]) throws {
        let changes = EntityChanges(entities, since: classes.entities)
        if changes.isEmpty { return }
        if let (entity, owner) = try changes.nameTaken(on: connection) {
            throw RelataError.invalidUse("there can't be a class \(entity.name): \(owner) of that name: choose another")
        }
        try apply(entities, changes)
    }
}
