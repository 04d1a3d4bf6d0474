import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Lending {
    #Index<Lending>([\.lent])
    @Attribute(.primaryKey) let id: Int
    var lent: Date
    @Attribute(.iso8601) var due: Date
    @Attribute(.seconds) var seen: Date?
}

/// Dates after a length of time, and the time between them, in every encoding of dates.
@Suite struct DateArithmeticTests {
    private func loans(_ engine: Engine) throws -> Store {
        let store = try TestStore.make(engine, for: Lending.self)
        let date = Discs.date
        try store.save([
            Lending(
                id: 1, lent: date("2024-01-31T10:00:00Z"), due: date("2024-02-29T10:00:00Z"),
                seen: date("2024-01-31T22:00:00Z")),
            Lending(id: 2, lent: date("2023-01-31T10:00:00Z"), due: date("2023-02-14T10:00:00Z")),
            Lending(
                id: 3, lent: date("1969-12-31T23:59:59Z"), due: date("1970-01-01T00:00:00Z"),
                seen: date("1969-12-31T23:59:58Z")),
        ])
        return store
    }

    private func ids(_ store: Store, _ query: Query<Lending>) throws -> [Int] {
        try store.fetch(query.sorted { $0.id }).map(\.id)
    }

    @Test(arguments: Engine.allCases) func datesAreMovedByDurations(_ engine: Engine) throws {
        let store = try loans(engine)
        #expect(try ids(store, Lending.where { $0.lent + .days(14) == $0.due }) == [2])
        #expect(try ids(store, Lending.where { $0.due - .weeks(2) == $0.lent }) == [2])
        #expect(try ids(store, Lending.where { $0.lent + .months(1) == $0.due }) == [1])
        #expect(try ids(store, Lending.where { $0.lent + .seconds(1) == $0.due }) == [3])
        #expect(try ids(store, Lending.where { $0.seen + .seconds(2) == $0.due.optional }) == [3])
        #expect(try ids(store, Lending.where { $0.seen - .hours(12) == $0.lent }) == [1])
        #expect(try ids(store, Lending.where { $0.seen + .days(1) == nil }) == [2])
        let dates = try store.fetch(
            Lending.sorted { $0.id }.select {
                ($0.lent + .months(1), $0.due - .years(1), $0.seen + .minutes(30), $0.lent - .months(2))
            })
        #expect(dates[0].0 == Discs.date("2024-02-29T10:00:00Z") && dates[1].0 == Discs.date("2023-02-28T10:00:00Z"))
        #expect(dates[2].0 == Discs.date("1970-01-31T23:59:59Z"))
        #expect(dates[0].1 == Discs.date("2023-02-28T10:00:00Z") && dates[2].1 == Discs.date("1969-01-01T00:00:00Z"))
        #expect(dates.map(\.2) == [Discs.date("2024-01-31T22:30:00Z"), nil, Discs.date("1970-01-01T00:29:58Z")])
        #expect(dates[0].3 == Discs.date("2023-11-30T10:00:00Z") && dates[2].3 == Discs.date("1969-10-31T23:59:59Z"))
        let error = thrown { try store.fetch(Lending.where { $0.lent + .days(.max) > Date() }) }
        #expect(error?.description.contains("more than 20,000 years") == true)
    }

    @Test(arguments: Engine.allCases) func computedDatesAreNotISOText(_ engine: Engine) throws {
        let store = try loans(engine)
        for error in [
            thrown { try store.update(Lending.all) { $0.due.set(to: $0.lent + .days(14)) } },
            thrown { try store.update(Lending.all) { $0.due.set(to: $0.due + .days(14)) } },
            thrown { try store.update(Lending.all) { $0.due.set(to: $0.lent) } },
        ] {
            let message = error?.description ?? ""
            #expect(message.hasPrefix("Lending.due is stored as ISO 8601 text"))
            #expect(message.hasSuffix("declare the attribute without .iso8601, or set it object by object"))
        }
        let sample = try TestStore.make(engine, for: Sample.self)
        let uuid = thrown { try sample.update(Sample.all) { $0.textUUID.set(to: $0.uuid) } }
        #expect(uuid?.description.hasPrefix("Sample.textUUID and Sample.uuid store a UUID differently") == true)
        // In the other direction, the computed number can be stored.
        #expect(try store.update(Lending.all) { $0.lent.set(to: $0.due + .days(1)) } == 3)
    }

