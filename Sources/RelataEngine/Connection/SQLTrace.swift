/// Called after each statement, with its text and its duration, which SQLite measures in milliseconds. The text
/// contains no values.
public typealias SQLTrace = @Sendable (_ sql: String, _ duration: Duration) -> Void
