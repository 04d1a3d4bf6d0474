import RelataCore

/// A connection that is kept for reading across suspensions: it sees one state, that of its first statement.
///
/// It isn't one of the pool's readers: whoever reads or writes never waits for it. It goes back to the pool on
/// ``end()``, and with the object.
@_documentation(visibility: internal)
package final class Snapshot {
    /// The connection, inside a transaction.
    package let connection: Connection
    private let readers: Leases
    private var isEnded = false

    init(_ readers: Leases, _ engine: any Engine) throws {
        self.readers = readers
        connection = try readers.borrow()
        do {
            try engine.prepareForUse(connection)
            try connection.begin()
        } catch {
            readers.giveBack(connection)
            throw error
        }
    }

    deinit { end() }

    /// Gives the connection back. Queries that run on it must have ended.
    package func end() {
        if isEnded { return }
        isEnded = true
        connection.endReading()
        readers.giveBack(connection)
    }
}
