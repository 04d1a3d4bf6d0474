#if Server
import Foundation
import Relata

// Models of the tables that the server makes for its classes, to measure the library itself.

@Model struct Publisher {
    @Attribute(.primaryKey) let objectId: String
    @Attribute(.createdAt) var createdAt: Date
    @Attribute(.updatedAt) var updatedAt: Date
    var city: String?
    var name: String?
}

@Model struct Author {
    @Attribute(.primaryKey) let objectId: String
    @Attribute(.createdAt) var createdAt: Date
    @Attribute(.updatedAt) var updatedAt: Date
    var born: Double?
    var name: String?
}

@Model struct Book {
    @Attribute(.primaryKey) let objectId: String
    @Attribute(.createdAt) var createdAt: Date
    @Attribute(.updatedAt) var updatedAt: Date
    @Relationship(columns: ["author"]) var author: ToOne<Author>?
    var inPrint: Bool?
    var note: String?
    var price: Double?
    @Relationship(columns: ["publisher"]) var publisher: ToOne<Publisher>?
    var title: String?
    var year: Double?
}

@Model struct Shelf {
    @Attribute(.primaryKey) let objectId: String
    @Attribute(.createdAt) var createdAt: Date
    @Attribute(.updatedAt) var updatedAt: Date
    @Relationship(ordered: true, joinTable: "_Join:books:Shelf") var books: ToMany<Book>
    var name: String?
}

/// A book with the objects that it links to.
@Shape(of: Book.self) struct FullBook: Encodable {
    var createdAt: Date
    var updatedAt: Date
    var author: Writer?
    var inPrint: Bool?
    var note: String?
    var price: Double?
    var publisher: House?
    var title: String?
    var year: Double?

    @Shape(of: Author.self) struct Writer: Encodable {
        var createdAt: Date
        var updatedAt: Date
        var born: Double?
        var name: String?
    }

    @Shape(of: Publisher.self) struct House: Encodable {
        var createdAt: Date
        var updatedAt: Date
        var city: String?
        var name: String?
    }
}

/// A book with the keys of the objects that it links to.
@Shape(of: Book.self) struct PlainBook: Encodable {
    var createdAt: Date
    var updatedAt: Date
    var author: String?
    var inPrint: Bool?
    var note: String?
    var price: Double?
    var publisher: String?
    var title: String?
    var year: Double?
}
#endif
