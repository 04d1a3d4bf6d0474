import Foundation
import GRDB
import Relata

/// Files and connections for the workloads: the same tables, the same pragmas for all.
extension Bench {
    /// A new file with the tables of models and no rows.
    func emptyFile(_ name: String, for model: any Model.Type) throws -> String {
        let file = try directory.file(name)
        try Store.open(file, for: model).close()
        return file
    }

    /// A file with items, closed and complete.
    func itemFile(_ name: String, count: Int) throws -> String {
        let file = try directory.file(name)
        let store = try Store.open(file, for: Item.self)
        try store.insert(contentsOf: Item.sequence(count))
        try store.close()
        return file
    }

    /// A store, opened without `async`.
    func store(_ file: String, for model: any Model.Type) throws -> Store { try Store.open(file, for: model) }

    /// GRDB's pool sets WAL mode and `synchronous = NORMAL` by itself.
    func grdb(_ file: String) throws -> DatabasePool { try DatabasePool(path: file) }
}
