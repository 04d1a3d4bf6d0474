import RelataCore
import RelataEngine

/// The writing calls: of a store, each in a separate transaction, and of a transaction.
///
/// A function that takes a writer works with both, and needs no transaction for a single call.
public protocol StoreWriter: StoreReader {
    /// Runs `body` in a transaction: all of it is written, or, if it throws, nothing. Within a transaction it is a part
    /// of that.
    ///
    /// - Throws: The errors of `body`; ``RelataError/busy(_:)`` if another process doesn't finish in time.
    @discardableResult
    func write<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result
    /// As ``write(_:)`` for a body with a single call: if it fails, all is rolled back.
    @discardableResult
    func _writeOnce<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result
}

extension StoreWriter {
    // MARK: Saving

    /// Inserts an object, with new linked objects and its edits on links, and returns the stored object.
    ///
    /// - Throws: ``RelataError/alreadyExists(_:)`` if its key is taken; ``RelataError/validation(_:)``,
    ///   ``RelataError/uniqueViolation(entity:properties:)``, ``RelataError/requiredReference(entity:property:hint:)``
    ///   and ``RelataError/invalidReference(entity:property:key:)``, with nothing written.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func insert<M: Model>(_ object: M) throws -> M { try insert([object])[0] }

    /// Inserts objects, in the order they need.
    ///
    /// - Throws: The errors of the call for one object.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func insert<M: Model>(_ objects: [M]) throws -> [M] { try _writeOnce { try $0.write(objects, as: .insert) } }

    /// Writes all columns of an object that is stored, with its edits on links.
    ///
    /// - Throws: ``RelataError/notFound(_:)`` if it doesn't exist; ``RelataError/conflict(_:)`` if it has a revision
    ///   and was changed since it was read; the errors of `insert(_:)`.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update<M: Model>(_ object: M) throws -> M { try update([object])[0] }

    /// Writes all columns of objects that are stored.
    ///
    /// - Throws: The errors of the call for one object.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update<M: Model>(_ objects: [M]) throws -> [M] { try _writeOnce { try $0.write(objects, as: .update) } }

    /// Inserts or updates an object, as needed, with new linked objects and its edits on links.
    ///
    /// All columns are written, and the last writer wins; ``update(_:id:_:)`` writes only the changes. An object that
    /// was deleted in the meantime is inserted again; for a model with a revision, that is a conflict.
    ///
    /// - Throws: ``RelataError/conflict(_:)`` if it has a revision and was changed or deleted since it was read;
    ///   the errors of `insert(_:)`, except for a key that is taken.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<M: Model>(_ object: M) throws -> M { try save([object])[0] }

    /// Inserts or updates objects, in the order they need.
    ///
    /// - Throws: The errors of the call for one object of a ``Model``.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<M: Model>(_ objects: [M]) throws -> [M] { try _writeOnce { try $0.write(objects, as: .save) } }

    /// Inserts or updates an object, and returns the stored object: with the key that the database assigned. Use that
    /// one from then on, because the given value still has none. For a new object that isn't needed afterwards, use
    /// `insert(_:)`.
    ///
    /// - Throws: The errors of the call for one object of a ``Model``.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<M: KeyAssignedModel>(_ object: M) throws -> M { try save([object])[0] }

