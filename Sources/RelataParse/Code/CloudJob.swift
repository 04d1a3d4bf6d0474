/// A run of a job.
public struct CloudJob: Sendable {
    /// The job's name.
    public let name: String
    /// What whoever started it said.
    public let parameters: JSONObject
    /// The id of the run's object of the class `_JobStatus`.
    public let statusID: String
    /// The store with the rights of the master key.
    public let store: CloudStore

    /// A parameter; `nil` where there is none.
    public subscript(name: String) -> JSONValue? { parameters[name] }

    /// Says how far it is, for those who look at its `_JobStatus`.
    public func message(_ text: String) async throws {
        let id = statusID
        try await store.service.store.write(as: .master) { try $0.changeStatus(of: id, ["message": .string(text)]) }
    }
}
