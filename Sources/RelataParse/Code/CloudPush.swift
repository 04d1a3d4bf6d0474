import Foundation
import RelataCore

/// A push notification that a request wants to be sent: `POST /push`.
public struct CloudPush: Sendable {
    /// The notification: `alert`, `badge`, `sound` and the app's own members, as they were sent.
    public let data: JSONObject
    /// The condition that the installations meet: the request's `where`, or one on its `channels`.
    public let audience: JSONObject
    /// The channels of the request; `nil` for one with a `where`.
    public let channels: [String]?
    /// The time after which the notification shouldn't be delivered any more; `nil` for no such time.
    public let expiresAt: Date?

    /// Reads the body of a request.
    ///
    /// - Throws: ``ParseError`` 115 for one that is wrong, and for a push that isn't due yet.
    init(_ body: JSONObject, now: Date = Date()) throws(ParseError) {
        let body = body.filter { !$0.value.isNull }
        guard let data = body["data"]?.object else {
            throw .wrongPush("data must be an object, such as {\"alert\": \"Hello\"}")
        }
        self.data = data
        (audience, channels) = try Self.audience(body)
        expiresAt = try Self.end(body, now)
        if let time = body["push_time"], try Self.time(time, in: "push_time") > now {
            throw .wrongPush(
                "push_time is in the future, and the server doesn't schedule pushes: let a job send it at that time")
        }
    }

    private static func audience(_ body: JSONObject) throws(ParseError) -> (JSONObject, [String]?) {
        guard let channels = body["channels"] else {
            guard let condition = body["where"] else {
                throw .wrongPush("Sending a push requires either \"channels\" or a \"where\" query.")
            }
            guard let condition = condition.object else { throw .wrongPush("where must be a JSON object") }
            return (condition, nil)
        }
        guard body["where"] == nil else {
            throw .wrongPush("Channels and query can not be set at the same time.")
        }
        let names = channels.array?.compactMap(\.string) ?? []
        guard !names.isEmpty, names.count == channels.array?.count else {
            throw .wrongPush("channels must be an array of names")
        }
        return (["channels": ["$in": channels]], names)
    }

    private static func end(_ body: JSONObject, _ now: Date) throws(ParseError) -> Date? {
        guard let interval = body["expiration_interval"] else {
            guard let time = body["expiration_time"] else { return nil }
            return try Self.time(time, in: "expiration_time")
        }
        guard body["expiration_time"] == nil else {
            throw .wrongPush("Both expiration_time and expiration_interval cannot be set")
        }
        guard let seconds = interval.number, seconds > 0, let end = date(now.addingTimeInterval(seconds)) else {
            throw .wrongPush("expiration_interval must be a number greater than 0, and end before the year 10000")
        }
        return end
    }

    /// A time in seconds since 1970, as text or as Parse's `Date`.
    private static func time(_ value: JSONValue, in name: String) throws(ParseError) -> Date {
        let time =
            if let seconds = value.number {
                date(Date(timeIntervalSince1970: seconds))
            } else {
                FieldDecoder.microseconds(value).map { DateText.date(microseconds: $0) }
            }
        guard let time else {
            throw .wrongPush("\(name) is not a valid time: it must be ISO 8601 or seconds since 1970")
        }
        return time
    }

    /// A date whose year has four digits; `nil` for any other, which may be in milliseconds by mistake.
    private static func date(_ date: Date) -> Date? {
        guard let microseconds = DateText.microseconds(of: date) else { return nil }
        return DateText.textRange.contains(microseconds) ? DateText.date(microseconds: microseconds) : nil
    }
}

extension CloudCode {
    /// Lets requests with the master key send push notifications: `POST /push`. The server itself sends none: `body`
    /// does, by any library. Its error is the reply, as in a function. The reply is sent once it has returned.
    ///
    /// ```swift
    /// options.code.push { push, call in
    ///     for try await page in call.asMaster.installations(where: push.audience) {
    ///         try await sender.send(push.data, to: page)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter body: Sends the notification. It replaces an earlier one.
    public mutating func push(_ body: @escaping @Sendable (CloudPush, CloudCall) async throws -> Void) {
        sendPush = body
    }
}

extension ParseService {
    /// Answers a request to send a push notification: the app's code sends it.
    func push(_ call: ParseCall) async throws -> WireReply {
        guard call.method == .post else { throw ParseError.impossible(call) }
        guard call.isMaster else { throw ParseError.masterKeyRequired }
        guard let send = options.code.sendPush else { throw Self.unknown(call) }
        let push = try CloudPush(call.body)
        let cloud = try await cloudCall("push", call)
        try await CodeFailure.catching { try await send(push, cloud) }
        return WireReply(["result": true])
    }
}

extension ParseError {
    /// The error for a push that can't be sent as it is asked for.
    fileprivate static func wrongPush(_ message: String) -> ParseError { ParseError(.pushMisconfigured, message) }
}
