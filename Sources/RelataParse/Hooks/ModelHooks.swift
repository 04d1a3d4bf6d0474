import Relata
import RelataCore

/// An app's code that runs before and after clients save or delete objects of its models.
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
/// Hooks before an operation run in the transaction of the request: an error rolls the request back and is sent to the
/// client. The object isn't written or deleted yet. Hooks after an operation run once the transaction is committed,
/// before the reply is sent. They get objects as they are stored, which can be saved again.
public struct ModelHooks: Sendable {
    /// The change of an object.
    public struct Change<M: Model> {
        /// The object before the change; `nil` for a new one.
        public let original: M?
        /// The transaction of the request.
        public let transaction: WriteTransaction
        /// Whether the object is new.
        public var isNew: Bool { original == nil }
    }

    private(set) var bindings: [String: ModelBinding]

    init(_ store: Store) {
        bindings = Dictionary(store.models.map { ($0.entityName, ModelBinding($0)) }) { first, _ in first }
    }

    /// Calls `body` with each object that is about to be saved, as it will be stored: with its stamps and its revision.
    /// Changes that `body` makes are stored too, including new linked objects and edits of lists. `body` can't change
    /// the key, the stamps and the revision.
    ///
    /// The object is written afterwards, together with the relations that the client changes: in the transaction, a new
    /// object doesn't exist yet, and an existing one has its old values. A new object whose key the database assigns
    /// has no key yet. An object whose to-one is changed through the inverse counts as saved.
    public mutating func beforeSave<M: Model>(
        _ model: M.Type, _ body: @escaping @Sendable (inout M, Change<M>) throws -> Void
    ) {
        bindings[M.entityName]?.beforeSave.append { object, original, transaction in
            guard var object = object as? M else { return object }
            try body(&object, Change(original: original as? M, transaction: transaction))
            return object
        }
    }

    /// Calls `body` with each saved object, as it is stored at the end of the whole request. An object that several
    /// requests of a batch change is the same each time, and one that is deleted again isn't included.
    public mutating func afterSave<M: Model>(_ model: M.Type, _ body: @escaping @Sendable (M) async -> Void) {
        bindings[M.entityName]?.afterSave.append { object in
            if let object = object as? M { await body(object) }
        }
    }

    /// Calls `body` with each object that a client is about to delete, without those that a delete rule deletes.
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

/// A served model, whose objects are read and checked by the name of their class.
struct ModelBinding: Sendable {
    /// Returns the object to store, from the object, its former state and the transaction.
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

    /// The object in a row with these values.
    func object(values: [Value], in transaction: WriteTransaction) throws -> any Model { try make(values, transaction) }

    /// Whether a hook is called for each deleted object.
    var watchesDeletions: Bool { !beforeDelete.isEmpty || !afterDelete.isEmpty }

    /// Lets the app change an object that is about to be written, and checks it.
    ///
    /// - Parameter original: The object's row before the change.
    /// - Returns: The object to store.
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

    /// Whether two objects are equal, with the objects that they link to.
    static func isEqual<M: Model>(_ left: M, _ right: any Model) -> Bool { left == right as? M }
}
