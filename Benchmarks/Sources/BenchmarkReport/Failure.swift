/// An error with a message for the reader.
public struct Failure: Error, CustomStringConvertible {
    /// The message.
    public let description: String

    /// An error.
    public init(_ description: String) { self.description = description }
}
