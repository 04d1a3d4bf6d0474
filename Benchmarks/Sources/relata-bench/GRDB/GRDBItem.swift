import Foundation
import GRDB

/// The same row as a GRDB record that the compiler makes `Codable`.
struct CodableItem: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "Item"
    var id: Int
    var title: String
    var year: Int
    var price: Double
    var note: String?
    var createdAt: Date

    // The same columns hold the same values for all contestants.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .custom { Int64(($0.timeIntervalSince1970 * 1e6).rounded()) }
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .custom { Int64.fromDatabaseValue($0).map { Date(timeIntervalSince1970: Double($0) / 1e6) } }
    }

    init(_ item: Item) {
        (id, title, year, price, note, createdAt) =
            (item.id, item.title, item.year, item.price, item.note, item.createdAt)
    }

    var digest: Int {
        let texts = title.utf8.count &+ (note?.utf8.count ?? 0)
        return id &+ year &+ Int(price) &+ Int(createdAt.timeIntervalSince1970) &+ texts
    }
}

/// The same row as a GRDB record that reads its columns by their numbers.
struct IndexedItem: FetchableRecord, TableRecord {
    static let databaseTableName = "Item"
    let item: Item

    init(row: Row) {
        item = Item(
            id: row[0], title: row[1], year: row[2], price: row[3], note: row[4],
            createdAt: Date(timeIntervalSince1970: Double(row[5] as Int64) / 1e6))
    }
}
