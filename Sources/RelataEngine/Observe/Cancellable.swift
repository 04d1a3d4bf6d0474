/// An activity that continues until it is cancelled, or until this object is released.
public final class Cancellable: Sendable {
    private let task: Task<Void, Never>

    /// Calls `onChange` with each value, one call after the other, and at last `onError` if the values end in an error.
    package init<Values: AsyncSequence & Sendable>(
        following values: Values, onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Values.Element) -> Void
    ) {
        task = Task.detached {
            do {
                for try await value in values { onChange(value) }
            } catch {
                onError(error)
            }
        }
    }

    deinit { task.cancel() }

    /// Ends it. Running work may still finish.
    public func cancel() { task.cancel() }
}
