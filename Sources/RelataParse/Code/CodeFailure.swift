/// An error of the app's code that isn't for clients.
struct CodeFailure: Error, CustomStringConvertible {
    let cause: any Error

    var description: String { "\(cause)" }

    /// Runs the app's code. Its errors for clients stay as they are.
    ///
    /// - Throws: ``CodeFailure`` for other errors.
    static func catching<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            if error is ParseError || error is CodeFailure { throw error }
            // Of a request that goes on, a cancellation is the app's own.
            throw Task.isCancelled ? CancellationError() : CodeFailure(cause: error)
        }
    }
}
