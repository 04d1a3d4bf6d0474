#if Server
import Foundation
import RelataParse

/// A library that sends to devices, by Apple's service, Google's or another.
protocol PushSender: Sendable {
    /// Sends a notification to devices, unless it is too late.
    func send(_ data: JSONObject, to tokens: [String], until end: Date?) async throws
}

extension CloudCode {
    /// Sends push notifications to phones.
    mutating func addPush(_ sender: some PushSender) {
        push { push, call in
            let keys = ["deviceToken", "deviceType"]
            for try await page in call.asMaster.installations(where: push.audience, keys: keys) {
                let phones = page.filter { $0["deviceType"] == "ios" }.compactMap { $0["deviceToken"]?.string }
                try await sender.send(push.data, to: phones, until: push.expiresAt)
            }
        }
    }
}
#endif
