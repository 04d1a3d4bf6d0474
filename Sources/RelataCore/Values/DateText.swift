import Foundation

/// Dates as the database keeps them: microseconds since 1970, seconds, or ISO 8601 text.
public enum DateText {
    /// Seconds between 1970 and Foundation's reference date, 2001.
    private static let reference: Int64 = 978_307_200

    /// The date as microseconds since 1970, rounded; `nil` when it is too far away to be counted.
    public static func microseconds(of date: Date) -> Int64? {
        let scaled = (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()
        guard scaled > -9e18, scaled < 8e18 else { return nil }
        return Int64(scaled) + reference * 1_000_000
    }

    /// The date a number of microseconds after 1970.
    public static func date(microseconds: Int64) -> Date {
        // By the reference date, because a `Date` counts from it: fewer roundings give an exact round trip.
        let (distance, overflow) = microseconds.subtractingReportingOverflow(reference * 1_000_000)
        return Date(timeIntervalSinceReferenceDate: Double(overflow ? microseconds : distance) / 1_000_000)
    }

    /// The microseconds since 1970 that ISO 8601 has a form of four digits of the year for: 0000 to 9999.
    public static let textRange: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

    /// ISO 8601 in UTC with microseconds, `2026-11-21T06:19:00.123456Z`: sorts as text in the order of time.
    public static func text(microseconds: Int64) -> String {
        let (seconds, fraction) = floorDivide(microseconds, 1_000_000)
        let (days, secondOfDay) = floorDivide(seconds, 86_400)
        let (year, month, day) = civil(days)
        return digits(year, 4) + "-" + digits(month, 2) + "-" + digits(day, 2) + "T" + digits(secondOfDay / 3600, 2)
            + ":"
            + digits(secondOfDay / 60 % 60, 2) + ":" + digits(secondOfDay % 60, 2) + "." + digits(fraction, 6) + "Z"
    }

    /// Reads ISO 8601 and SQLite's own forms: a date, with or without a time, a fraction and an offset. Without an
    /// offset it is UTC. `nil` for other texts.
    public static func microseconds(text: String) -> Int64? {
        var scanner = Scanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let date = days(year: year, month: month, day: day)
        guard civil(date).2 == day else { return nil }  // such as 30 February
        var seconds = date * 86_400
        var fraction: Int64 = 0
        if !scanner.isAtEnd {
            guard scanner.skip("T") || scanner.skip(" "), let hour = scanner.number(2), scanner.skip(":"),
                let minute = scanner.number(2), hour < 25, minute < 60
            else { return nil }
            seconds += hour * 3600 + minute * 60
            if scanner.skip(":") {
                guard let second = scanner.number(2), second < 61 else { return nil }
                seconds += second
                if scanner.skip(".") { fraction = scanner.fraction() }
            }
            if !scanner.skip("Z"), !scanner.isAtEnd {
                let isWest = scanner.skip("-")
                guard isWest || scanner.skip("+"), let hours = scanner.number(2), hours < 24 else { return nil }
                _ = scanner.skip(":")
                let minutes = scanner.number(2) ?? 0
                guard minutes < 60 else { return nil }
                let offset = hours * 3600 + minutes * 60
                seconds += isWest ? offset : -offset
            }
        }
        // An offset may lead beyond the supported years.
        let microseconds = seconds * 1_000_000 + fraction
        return scanner.isAtEnd && textRange.contains(microseconds) ? microseconds : nil
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let quotient = value >= 0 ? value / divisor : (value + 1) / divisor - 1
        return (quotient, value - quotient * divisor)
    }

    private static func digits(_ value: Int64, _ width: Int) -> String {
        let text = String(abs(value))
        return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// Year, month and day of a day counted from 1970-01-01, by Howard Hinnant's `civil_from_days`.
    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// The day, counted from 1970-01-01, of a year, a month and a day. The inverse of ``civil(_:)``.
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = floorDivide(month <= 2 ? year - 1 : year, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private struct Scanner {
        private var rest: Substring.UTF8View

        init(_ text: String) { rest = text[...].utf8 }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func skip(_ character: Character) -> Bool {
            guard let byte = rest.first, byte == character.asciiValue else { return false }
            rest = rest.dropFirst()
            return true
        }

        /// Exactly the given number of digits.
        mutating func number(_ width: Int) -> Int64? {
            let digits = rest.prefix(width)
            guard digits.count == width, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
            rest = rest.dropFirst(width)
            return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
        }

        /// The digits of a fraction of a second, as microseconds.
        mutating func fraction() -> Int64 {
            let digits = rest.prefix { (48...57).contains($0) }
            rest = rest.dropFirst(digits.count)
            let first = digits.prefix(6)
            return first.reduce(0) { $0 * 10 + Int64($1 - 48) }
                * [1_000_000, 100_000, 10_000, 1000, 100, 10, 1][first.count]
        }
    }
}
