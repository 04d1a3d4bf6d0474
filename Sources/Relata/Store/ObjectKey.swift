/// The key of an object of any model, for fetching several at once.
public struct ObjectKey: Sendable, CustomStringConvertible {
    /// The model.
    public let model: any Model.Type
    private let text: String
    let fetch: @Sendable (ReadTransaction) throws -> any Model

    /// The object of a model with that key.
    public init<M: Model>(_ model: M.Type, _ id: M.Key) {
        self.model = model
        text = "\(M.entityName) \(id)"
        fetch = { transaction in
            guard let object = try transaction.fetch(model, id: id) else {
                throw RelataError.notFound(ObjectReference(entity: M.entityName, key: try M.keyValue(id)))
            }
            return object
        }
    }

    /// The model's name and the key.
    public var description: String { text }
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
