/// The key of an object of any model, for fetching several at once.
public struct ObjectKey: Sendable, CustomStringConvertible {
    /// The model.
    public let model: any Model.Type
    /// Model and key, as errors name them.
    public let reference: ObjectReference
    /// Fetches objects of the model with one statement, in the order of the keys.
    let fetchAll: @Sendable (ReadTransaction, [KeyValue]) throws -> [(any Model)?]

    /// The object of a model with that key.
    public init<M: Model>(_ model: M.Type, _ id: M.Key) {
        self.model = model
        let key = (try? M.keyValue(id)) ?? KeyValue(.text("\(id)"))
        reference = ObjectReference(entity: M.entityName, key: key)
        fetchAll = { transaction, keys in try transaction.objects(M.self, keys: keys) }
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
