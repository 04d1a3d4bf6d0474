import Foundation
import RelataCore
import TestSupport
import Testing

/// Months and lengths of time after a date.
@Suite struct DateOffsetTests {
    private static let calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private func date(_ text: String) throws -> Int64 {
        let date = try Date(text + "T00:00:00Z", strategy: .iso8601)
        return Int64(date.timeIntervalSince1970) * 1_000_000
    }

    @Test(arguments: [
        ("2024-01-31", 1, "2024-02-29"), ("2023-01-31", 1, "2023-02-28"), ("2100-01-30", 1, "2100-02-28"),
        ("2000-01-30", 1, "2000-02-29"), ("2024-03-31", 1, "2024-04-30"), ("2024-12-31", 1, "2025-01-31"),
        ("2024-02-29", 12, "2025-02-28"), ("2024-03-31", -1, "2024-02-29"), ("2024-01-15", -13, "2022-12-15"),
        ("1969-12-31", 2, "1970-02-28"), ("2024-07-31", 1, "2024-08-31"), ("2024-05-31", -1, "2024-04-30"),
        ("2024-10-31", 1, "2024-11-30"), ("2024-08-31", 1, "2024-09-30"), ("2024-05-31", 1, "2024-06-30"),
    ])
    func aDayThatTheMonthLacksBecomesItsLast(from: String, months: Int64, to: String) throws {
        #expect(try DateOffset.adding(months: months, to: date(from)) == date(to))
        #expect(try DateOffset.months(Int(months)).added(to: date(from) + 5) == date(to) + 5)
    }

    @Test func monthsAreThoseOfTheCalendar() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let seconds = Int64.random(in: -8_000_000_000...12_000_000_000, using: &random)
            let months = Int.random(in: -1200...1200, using: &random)
            let moved = Self.calendar.date(
                byAdding: .month, value: months, to: Date(timeIntervalSince1970: Double(seconds)))
            let expected = try #require(moved).timeIntervalSince1970
            #expect(
                DateOffset.adding(months: Int64(months), to: seconds * 1_000_000) == Int64(expected) * 1_000_000,
                "\(months) months after \(seconds)")
        }
    }

    @Test func lengthsAreFixed() {
        #expect(DateOffset.seconds(1.5).added(to: 10) == 1_500_010)
        #expect(DateOffset.minutes(2).added(to: 0) == 120_000_000)
        #expect(DateOffset.hours(-1).added(to: 0) == -3_600_000_000)
        #expect(DateOffset.days(1).added(to: 0) == 86_400_000_000)
        #expect(DateOffset.weeks(1) == .days(7))
        #expect(DateOffset.years(2) == .months(24))
        #expect((-DateOffset(months: 3, microseconds: 4)) == DateOffset(months: -3, microseconds: -4))
    }

    @Test func datesOutOfRangeAreRefused() {
        #expect(DateOffset.days(.max).added(to: 0) == nil)
        #expect(DateOffset.years(.min).added(to: 0) == nil)
        #expect((-DateOffset.days(.min)).added(to: 0) == nil)
        #expect(DateOffset.years(20_000).added(to: 0) != nil)
        #expect(DateOffset.months(240_001).added(to: 0) == nil)
        #expect(DateOffset.seconds(1).added(to: .max) == nil)
    }
}
