import RelataCore

/// A connection that is kept for reading across suspensions: it sees one state, the one at its first statement.
///
/// It isn't one of the pool's readers: readers and writers never wait for it. It returns to the pool on ``end()``, and
/// on deinitialization.
@_documentation(visibility: internal)
package final class Snapshot {
    /// The connection, inside a transaction.
    package let connection: Connection
    private let readers: Leases
    private var isEnded = false

    convenience init(_ readers: Leases, _ engine: any Engine) throws {
        try self.init(readers, engine, readers.borrow())
    }

    /// Begins on a connection that was borrowed.
    init(_ readers: Leases, _ engine: any Engine, _ connection: Connection) throws {
        self.readers = readers
        self.connection = connection
        do {
            try engine.prepareForUse(connection)
            try connection.begin()
        } catch {
            isEnded = true
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
