import Relata
import RelataCore

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
/// client. Nothing of the object is written or deleted yet. What is called after runs once the transaction is committed,
/// and before the client is answered. It gets objects as they are stored, which can be saved again.
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

    /// Calls `body` with each object that is about to be saved, as it will be stored: with its stamps and its revision. What
    /// it changes is stored instead, and so are the new objects that it links to and its edits on lists. The key, the
    /// stamps and the revision aren't its to change.
    ///
    /// The object is written afterwards, together with the relations that the client changes: the transaction has no new
    /// object yet, and finds one that is known as it was. A new object whose key the database assigns has none yet. An
    /// object whose to-one is set or unset by way of the other side is among those that are saved.
    public mutating func beforeSave<M: Model>(
        _ model: M.Type, _ body: @escaping @Sendable (inout M, Change<M>) throws -> Void
    ) {
        bindings[M.entityName]?.beforeSave.append { object, original, transaction in
            guard var object = object as? M else { return object }
            try body(&object, Change(original: original as? M, transaction: transaction))
            return object
        }
    }

    /// Calls `body` with each object that was saved, as it is stored once the whole request is done: one that several
    /// requests of a batch have changed is the same each time, and one that was deleted again isn't among them.
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

    /// Calls `body` with each object that a client deleted, as it was stored last.
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
    private let fetch: @Sendable (KeyValue, WriteTransaction) throws -> (any Model)?
    private let make: @Sendable ([Value], WriteTransaction) throws -> any Model

    init<M: Model>(_ model: M.Type) {
        fetch = { key, transaction in try transaction.object(model, key: key) }
        make = { values, transaction in try transaction.object(model, values: values) }
    }

    /// Reads an object by its key.
    func object(_ key: KeyValue, _ transaction: WriteTransaction) throws -> (any Model)? {
        try fetch(key, transaction)
    }

    /// The object that a row with these values holds.
    func object(values: [Value], in transaction: WriteTransaction) throws -> any Model { try make(values, transaction) }

    /// Whether anybody wants to know of each object that is deleted.
    var watchesDeletions: Bool { !beforeDelete.isEmpty || !afterDelete.isEmpty }

    /// Lets the app change an object that is about to be written, and checks it.
    ///
    /// - Parameter original: The object's row as it is.
    /// - Returns: The object as it is to be stored.
    func checked(
        _ given: any Model, original: [Value]?, in transaction: WriteTransaction
    ) throws -> any Model {
        var object = given
        if !beforeSave.isEmpty {
            let original = try original.map { try make($0, transaction) }
            for hook in beforeSave { object = try hook(object, original, transaction) }
        }
        try Self.validate(object)
        return object
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

    /// Whether two objects are the same, with what they link to.
    static func isEqual<M: Model>(_ left: M, _ right: any Model) -> Bool { left == right as? M }
}
