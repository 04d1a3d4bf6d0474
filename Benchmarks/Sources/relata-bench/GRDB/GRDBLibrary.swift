import Foundation
import GRDB

// The library's rows as GRDB records that the compiler makes `Codable`.

struct CodableBook: Codable, PersistableRecord {
    static let databaseTableName = "Book"
    var id: UUID
    var title: String
    var year: Int
    var isbnId: String
}

struct CodableISBN: Codable, PersistableRecord {
    static let databaseTableName = "ISBN"
    var value: String
}

struct CodableAuthor: Codable, PersistableRecord {
    static let databaseTableName = "Author"
    var id: UUID
    var name: String
}

struct CodableAuthorship: Codable, PersistableRecord {
    static let databaseTableName = "Book_authors"
    var bookId: UUID
    var authorId: UUID
}
