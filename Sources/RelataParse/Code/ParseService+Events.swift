import Foundation
import RelataCore
import RelataEngine

extension ParseService {
    /// The number of days that the counts of events are kept.
    private static let eventDays = 400

    /// Answers a request about events: clients report one, and the master key reads the counts.
    func events(_ call: ParseCall) async throws -> WireReply {
        guard store.models == nil else { throw ParseError(.operationForbidden, "analytics are off") }
        switch (call.method, call.path.count) {
        case (.post, 2):
            let name = call.path[1]
            guard name.utf8.count <= 128 else {
                throw ParseError(.invalidKeyName, "the name of an event may have at most 128 bytes")
            }
            counter.add(name, on: Self.day(Date()))
            return WireReply([:])
        case (.get, 1):
            guard call.isMaster else { throw ParseError.masterKeyRequired }
            try await tendEvents()
            return try await store.read(as: .master) { transaction in
                let counts = try transaction.eventCounts().map { key, count -> JSONValue in
                    ["name": .string(key.name), "day": .string(key.day), "count": .integer(count)]
                }
                return WireReply(["results": .array(counts)])
            }
        default: throw ParseError.impossible(call)
        }
    }

    /// Stores the counted events.
    package func tendEvents(now: Date = Date()) async throws {
        let counts = counter.take()
        if counts.isEmpty { return }
        do {
            try await makeServiceClass(ServiceClasses.event)
            let oldest = Self.day(now.addingTimeInterval(-86_400 * Double(Self.eventDays)))
            counter.note(try await store.write(as: .master) { try $0.add(counts, forgetting: oldest) })
        } catch {
            counter.putBack(counts)
            throw error
        }
    }

    private static func day(_ date: Date) -> String { String(DateText.parseText(date).prefix(10)) }
}

extension ParseTransaction {
    /// The counts of events, in the order of their names and days.
    func eventCounts() throws -> [(EventCounter.Key, Int64)] {
        guard AccountClasses.isThere(ServiceClasses.event, in: storedClasses.schema) else { return [] }
        return try accountRows(ServiceClasses.event, []) { table, _ in
            "SELECT name, \"day\", \"count\" FROM \(table)"
        }.map { row in
            (EventCounter.Key(name: row[0].plainText ?? "", day: row[1].plainText ?? ""), row[2].wholeNumber ?? 0)
        }.sorted { ($0.0.name, $0.0.day) < ($1.0.name, $1.0.day) }
    }

    /// Adds to the stored counts.
    ///
    /// - Parameter oldest: The day before which counts are forgotten.
    /// - Returns: The names that have counts.
    func add(_ counts: [EventCounter.Key: Int64], forgetting oldest: String) throws -> Set<String> {
        try changeAccounts(ServiceClasses.event, [.text(oldest)]) { "DELETE FROM \($0) WHERE \"day\" < \($1[0])" }
        var names = Set(
            try accountRows(ServiceClasses.event, []) { table, _ in "SELECT DISTINCT name FROM \(table)" }
                .compactMap { $0[0].plainText })
        for (key, count) in counts.sorted(by: { ($0.key.name, $0.key.day) < ($1.key.name, $1.key.day) }) {
            var name = key.name
            if !names.contains(name), names.count >= EventCounter.maximumNames { name = EventCounter.other }
            names.insert(name)
            try changeAccounts(ServiceClasses.event, [.text(name), .text(key.day), .integer(count)]) { table, values in
                """
                INSERT INTO \(table) (name, "day", "count") VALUES (\(values.joined(separator: ", ")))
                ON CONFLICT (name, "day") DO UPDATE SET "count" = \(table)."count" + excluded."count"
                """
            }
        }
        return names
    }
}
