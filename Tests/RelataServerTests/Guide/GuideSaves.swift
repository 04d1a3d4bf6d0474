#if Server
import Foundation
import RelataParse

extension CloudCode {
    /// Keeps the titles of books tidy, and the number of reviews of each reader.
    mutating func addSaveRules() {
        beforeSave("Book") { save, call in
            guard let title = save.object["title"]?.string, !title.isEmpty else {
                throw ParseError(.validationError, "a book needs a title")
            }
            save.object["title"] = .string(title.capitalized)
            if save.isNew { save.object["addedBy"] = call.userID.map { .string($0) } }
        }
        beforeDelete("Book") { book, call in
            let isRead = try await call.asMaster.count("Review", where: ["title": book["title"] ?? .null]) > 0
            if isRead { throw ParseError(.operationForbidden, "somebody has reviewed it") }
        }
        afterSave("Review") { review, call in
            guard review.isNew, let reader = call.userID else { return }
            _ = try? await call.asMaster.update("_User", reader, ["reviews": ["__op": "Increment", "amount": 1]])
        }
    }
}
#endif
