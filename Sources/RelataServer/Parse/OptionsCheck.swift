#if Server
import RelataCore
import RelataParse

extension ParseService.Options {
    /// - Throws: `RelataError` that names the invalid option.
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
        if let files {
            guard files.maximumSize > 0 else {
                throw .invalidUse("maximumSize of files is \(files.maximumSize): it must be above 0")
            }
            // Comparisons with NaN are false.
            if let time = files.unusedLifetime, !(time > 0 && time <= 100 * 31_536_000) {
                throw .invalidUse(
                    "unusedLifetime of files is \(time): it must be above 0, and at most a hundred years, or nil for ever"
                )
            }
            if let time = files.signing?.lifetime, !(time > 0 && time <= 31_536_000) {
                throw .invalidUse("the lifetime of signed addresses is \(time): it must be above 0, and at most a year")
            }
            if let url = files.publicURL {
                guard ["http://", "https://"].contains(where: url.hasPrefix),
                    url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                else { throw .invalidUse("the public address \(url) isn't one such as https://example.com/parse") }
            }
        }
        guard sessionLifetime > 0, sessionLifetime <= 100 * 31_536_000 else {
            throw .invalidUse("sessionLifetime is \(sessionLifetime): it must be above 0, and at most a hundred years")
        }
        for limit in rateLimits { try limit.check() }
        try passwords.check()
        try lockout?.check()
        try SignInProvider.check(signIn)
        try mail?.check()
        try code.check()
        try (mail?.sender as? SMTPSender)?.check()
        try webhooks?.check()
        try (webhooks?.sender as? HTTPWebhooks)?.check()
        guard requestLifetime > 0, requestLifetime <= 31_536_000 else {
            throw .invalidUse("requestLifetime is \(requestLifetime): it must be above 0, and at most a year")
        }
    }
}
#endif
