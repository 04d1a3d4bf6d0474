/// An error of the app's code that isn't for clients.
struct CodeFailure: Error, CustomStringConvertible {
    let cause: any Error

    var description: String { "\(cause)" }

    /// What becomes of an error of the app's code: what is for clients stays as it is.
    static func of(_ error: any Error) -> any Error {
        if error is ParseError || error is CodeFailure || error is CancellationError { return error }
        return Task.isCancelled ? CancellationError() : CodeFailure(cause: error)
    }
}
