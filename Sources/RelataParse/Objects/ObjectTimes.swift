import Foundation
import RelataCore

/// The times that a request says an object was made and changed at. Only the maintenance key may choose them.
struct ObjectTimes: Sendable {
    private var createdAt: JSONValue?
    private var updatedAt: JSONValue?

    mutating func set(_ name: String, _ value: JSONValue) {
        if name == "createdAt" { createdAt = value } else { updatedAt = value }
    }

    /// The times.
    ///
    /// - Throws: ``ParseError`` 111 for a value that isn't a date.
    func chosen() throws(ParseError) -> ChosenTimes {
        var times = ChosenTimes()
        if let createdAt { times.createdAt = try Self.date(createdAt, "createdAt") }
        if let updatedAt { times.updatedAt = try Self.date(updatedAt, "updatedAt") }
        return times
    }

    private static func date(_ value: JSONValue, _ name: String) throws(ParseError) -> Date {
        guard let text = value.string ?? value["iso"]?.string,
            let microseconds = DateText.microseconds(text: text)
        else {
            throw ParseError(
                .incorrectType, "\(name.prefix(16)) must be a date such as 2026-03-01T12:00:00.000Z")
        }
        return DateText.date(microseconds: microseconds)
    }
}

/// The times to write for an object, if they aren't those of the transaction.
struct ChosenTimes: Sendable {
    var createdAt: Date?
    var updatedAt: Date?
    /// Whether the object counts as unchanged.
    var keepsUpdatedAt = false
}