    @Test(arguments: Engine.allCases) func theTimeBetweenDatesIsInSeconds(_ engine: Engine) throws {
        let store = try loans(engine)
        #expect(try ids(store, Lending.where { $0.due.timeIntervalSince($0.lent) > 86_400 * 20 }) == [1])
        #expect(try ids(store, Lending.where { $0.seen.timeIntervalSince($0.lent) < 0 }) == [3])
        #expect(try ids(store, Lending.where { $0.seen.timeIntervalSince($0.lent) == nil }) == [2])
        let start = Date(timeIntervalSince1970: 0)
        let seconds = try store.fetch(
            Lending.sorted { $0.id }.select { ($0.lent.timeIntervalSince(start), $0.due.timeIntervalSince($0.lent)) })
        #expect(
            seconds.map(\.0) == [1_706_695_200, 1_675_159_200, -1] && seconds.map(\.1) == [2_505_600, 1_209_600, 1])
    }

    @Test(arguments: Engine.allCases) func predicateTextCanMoveDates(_ engine: Engine) throws {
        let store = try loans(engine)
        #expect(try ids(store, Lending.matching("lent + days(14) == due")) == [2])
        #expect(try ids(store, Lending.matching("lent + months(1) == due AND due - lent > 86400 * 20")) == [1])
        #expect(try ids(store, Lending.matching("due - seconds(0.5) > lent AND lent < '1970-01-02'")) == [3])
        #expect(try ids(store, Lending.matching("seen > %@ + hours(6)", Discs.date("2024-01-31T12:00:00Z"))) == [1])
        #expect(try ids(store, Lending.matching("lent < now() - years(1)")) == [1, 2, 3])
        #expect(try ids(store, Lending.matching("lent > now()")) == [])
        #expect(try ids(store, Lending.matching("'1970-01-02' - due > 0")) == [3])
        for (text, column) in [
            ("lent + days('x') > due", 13), ("lent * days(1) > due", 8), ("id + days(1) > 2", 1),
            ("lent == days(1)", 9),
            ("lent + lent == 3", 1), ("lent - 5 > 3", 8), ("days(0.5) + lent > due", 6),
        ] {
            guard
                case .predicateFormat(_, let found, let message)? = thrown({ try store.fetch(Lending.matching(text)) })
            else {
                Issue.record("\(text) was read")
                continue
            }
            #expect(found == column, "\(text): \(message)")
        }
    }

    @Test(arguments: Engine.allCases) func movedDatesAreCompared(_ engine: Engine) throws {
        let store = try loans(engine)
        let now = Discs.date("2024-03-01T00:00:00Z")
        #expect(try ids(store, Lending.where { $0.lent + .days(14) > now }) == [])
        #expect(try ids(store, Lending.where { $0.lent + .days(14) < now }) == [1, 2, 3])
        #expect(try ids(store, Lending.where { $0.lent + .days(30) >= now }) == [1])
        #expect(try ids(store, Lending.where { $0.due + .days(1) == now + 36_000 }) == [1])
        #expect(try ids(store, Lending.where { $0.seen - .days(1) != now }) == [1, 2, 3])
    }

    /// The day is the same day of the month, or the last one that the month has.
    @Test(arguments: 1...200 as ClosedRange<UInt64>) func monthsAreThoseOfTheCalendar(_ seed: UInt64) throws {
        var random = SampleRandom(seed: seed)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for _ in 0..<20 {
            // From 1700 to 2300.
            let date = Int64.random(in: -8_520_336_000...10_413_792_000, using: &random) * 1_000_000
            let months = Int.random(in: -300...300, using: &random)
            var parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second],
                from: Date(timeIntervalSince1970: Double(date / 1_000_000)))
            let day = try #require(parts.day)
            let total = try #require(parts.year) * 12 + #require(parts.month) - 1 + months
            (parts.year, parts.month, parts.day) = (total / 12, total % 12 + 1, 1)
            let first = try #require(calendar.date(from: parts))
            parts.day = min(day, try #require(calendar.range(of: .day, in: .month, for: first)).count)
            let expected = calendar.date(from: parts)
            let found = DateOffset.months(months).added(to: date)
            #expect(
                found.map { Date(timeIntervalSince1970: Double($0 / 1_000_000)) } == expected,
                "seed \(seed): \(date) and \(months) months")
        }
    }
}
