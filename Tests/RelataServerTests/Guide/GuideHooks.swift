#if Server
import RelataParse

extension CloudCode {
    /// Shows clients only what is published, and nobody in who is banned.
    mutating func addRules() {
        beforeFind("Book") { find, call in
            if !call.isMaster { find.conditions["isPublished"] = true }
            find.limit = min(find.limit ?? 50, 50)
        }
        afterFind("Review") { reviews, call in
            reviews.filter { $0["reader"]?.string == call.userID || $0["isHidden"] != true }
        }
        beforeLogin { user, _ in
            if user["isBanned"] == true { throw ParseError(.objectNotFound, "this account is closed") }
        }
    }
}
#endif
