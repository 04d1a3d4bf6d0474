/// A run of a job.
public struct CloudJob: Sendable {
    /// The job's name.
    public let name: String
    /// The parameters of the request that started the run.
    public let parameters: JSONObject
    /// The id of the run's object of the class `_JobStatus`.
    public let statusID: String
    /// The store with the rights of the master key.
    public let store: CloudStore

    /// A parameter; `nil` if it is missing.
    public subscript(name: String) -> JSONValue? { parameters[name] }

    /// Reports the progress in the run's `_JobStatus` object.
    ///
    /// - Throws: ``ParseError`` if it can't be stored.
    public func message(_ text: String) async throws {
        let id = statusID
        try await store.service.store.write(as: .master) { try $0.changeStatus(of: id, ["message": .string(text)]) }
    }
}
