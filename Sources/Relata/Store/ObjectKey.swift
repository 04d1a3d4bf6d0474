import RelataCore

/// The key of an object of any model, for fetching several at once.
public struct ObjectKey: Sendable, CustomStringConvertible {
    /// The model.
    public let model: any Model.Type
    /// Model and key, as errors name them.
    public let reference: ObjectReference
    /// Fetches objects of the model with one statement, in the order of the keys; `nil` for missing ones. An unreadable
    /// one has its error.
    let fetchAll: @Sendable (ReadTransaction, [KeyValue]) throws -> [Result<any Model, RelataError>?]

    /// The object of a model with that key.
    public init<M: Model>(_ model: M.Type, _ id: M.Key) {
        self.model = model
        let key = (try? M.keyValue(id)) ?? KeyValue(.text("\(id)"))
        reference = ObjectReference(entity: M.entityName, key: key)
        fetchAll = { transaction, keys in
            var errors: [KeyValue: RelataError] = [:]
            let report = UndecodableReport { errors[$0.object.key] = $0.error }
            let objects = try transaction.reporting(report) { try transaction.objects(M.self, keys: keys) }
            return zip(keys, objects).map { key, object in
                object.map { .success($0) } ?? errors[key].map { .failure($0) }
            }
        }
    }

    /// The model's name and the key.
    public var description: String { reference.description }
}

/// The result for one key of several.
public struct ObjectResult: Sendable {
    /// The requested key.
    public let key: ObjectKey
    /// The object; ``RelataError/notFound(_:)``; or ``RelataError/corruptStore(_:)`` for an object that can't be read
    /// as its model declares.
    public let result: Result<any Model, RelataError>

    /// The object if it was found and is of that model.
    public func object<M: Model>(as model: M.Type) -> M? { (try? result.get()) as? M }
}
