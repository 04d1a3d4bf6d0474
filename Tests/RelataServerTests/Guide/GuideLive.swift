#if Server
import RelataParse

extension CloudCode {
    /// Lets signed-in clients follow the published books, and names the reader of a review only to that reader.
    mutating func addLiveRules() {
        beforeConnect { connection, call in
            if call.userID == nil, !call.isMaster { throw ParseError(.operationForbidden, "sign in first") }
        }
        beforeSubscribe("Book") { query, call in
            if !call.isMaster { query.conditions["isPublished"] = true }
        }
        afterEvent("Review") { event, call in
            if event.object["isDraft"] == true { event.isSent = false }
            if event.object["reader"]?.string != call.userID { event.object["reader"] = nil }
        }
    }
}
#endif
