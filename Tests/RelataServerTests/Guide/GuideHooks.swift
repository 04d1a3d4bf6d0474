#if Server
import RelataParse

extension CloudCode {
    /// Shows clients only published books, and refuses banned users.
    mutating func addRules() {
        beforeFind("Book") { find, call in
            if !call.isMaster { find.conditions["isPublished"] = true }
            find.limit = min(find.limit ?? 50, 50)
        }
        afterFind("Review") { reviews, call in
            reviews.map { review in
                var review = review
                review["isOwn"] = .bool(review["reader"]?.string == call.userID)
                return review
            }
        }
        beforeLogin { user, call in
            // Users can write their own fields, so bans are in a class that only the master key writes.
            let bans = try await call.asMaster.count("Ban", where: ["username": user["username"] ?? .null])
            if bans > 0 { throw ParseError(.objectNotFound, "this account is closed") }
        }
    }
}
#endif
