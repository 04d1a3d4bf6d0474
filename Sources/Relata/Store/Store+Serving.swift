import Foundation
import RelataCore
import RelataSQLite

/// What servers of a store's own data need: the typed view of a transaction that they began on the store's pool.
extension Store {
    /// The models, those that were found from others included.
    package var models: [any Model.Type] { catalog.types }

    /// The typed view of a transaction that a connection of the store's pool is in.
    ///
    /// - Parameter now: The stamp of all that is written.
    package func transaction(on connection: Connection, now: Date) -> WriteTransaction {
        WriteTransaction(connection, catalog, now: now)
    }
}

extension ReadTransaction {
    /// The object with a key whose columns are known only at run time.
    package func object<M: Model>(_ model: M.Type, key: KeyValue) throws -> M? {
        try objects(Query<M>().where { _ in Condition(.keyIn(FieldPath().object, [key])) }).first
    }
}
