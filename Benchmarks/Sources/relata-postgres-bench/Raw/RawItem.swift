#if PostgreSQL
import Foundation

/// Items through libpq, written out by hand.
extension RawResult {
    static let itemColumns = #""id", "title", "year", "price", "note", "createdAt""#
    /// From 1970 to 2000, where PostgreSQL's time begins.
    static let epoch = 946_684_800.0

    @inline(__always)
    func item(_ row: Int32) -> Item {
        Item(
            id: integer(row, 0), title: text(row, 1), year: integer(row, 2), price: real(row, 3),
            note: isNull(row, 4) ? nil : text(row, 4),
            createdAt: Date(timeIntervalSince1970: Double(integer(row, 5)) / 1e6 + Self.epoch))
    }

    /// All rows as items.
    func items() -> [Item] {
        var items: [Item] = []
        items.reserveCapacity(Int(count))
        for row in 0..<count { items.append(item(row)) }
        return items
    }
}

extension RawCopy {
    @inline(__always)
    func append(_ item: Item) throws {
        try beginRow(6)
        append(item.id)
        append(item.title)
        append(item.year)
        append(item.price)
        if let note = item.note { append(note) } else { appendNull() }
        append(Int(((item.createdAt.timeIntervalSince1970 - RawResult.epoch) * 1e6).rounded()))
    }
}
#endif
