import RelataCore

/// The SQL functions that generated SQL calls.
enum SQLiteFunctions {
    /// Makes the functions known to a connection.
    static func register(on handle: OpaquePointer) throws(RelataError) {}
}
