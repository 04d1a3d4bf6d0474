/// Called after each statement with its text and how long it ran, which SQLite measures in milliseconds. The text holds
/// no values.
public typealias SQLTrace = @Sendable (_ sql: String, _ duration: Duration) -> Void
