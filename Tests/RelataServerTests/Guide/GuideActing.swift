#if Server
import RelataParse
import RelataServer

extension CloudCode {
    /// Counts for each reader, every morning, the new reviews that this reader may see.
    mutating func addDigest() {
        job("digest", schedule: .daily(hour: 7)) { job in
            for user in try await job.store.find("_User", keys: []) {
                guard let id = user["objectId"]?.string else { continue }
                let reviews = try await job.store.acting(as: .user(id)).find(
                    "Review", where: ["createdAt": ["$gt": ["$relativeTime": "1 day ago"]]], keys: [])
                try await job.store.create(
                    "Digest", ["reader": .string(id), "reviews": .integer(Int64(reviews.count))])
            }
        }
    }
}

/// The number of books that a server shows to those who aren't signed in.
func openBooks(of server: RelataServer) async throws -> Int {
    try await server.acting(as: .nobody).count("Book")
}
#endif
