/// Something that goes on until it is cancelled, or until nobody holds this any more.
public final class Cancellable: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }

    /// Ends it. What is being done now may still reach its end.
    public func cancel() { task.cancel() }
}
