import Synchronization

/// Bytes that arrive in pieces, such as the body of a large request. Its reader holds one piece at a time.
public struct ByteStream: Sendable {
    private let piece: @Sendable () async throws -> [UInt8]?

    /// Bytes that a closure yields.
    ///
    /// - Parameter next: Yields the next piece, which isn't empty; `nil` after the last. It is called again when it is
    ///   done.
    public init(next: @escaping @Sendable () async throws -> [UInt8]?) { piece = next }

    /// Bytes in one piece.
    public init(_ bytes: [UInt8]) {
        let rest = Rest(bytes)
        piece = { rest.take() }
    }

    /// The next piece; `nil` after the last.
    ///
    /// - Throws: The error of the bytes' source.
    public func next() async throws -> [UInt8]? { try await piece() }

    /// The bytes that no reader has taken yet.
    private final class Rest: Sendable {
        private let bytes: Mutex<[UInt8]>

        init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

        func take() -> [UInt8]? {
            bytes.withLock { rest in
                defer { rest = [] }
                return rest.isEmpty ? nil : rest
            }
        }
    }
}
