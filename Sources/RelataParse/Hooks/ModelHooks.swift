import Relata

/// What an app does before and after objects of its models are saved or deleted by clients.
///
/// ```swift
/// let store = try ParseStore.serving(library) { hooks in
///     hooks.beforeSave(Book.self) { book, change in
///         book.title = book.title.trimmingCharacters(in: .whitespaces)
///         if change.isNew, try change.transaction.exists(Book.where { $0.isbn == book.isbn }) {
///             throw ParseError(.duplicateValue, "there is a book with this ISBN")
///         }
///     }
///     hooks.afterDelete(Book.self) { book in await covers.remove(book.id) }
/// }
/// ```
///
/// What is called before runs in the transaction of the request: what it throws takes the request back, and reaches the
/// client. What is called after runs once the transaction is committed, and before the client is answered.
public struct ModelHooks: Sendable {
    /// What is being done to an object.
    public struct Change<M: Model> {
        /// The object as it was; `nil` for a new one.
        public let original: M?
        /// The transaction that the request is done in.
        public let transaction: WriteTransaction
        /// Whether the object is new.
        public var isNew: Bool { original == nil }
    }

    private(set) var bindings: [String: ModelBinding]

    init(_ store: Store) {
        bindings = Dictionary(store.models.map { ($0.entityName, ModelBinding($0)) }) { first, _ in first }
    }

    /// Calls `body` with each object that is about to be saved, as it will be stored. What it changes is stored instead.
    /// An object whose to-one is set or unset by way of the other side is among them.
    public mutating func beforeSave<M: Model>(
        _ model: M.Type, _ body: @escaping @Sendable (inout M, Change<M>) throws -> Void
    ) {
        bindings[M.entityName]?.beforeSave.append { object, original, transaction in
            guard var object = object as? M else { return object }
            try body(&object, Change(original: original as? M, transaction: transaction))
            return object
        }
    }

    /// Calls `body` with each object that was saved.
    public mutating func afterSave<M: Model>(_ model: M.Type, _ body: @escaping @Sendable (M) async -> Void) {
        bindings[M.entityName]?.afterSave.append { object in
            if let object = object as? M { await body(object) }
        }
    }

    /// Calls `body` with each object that a client is about to delete. Those that go with it by a delete rule are not
    /// among them.
    public mutating func beforeDelete<M: Model>(
        _ model: M.Type, _ body: @escaping @Sendable (M, WriteTransaction) throws -> Void
    ) {
        bindings[M.entityName]?.beforeDelete.append { object, transaction in
            if let object = object as? M { try body(object, transaction) }
        }
    }

    /// Calls `body` with each object that a client deleted.
    public mutating func afterDelete<M: Model>(_ model: M.Type, _ body: @escaping @Sendable (M) async -> Void) {
        bindings[M.entityName]?.afterDelete.append { object in
            if let object = object as? M { await body(object) }
        }
    }
}

/// A model that is served: how its objects are read and checked when only the class's name is known.
struct ModelBinding: Sendable {
    /// Makes of an object, of what it was and of the transaction what is stored.
    typealias BeforeSave = @Sendable (any Model, (any Model)?, WriteTransaction) throws -> any Model

    var beforeSave: [BeforeSave] = []
    var afterSave: [@Sendable (any Model) async -> Void] = []
    var beforeDelete: [@Sendable (any Model, WriteTransaction) throws -> Void] = []
    var afterDelete: [@Sendable (any Model) async -> Void] = []
    /// Reads an object by its key.
    let object: @Sendable (KeyValue, WriteTransaction) throws -> (any Model)?

    init<M: Model>(_ model: M.Type) {
        object = { key, transaction in try transaction.object(model, key: key) }
    }

    /// Whether anybody wants to know how an object was.
    var needsOriginal: Bool { !beforeSave.isEmpty }

    /// Whether anybody wants to know of each object that is deleted.
    var watchesDeletions: Bool { !beforeDelete.isEmpty || !afterDelete.isEmpty }

    /// Checks an object that was just written, and lets the app change it.
    ///
    /// - Returns: The object as it is to be stored, and whether that isn't as it was written.
    func checked(
        _ key: KeyValue, original: (any Model)?, in transaction: WriteTransaction
    ) throws -> (object: any Model, isChanged: Bool)? {
        guard let written = try object(key, transaction) else { return nil }
        var object = written
        for hook in beforeSave { object = try hook(object, original, transaction) }
        try Self.validate(object)
        return (object, !Self.isEqual(object, written))
    }

    private static func validate(_ object: any Model) throws {
        do {
            try object.validate()
        } catch let error as RelataError {
            throw error
        } catch let error as ParseError {
            throw error
        } catch {
            throw ParseError(.validationError, "\(error)")
        }
    }

    private static func isEqual<M: Model>(_ left: M, _ right: any Model) -> Bool { left == right as? M }
}
