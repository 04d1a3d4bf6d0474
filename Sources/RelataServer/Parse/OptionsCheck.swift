#if Server
import RelataCore
import RelataParse

extension ParseService.Options {
    /// - Throws: ``RelataError`` that names what can't be.
    func check() throws(RelataError) {
        let numbers = [
            ("defaultLimit", defaultLimit), ("maximumLimit", maximumLimit ?? 1), ("maximumBatch", maximumBatch ?? 1),
            ("maximumReply", maximumReply), ("maximumKeptReply", maximumKeptReply),
            ("maximumBodyWithoutKeys", maximumBodyWithoutKeys),
        ]
        for (name, number) in numbers where number <= 0 {
            throw .invalidUse("\(name) is \(number): it must be above 0")
        }
        guard maximumReply <= RelataServer.Limits.maximumSize else {
            throw .invalidUse(
                "maximumReply is \(maximumReply): it must be at most \(RelataServer.Limits.maximumSize)")
        }
        guard maximumKeptReplies >= maximumKeptReply else {
            throw .invalidUse(
                "maximumKeptReplies is \(maximumKeptReplies): it must be at least maximumKeptReply, which is \(maximumKeptReply)"
            )
        }
        guard requestLifetime > 0, requestLifetime <= 31_536_000 else {
            throw .invalidUse("requestLifetime is \(requestLifetime): it must be above 0, and at most a year")
        }
    }
}
#endif
