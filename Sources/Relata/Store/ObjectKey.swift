/// The key of an object of any model, for fetching several at once.
public struct ObjectKey: Sendable, CustomStringConvertible {
    /// The model.
    public let model: any Model.Type
    /// Model and key, as errors name them.
    public let reference: ObjectReference
    /// The key, of the model's key type.
    nonisolated(unsafe) let id: AnyHashable  // safe: made from a Sendable key, and never changed
    /// Fetches all objects of the model with one statement.
    let fetchAll: @Sendable (ReadTransaction, [ObjectKey]) throws -> [AnyHashable: any Model]

    /// The object of a model with that key.
    public init<M: Model>(_ model: M.Type, _ id: M.Key) {
        self.model = model
        self.id = id
        let key = (try? M.keyValue(id)) ?? KeyValue(.text("\(id)"))
        reference = ObjectReference(entity: M.entityName, key: key)
        fetchAll = { transaction, keys in
            let values = keys.map(\.reference.key)
            let query = Query<M>().where { _ in Condition(.keyIn(FieldPath().object, values)) }
            var found: [AnyHashable: any Model] = [:]
            for object in try transaction.fetch(query) {
                if let key = object.primaryKey { found[key] = object }
            }
            return found
        }
    }

    /// The model's name and the key.
    public var description: String { reference.description }
}

/// What was found for one key of several.
public struct ObjectResult: Sendable {
    /// The key that was asked for.
    public let key: ObjectKey
    /// The object, or ``RelataError/notFound(_:)``.
    public let result: Result<any Model, RelataError>

    /// The object if it was found and is of that model.
    public func object<M: Model>(as model: M.Type) -> M? { (try? result.get()) as? M }
}
