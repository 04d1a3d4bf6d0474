import RelataCore
import RelataEngine

/// The reading calls: of a store, each on a separate state of the database, and of a transaction.
///
/// A function that takes a reader serves both:
///
/// ```swift
/// func shelf(of author: Author, in reader: some StoreReader) throws -> [Book] {
///     try reader.related(to: author) { $0.books }
/// }
/// ```
public protocol StoreReader {
    /// Runs `body` on one state of the database, regardless of concurrent writes.
    ///
    /// - Throws: The errors of `body`; ``RelataError`` if the database can't be read.
    func read<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result
    /// As ``read(_:)`` for a body that runs a single statement, which sees one state by itself.
    func _readOnce<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result
}

extension StoreReader {
    // MARK: By key

    /// The object with that key, or `nil` if there is none.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a `nil` key, as an object has before it is stored.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    @inlinable
    public func fetch<M: Model>(_ model: M.Type, id: M.Key?) throws -> M? {
        let id = try M.given(id)
        return try _readOnce { try $0.object(model, id: id) }
    }

    /// The object with that key, with the named relationships, or `nil` if there is none.
    ///
    /// ```swift
    /// let book = try tx.fetch(Book.self, id: id) { $0.authors }
    /// ```
    ///
    /// - Throws: The errors of ``fetch(_:id:)-(M.Type,_)``.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(
        _ model: M.Type, id: M.Key?, @IncludeBuilder including links: (M.Fields) -> [IncludePlan]
    ) throws -> M? {
        try fetch(model, ids: [id], including: links)[0]
    }

    /// The object with that `ID`, or `nil` if there is none: the key's type determines the model.
    ///
    /// - Throws: ``RelataError`` if the object can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<Key: AnyModelID>(_ id: Key) throws -> Key.Target? { try fetch(Key.Target.self, id: id) }

    /// The object with that `ID`, with the named relationships, or `nil` if there is none.
    ///
    /// - Throws: ``RelataError`` if the object can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(
        _ id: ID<M>, @IncludeBuilder including links: (M.Fields) -> [IncludePlan]
    ) throws -> M? where M.Key == ID<M> {
        try fetch(M.self, id: id, including: links)
    }

    /// The objects with these keys, by one statement: in the order of the keys, and `nil` in the place of a key that no
    /// object has.
    ///
    /// ```swift
    /// let songs = try tx.fetch(Song.self, ids: favorites).compactMap { $0 }
    /// ```
    ///
    /// - Throws: The errors of ``fetch(_:id:)-(M.Type,_)``.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(_ model: M.Type, ids: [M.Key?]) throws -> [M?] {
        let keys = try ids.map { try M.keyValue(M.given($0)) }
        return try _readOnce { try $0.objects(model, keys: keys) }
    }

    /// The objects with these keys and the relationships that are named: in the order of the keys, and `nil` in the
    /// place of a key that no object has. One statement for the objects, and one for each relationship.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(
        _ model: M.Type, ids: [M.Key?], @IncludeBuilder including links: (M.Fields) -> [IncludePlan]
    ) throws -> [M?] {
        let keys = try ids.map { try M.keyValue(M.given($0)) }
        let includes = links(M.Fields(path: FieldPath()))
        return try read { try $0.objects(model, keys: keys, including: includes) }
    }

    /// The object that a to-one points at, or `nil` if it is unset or dangles.
    ///
    /// - Throws: ``RelataError`` if the object can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(_ link: ToOne<M>?) throws -> M? { try link?.id.flatMap { try fetch(M.self, id: $0) } }

    /// The objects with these keys, of any models, each with its own result, in the given order.
    ///
    /// ```swift
    /// let results = try tx.fetch(ids: [ObjectKey(Artist.self, "Mei Chen"), ObjectKey(Artwork.self, "Dawn")])
    /// ```
    ///
    /// - Throws: ``RelataError`` if the database can't be read. An object that can't be read has the error as its
    ///   result.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    @_disfavoredOverload
    public func fetch(ids: [ObjectKey]) throws -> [ObjectResult] {
        var found = [Result<any Model, RelataError>?](repeating: nil, count: ids.count)
        try read { transaction in
            for places in Dictionary(grouping: ids.indices, by: { ObjectIdentifier(ids[$0].model) }).values {
                let results = try ids[places[0]].fetchAll(transaction, places.map { ids[$0].reference.key })
                for (place, result) in zip(places, results) { found[place] = result }
            }
        }
        return zip(ids, found).map { key, result in
            ObjectResult(key: key, result: result ?? .failure(.notFound(key.reference)))
        }
    }

    /// The stored object.
    ///
    /// - Throws: ``RelataError/notFound(_:)`` if it was deleted; ``RelataError/invalidUse(_:)`` if it has no key yet.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func refresh<M: Model>(_ object: M) throws -> M {
        guard let stored = try fetch(M.self, id: object.primaryKey) else {
            throw RelataError.notFound(object.reference())
        }
        return stored
    }

    // MARK: By query

    /// The objects of a query, in order.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(_ query: Query<M>) throws -> [M] {
        query.includes.isEmpty
            ? try _readOnce { try $0.objects(query) } : try read { try $0.objects(query) }
    }

    /// Loads relationships of objects that were fetched before, and returns the objects with them: one statement for
    /// each relationship. Links that aren't named stay as they are.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object without a key; ``RelataError`` if objects can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func load<M: Model>(
        _ objects: [M], @IncludeBuilder _ links: (M.Fields) -> [IncludePlan]
    ) throws -> [M] {
        var objects = objects
        try read { try IncludeLoader(transaction: $0).load(links(M.Fields(path: FieldPath())), into: &objects) }
        return objects
    }

    /// Loads relationships of one object and returns it with them.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object without a key; ``RelataError`` if objects can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func load<M: Model>(_ object: M, @IncludeBuilder _ links: (M.Fields) -> [IncludePlan]) throws -> M {
        try load([object], links)[0]
    }

    /// The first object of a query, or `nil` if there is none.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func first<M: Model>(_ query: Query<M>) throws -> M? { try fetch(query.limitedToOne()).first }

    /// The number of objects of a query.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func count<M: Model>(_ query: Query<M>) throws -> Int {
        let count = try _readOnce { transaction in
            try transaction.rights?.check(.count, on: M.entityName)
            return try transaction.connection.value(transaction.compiler.count(try transaction.plan(query)))
        }
        guard case .integer(let count)? = count else { return 0 }
        return Int(count)
    }

    /// Whether a query has an object.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func exists<M: Model>(_ query: Query<M>) throws -> Bool {
        try _readOnce { try $0.connection.value($0.compiler.exists(try $0.plan(query))) == .integer(1) }
    }

    /// Chosen values of a query's objects or groups, as tuples.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model, Row>(_ selection: Selection<M, Row>) throws -> [Row] {
        try _readOnce { try $0.storedRows(selection) }.map(selection.decode)
    }

    /// One aggregate of all objects of a query.
    ///
    /// ```swift
    /// let average = try tx.value(of: Book.all) { $0.price.average() }
    /// ```
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func value<M: Model, Figure: QueryExpression>(
        of query: Query<M>, _ figure: (M.Fields) -> Figure
    ) throws -> Figure.QueryValue {
        let figure = figure(M.Fields(path: FieldPath()))
        let rows = try _readOnce { transaction in
            let compiled = try transaction.compiler.totals(try transaction.plan(query), [figure.node])
            return try transaction.connection.values(compiled.statement, types: compiled.columnTypes)
        }
        let value = rows.first?.first ?? .null
        do {
            return try figure.coding.decode(value)
        } catch RelataError.corruptStore where figure.node.calculates {
            throw RelataError.unfitting(value, in: "\(Figure.QueryValue.self)")
        }
    }

    /// One page of a query, and the position of the next. Pages stay right while objects are added or removed: a page
    /// begins after the last object of the one before, not at a number.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func page<M: Model>(_ query: Query<M>, size: Int, after position: PagePosition? = nil) throws -> Page<M> {
        if query.includes.isEmpty { return try _readOnce { try $0.page(of: query, size: size, after: position) } }
        return try read { try $0.page(of: query, size: size, after: position) }
    }

    /// The rows of a query by the names of their columns, with stored values: for tables, exports and other code that
    /// doesn't know the models.
    ///
    /// ```swift
    /// for row in try tx.dictionaries(Note.where { $0.title.hasPrefix("A") }) { print(row["title"] ?? .null) }
    /// ```
    ///
    /// Every column is in each dictionary; one that is unset holds ``Value/null``.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func dictionaries<M: Model>(_ query: Query<M>) throws -> [[String: Value]] {
        try _readOnce { transaction in
            let compiled = try transaction.compiler.select(try transaction.plan(query))
            let names = try transaction.catalog.table(M.self).columns.map(\.name)
            return try transaction.connection.values(compiled.statement, types: compiled.columnTypes).map { values in
                Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first })
            }
        }
    }

    // MARK: By relationship

    /// The objects that an object's to-many links to.
    ///
    /// ```swift
    /// let authors = try tx.related(to: book) { $0.authors }
    /// ```
    ///
    /// For filters, orders and limits, fetch the query of `Model.related(_:)`.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object without a key; ``RelataError`` if objects can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func related<M: Model, Target: Model>(
        to object: M, _ link: (M.Fields) -> ToManyField<Target>
    ) throws -> [Target] {
        try fetch(object.related(link))
    }

    /// The objects that the to-many of the object with that key links to: the object itself needn't be fetched.
    ///
    /// ```swift
    /// let episodes = try tx.related(to: Series.self, id: 1) { $0.episodes }
    /// ```
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object without a key; ``RelataError`` if objects can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func related<M: Model, Target: Model>(
        to model: M.Type, id: M.Key?, _ link: (M.Fields) -> ToManyField<Target>
    ) throws -> [Target] {
        try fetch(M.related(id: id, link))
    }

    /// The target of the to-one or has-one of the object with that key, or `nil` if there is none.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object without a key; ``RelataError`` if objects can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func related<M: Model, Target: Model>(
        to model: M.Type, id: M.Key?, _ link: (M.Fields) -> ToOneField<Target>
    ) throws -> Target? {
        try first(M.related(id: id, link))
    }

    /// The target of an object's to-one or has-one, or `nil` if there is none.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object without a key; ``RelataError`` if objects can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func related<M: Model, Target: Model>(
        to object: M, _ link: (M.Fields) -> ToOneField<Target>
    ) throws -> Target? {
        try first(object.related(link))
    }

    // MARK: SQL

    /// The rows of custom SQL, with bound values: for everything that queries can't express.
    ///
    /// ```swift
    /// let rows = try tx.rows("SELECT title, year FROM Book WHERE year > \(1970)")
    /// ```
    ///
    /// - Throws: ``RelataError`` for SQL that the database refuses.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func rows(_ sql: SQL) throws -> [[Value]] {
        try _readOnce { transaction in
            try transaction.connection.runningForeignSQL {
                try transaction.connection.values(try transaction.statement(of: sql))
            }
        }
    }

    /// Objects of a model from SQL that returns each of its columns once, by name and in any order, like `SELECT *` of
    /// its table. Other columns are ignored.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a missing or repeated column.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(_ model: M.Type, sql: SQL) throws -> [M] {
        try _readOnce { try $0.objects(model, sql: sql) }
    }

    /// Explains a query: its SQL, its bound values, and the database's plan.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func explain<M: Model>(_ query: Query<M>) throws -> Explanation {
        try _readOnce { transaction in
            let statement = try transaction.compiler.select(try transaction.plan(query)).statement
            let plan = try transaction.connection.driver.plan(of: statement, transaction.connection)
            return Explanation(sql: statement.sql, parameters: statement.parameters, plan: plan.map(\.detail))
        }
    }

    // MARK: Deletions

    /// The plan of deleting an object. Nothing is deleted.
    ///
    /// - Throws: ``RelataError`` if the objects can't be read, or one has no key.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func deletionPlan<M: Model>(for object: M) throws -> DeletionReport { try deletionPlan(for: [object]) }

    /// The plan of deleting objects. Nothing is deleted.
    ///
    /// - Throws: ``RelataError`` if the objects can't be read, or one has no key.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func deletionPlan<M: Model>(for objects: [M]) throws -> DeletionReport {
        let keys = try objects.map { try $0.storedKey() }
        return try read { try $0.deletionPlan(M.self, .keys(keys)) }
    }

    /// The plan of deleting the object with that key. Nothing is deleted.
    ///
    /// - Throws: ``RelataError`` if the objects can't be read, or one has no key.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func deletionPlan<M: Model>(for model: M.Type, id: M.Key?) throws -> DeletionReport {
        let key = try M.keyValue(M.given(id))
        return try read { try $0.deletionPlan(model, .keys([key])) }
    }

    /// The plan of deleting the objects of a query. Nothing is deleted.
    ///
    /// - Throws: ``RelataError`` if the objects can't be read, or one has no key.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func deletionPlan<M: Model>(for query: Query<M>) throws -> DeletionReport {
        try read {
            try $0.deletionPlan(M.self, .query($0.compiler.keys(try $0.plan(query), isOrdered: false).statement))
        }
    }
}
