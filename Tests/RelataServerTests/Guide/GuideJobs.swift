#if Server
import RelataParse

extension CloudCode {
    /// Deletes the drafts that nobody has looked at for a month, every night.
    mutating func addTidying() {
        job("tidy", schedule: .daily(hour: 3)) { job in
            let old: JSONObject = ["updatedAt": ["$lt": ["$relativeTime": "30 days ago"]]]
            var count = 0
            while case let drafts = try await job.store.find("Draft", where: old, keys: []), !drafts.isEmpty {
                for draft in drafts {
                    try await job.store.delete("Draft", draft["objectId"]?.string ?? "")
                    count += 1
                }
                try await job.message("\(count) deleted")
            }
        }
    }
}
#endif