    /// Inserts or updates objects, in the order they need, and returns them with the keys that the database assigned.
    ///
    /// - Throws: The errors of the call for one object of a ``Model``.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<M: KeyAssignedModel>(_ objects: [M]) throws -> [M] {
        try _writeOnce { try $0.write(objects, as: .save) }
    }

    /// Inserts objects of several models, in the order they need.
    ///
    /// - Throws: The errors of the call for one object.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func insert<each M: Model>(_ objects: repeat each M) throws -> (repeat each M) {
        try _writeOnce { try $0.write(repeat each objects, as: .insert) }
    }

    /// Updates objects of several models.
    ///
    /// - Throws: The errors of the call for one object.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update<each M: Model>(_ objects: repeat each M) throws -> (repeat each M) {
        try _writeOnce { try $0.write(repeat each objects, as: .update) }
    }

    /// Inserts or updates objects of several models, in the order they need.
    ///
    /// ```swift
    /// let (book, genre) = try tx.save(book, genre)
    /// ```
    ///
    /// - Throws: The errors of the call for one object of a ``Model``.
    @discardableResult
    @_disfavoredOverload
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<each M: Model>(_ objects: repeat each M) throws -> (repeat each M) {
        try _writeOnce { try $0.write(repeat each objects, as: .save) }
    }

    /// Inserts or updates objects of several models, and returns the stored ones: the first with the key that the
    /// database assigned. Use that one from then on, because the given value still has none.
    ///
    /// - Throws: The errors of the call for one object of a ``Model``.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<First: KeyAssignedModel, each M: Model>(
        _ first: First, _ others: repeat each M
    ) throws -> (First, repeat each M) {
        try _writeOnce { try $0.write(first, repeat each others, as: .save) }
    }

    /// Inserts or updates two objects, and returns them as they are stored: the second with the key that the database
    /// assigned.
    ///
    /// - Throws: The errors of the call for one object of a ``Model``.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<First: Model, Second: KeyAssignedModel>(
        _ first: First, _ second: Second
    ) throws -> (First, Second) {
        try _writeOnce { try $0.write(first, second, as: .save) }
    }

    /// Inserts or updates two objects, and returns them as they are stored: with the keys that the database assigned.
    ///
    /// - Throws: The errors of the call for one object of a ``Model``.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<First: KeyAssignedModel, Second: KeyAssignedModel>(
        _ first: First, _ second: Second
    ) throws -> (First, Second) {
        try _writeOnce { try $0.write(first, second, as: .save) }
    }

    /// Inserts any mix of objects, in the order they need.
    ///
    /// - Throws: The errors of the call for one object.
    @discardableResult
    @_disfavoredOverload
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func insert(_ objects: [any Model]) throws -> [any Model] {
        try _writeOnce { try $0.write(objects, as: .insert) }
    }

    /// Updates any mix of objects, in the order they need.
    ///
    /// - Throws: The errors of the call for one object.
    @discardableResult
    @_disfavoredOverload
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update(_ objects: [any Model]) throws -> [any Model] {
        try _writeOnce { try $0.write(objects, as: .update) }
    }

    /// Inserts or updates any mix of objects, in the order they need.
    ///
    /// - Throws: The errors of the call for one object of a ``Model``.
    @discardableResult
    @_disfavoredOverload
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save(_ objects: [any Model]) throws -> [any Model] {
        try _writeOnce { try $0.write(objects, as: .save) }
    }

    /// Reads an object, lets `change` edit it, and writes only the changes.
    ///
    /// ```swift
    /// try tx.update(Book.self, id: book.id) { $0.title = "The Dispossessed: An Ambiguous Utopia" }
    /// ```
    ///
    /// - Throws: ``RelataError/notFound(_:)`` for a key that no object has; the errors of `update(_:)`.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update<M: Model>(_ model: M.Type, id: M.Key?, _ change: (inout M) throws -> Void) throws -> M {
        let id = try M.given(id)
        return try _writeOnce { try $0.edit(model, id: id, change) }
    }

    /// Reads an object with relationships loaded, lets `change` edit it, and writes only the changes.
    ///
    /// ```swift
    /// try tx.update(Song.self, id: 7, including: { $0.album }) { song in
    ///     song.title += " (\(song.album?.loaded?.title ?? "single"))"
    /// }
    /// ```
    ///
    /// - Returns: The stored object, with the loaded relationships.
    /// - Throws: The errors of `change` and of `update(_:)`; ``RelataError/notFound(_:)`` for a key that no object has.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update<M: Model>(
        _ model: M.Type, id: M.Key?, @IncludeBuilder including links: (M.Fields) -> [IncludePlan],
        _ change: (inout M) throws -> Void
    ) throws -> M {
        let id = try M.given(id)
        let links = links(M.Fields(path: FieldPath()))
        return try _writeOnce { try $0.edit(model, id: id, including: links, change) }
    }

    /// Reads an object by its `ID` with relationships loaded, lets `change` edit it, and writes only the changes.
    ///
    /// - Throws: The errors of `change` and of `update(_:)`; ``RelataError/notFound(_:)`` for a key that no object has.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update<Key: AnyModelID>(
        _ id: Key, @IncludeBuilder including links: (Key.Target.Fields) -> [IncludePlan],
        _ change: (inout Key.Target) throws -> Void
    ) throws -> Key.Target {
        try update(Key.Target.self, id: id, including: links, change)
    }

    /// Reads an object by its `ID`, lets `change` edit it, and writes only the changes.
    ///
    /// - Throws: The errors of `change` and of `update(_:)`; ``RelataError/notFound(_:)`` for a key that no object has.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update<Key: AnyModelID>(_ id: Key, _ change: (inout Key.Target) throws -> Void) throws -> Key.Target {
        try update(Key.Target.self, id: id, change)
    }

    /// Inserts or updates each object separately: an object that can't be saved gets its error as the result, and the
    /// others are saved. An object that depends on a failed new one fails too, with its own error.
    ///
    /// - Throws: ``RelataError`` if nothing can be written. The error of an object is its result.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func saveEach(_ objects: [any Model]) throws -> [Result<any Model, any Error>] {
        try _writeOnce { try IndependentSave(transaction: $0).save(objects) }
    }

    /// Inserts an object, or writes it over the one with the same value of a unique property, whose key stays.
    ///
    /// ```swift
    /// let author = try tx.save(Author(name: "Ursula K. Le Guin"), matching: { $0.name })
    /// ```
    ///
    /// - Returns: The stored object, with its key.
    /// - Throws: ``RelataError/invalidUse(_:)`` if the property isn't declared unique, or the object has edits on
    ///   links: make them afterwards, on the returned object.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<M: Model, Property: PropertyField>(
        _ object: M, matching property: (M.Fields) -> Property
    ) throws -> M {
        try save([object], matching: property)[0]
    }

    /// Inserts objects, or writes each over the one with the same value of a unique property, whose key stays.
    ///
    /// ```swift
    /// let authors = try tx.save(names.map { Author(name: $0) }, matching: { $0.name })
    /// ```
    ///
    /// - Returns: The objects as they are stored, in the given order, with the keys they had.
    /// - Throws: The errors of the call for one object; ``RelataError/invalidUse(_:)`` if two of the objects have the
    ///   same value and different content.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<M: Model, Property: PropertyField>(
        _ objects: [M], matching property: (M.Fields) -> Property
    ) throws -> [M] {
        let path = Property.path(of: property(M.Fields(path: FieldPath())))
        return try _writeOnce { try Upsert(transaction: $0, names: [path]).save(objects) }
    }

    /// Inserts an object, or writes it over the one with the same values of a unique set, whose key stays.
    ///
    /// ```swift
    /// try tx.save(Seat(row: 1, number: 7), matching: { ($0.row, $0.number) })
    /// ```
    ///
    /// - Throws: The errors of the call for a single unique property.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<M: Model, each Property: PropertyField>(
        _ object: M, matching properties: (M.Fields) -> (repeat each Property)
    ) throws -> M {
        try save([object], matching: properties)[0]
    }

    /// Inserts objects, or writes each over the one with the same values of a unique set, whose key stays.
    ///
    /// - Throws: The errors of the call for a single unique property.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<M: Model, each Property: PropertyField>(
        _ objects: [M], matching properties: (M.Fields) -> (repeat each Property)
    ) throws -> [M] {
        let chosen = properties(M.Fields(path: FieldPath()))
        var paths: [String] = []
        for property in repeat each chosen { paths.append(type(of: property).path(of: property)) }
        let chosenPaths = paths
        return try _writeOnce { try Upsert(transaction: $0, names: chosenPaths).save(objects) }
    }

    // MARK: By query

    /// Sets properties of all objects of a query in one statement, and returns their number.
    ///
    /// ```swift
    /// try tx.update(Book.where { $0.year < 1900 }) { $0.price.set(to: $0.price * 2); $0.genre.set(to: classics) }
    /// ```
    ///
    /// - Throws: ``RelataError/validation(_:)`` if an object would break a limit or its `validate()`, with nothing
    ///   written.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func update<M: Model>(
        _ query: Query<M>, @AssignmentBuilder _ assignments: (M.Fields) -> [Assignment]
    ) throws -> Int {
        let assignments = assignments(M.Fields(path: FieldPath()))
        return try _writeOnce { try QueryUpdate(transaction: $0).update(query, assignments) }
    }

    // MARK: Deleting

    /// Deletes an object, and others by the delete rules.
    ///
    /// - Returns: The report. An object that no longer exists isn't an error, and not in the report.
    /// - Throws: ``RelataError/deleteDenied(blockers:)``, or ``RelataError/validation(_:)`` if a list would have fewer
    ///   members than its minimum; nothing is deleted then.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func delete<M: Model>(_ object: M) throws -> DeletionReport { try delete([object]) }

    /// Deletes objects, and others by the delete rules.
    ///
    /// - Throws: The errors of the call for one object.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func delete<M: Model>(_ objects: [M]) throws -> DeletionReport {
        let keys = try objects.map { try $0.storedKey() }
        return try _writeOnce { try $0.delete(M.self, .keys(keys)) }
    }

    /// Deletes the object with that key.
    ///
    /// - Throws: The errors of the call for one object; ``RelataError/invalidUse(_:)`` for a `nil` key.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func delete<M: Model>(_ model: M.Type, id: M.Key?) throws -> DeletionReport {
        let key = try M.keyValue(M.given(id))
        return try _writeOnce { try $0.delete(model, .keys([key])) }
    }

    /// Deletes the object with that `ID`.
    ///
    /// - Throws: The errors of the call for one object; ``RelataError/invalidUse(_:)`` for a `nil` key.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func delete<Key: AnyModelID>(_ id: Key) throws -> DeletionReport {
        try delete(Key.Target.self, id: id)
    }

    /// Deletes all objects of a query, and others by the delete rules.
    ///
    /// - Throws: The errors of the call for one object.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func delete<M: Model>(_ query: Query<M>) throws -> DeletionReport {
        try _writeOnce {
            try $0.delete(M.self, .query($0.compiler.keys(try $0.plan(query), isOrdered: false).statement))
        }
    }

    // MARK: SQL

    /// Runs SQL of your own that changes rows, each value bound, and returns the number of rows it changed.
    ///
    /// It passes by validation, delete rules and revisions; foreign keys hold.
    ///
    /// - Throws: ``RelataError`` for SQL that the database refuses, such as SQL that breaks a foreign key.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func execute(_ sql: SQL) throws -> Int {
        try _writeOnce { transaction in
            try transaction.requireEverything(for: "SQL of your own")
            return try transaction.connection.runningForeignSQL {
                try transaction.connection.run(try sql.statement(transaction.connection.dialect))
            }
        }
    }
}
