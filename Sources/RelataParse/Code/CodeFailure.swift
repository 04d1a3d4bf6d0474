/// An error of the app's code whose details aren't for clients.
struct CodeFailure: Error, CustomStringConvertible {
    let cause: any Error

    var description: String { "\(cause)" }

    /// Runs the app's code. Errors for clients are passed on unchanged.
    ///
    /// - Throws: ``CodeFailure`` for other errors.
    static func catching<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            if error is ParseError || error is CodeFailure { throw error }
            // If the request continues, a cancellation comes from the app.
            throw Task.isCancelled ? CancellationError() : CodeFailure(cause: error)
        }
    }
}

extension ParseError {
    /// Whether the log has to have an error that clients get as this one, because they don't get its details.
    ///
    /// A cancelled request isn't a failure, and failures of webhooks are reported where they are called.
    func hides(_ error: any Error) -> Bool {
        (status >= 500 || error is CodeFailure) && !(error is CancellationError || error is FailedWebhook)
    }
}
