import Foundation
import Relata

/// The row of six columns that most workloads read and write.
@Model struct Item {
    let id: Int
    var title: String
    var year: Int
    var price: Double
    var note: String?
    var createdAt: Date
}

extension Item {
    /// The same items in every run.
    static func samples(_ count: Int) -> [Item] {
        Array(sequence(count))
    }

    /// The same items, made on demand.
    static func sequence(_ count: Int) -> some Sequence<Item> {
        (1...count).lazy.map { number in
            let note: String? = number % 3 == 0 ? nil : "Bought in shop number \(number % 97)"
            let createdAt = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
            return Item(
                id: number, title: "The wonderful adventures, part \(number)", year: 1900 + number * 7919 % 120,
                price: Double(number % 1000) / 10, note: note, createdAt: createdAt)
        }
    }

    /// A number that depends on every column, so that no contestant can leave one out.
    var digest: Int {
        let texts = title.utf8.count &+ (note?.utf8.count ?? 0)
        return id &+ year &+ Int(price) &+ Int(createdAt.timeIntervalSince1970) &+ texts
    }
}

extension [Item] {
    var digest: Int { reduce(0) { $0 &+ $1.digest } }
}
