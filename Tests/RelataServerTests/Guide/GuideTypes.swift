#if Server
import Foundation
import RelataParse

/// A reader's rating of a book.
struct Opinion: Codable, Sendable {
    var book: String
    var stars: Int
    var readAt: Date?
}

extension CloudCode {
    /// Lets readers rate books, once a book.
    mutating func addRatings() {
        function("rate", taking: Opinion.self, requires: [.user]) { opinion, call in
            guard (1...5).contains(opinion.stars) else { throw ParseError(.validationError, "1 to 5 stars") }
            try await call.asCaller.create(
                "Review",
                [
                    "book": ["__type": "Pointer", "className": "Book", "objectId": .string(opinion.book)],
                    "reader": .string(call.userID ?? ""), "stars": .integer(Int64(opinion.stars)),
                ])
            return opinion
        }
    }
}
#endif
