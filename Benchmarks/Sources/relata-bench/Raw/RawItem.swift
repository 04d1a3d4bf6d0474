import Foundation
import GRDBSQLite

/// Items through SQLite's own interface, written out by hand.
extension RawStatement {
    static let itemColumns = "id, title, year, price, note, createdAt"

    @inline(__always)
    func bind(_ item: Item) {
        bind(item.id, 1)
        bind(item.title, 2)
        bind(item.year, 3)
        bind(item.price, 4)
        if let note = item.note { bind(note, 5) } else { sqlite3_bind_null(handle, 5) }
        bind(Int((item.createdAt.timeIntervalSince1970 * 1e6).rounded()), 6)
    }

    @inline(__always)
    var item: Item {
        Item(
            id: integer(0), title: text(1), year: integer(2), price: real(3), note: isNull(4) ? nil : text(4),
            createdAt: Date(timeIntervalSince1970: Double(integer(5)) / 1e6))
    }

    /// All rows of a query that selects ``itemColumns``.
    func items() throws -> [Item] {
        var items: [Item] = []
        while try step() { items.append(item) }
        sqlite3_reset(handle)
        return items
    }
}
