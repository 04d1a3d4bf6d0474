import RelataCore

/// Runs `body`, and ends with a `CancellationError` where an engine reports "interrupted" for a cancelled task.
package func translatingInterrupts<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as RelataError where error.isInterruption {
        throw CancellationError()
    }
}
