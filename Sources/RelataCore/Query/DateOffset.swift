/// A length of time that is added to a date: a fixed length, calendar months, or both.
///
/// ```swift
/// Loan.where { $0.lent + .days(14) < Date() }
/// ```
///
/// Seconds, minutes, hours, days and weeks have fixed lengths; a day has 86,400 seconds, which is a calendar day in
/// UTC. A day in a time zone whose clocks change may be an hour shorter or longer. Months and years are those of the
/// Gregorian calendar in UTC: the time of day stays, and a day that the month doesn't have becomes its last, so that a
/// month after January 31 is February 28 or 29. The months are added first.
public struct DateOffset: Hashable, Sendable {
    /// The number of calendar months to add.
    package var months: Int
    /// The number of microseconds to add after the months.
    package var microseconds: Int64

    /// Calendar months and microseconds.
    package init(months: Int = 0, microseconds: Int64 = 0) {
        self.months = months
        self.microseconds = microseconds
    }

    /// A number of seconds, with fractions down to microseconds.
    public static func seconds(_ count: Double) -> DateOffset {
        let microseconds = (count * 1_000_000).rounded()
        return DateOffset(microseconds: Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max))
    }
    /// A number of minutes of 60 seconds.
    public static func minutes(_ count: Int) -> DateOffset { fixed(count, 60) }
    /// A number of hours of 3,600 seconds.
    public static func hours(_ count: Int) -> DateOffset { fixed(count, 3600) }
    /// A number of days of 86,400 seconds: calendar days in UTC.
    public static func days(_ count: Int) -> DateOffset { fixed(count, 86_400) }
    /// A number of weeks of seven days.
    public static func weeks(_ count: Int) -> DateOffset { fixed(count, 604_800) }
    /// A number of calendar months in UTC.
    public static func months(_ count: Int) -> DateOffset { DateOffset(months: count) }
    /// A number of calendar years in UTC.
    public static func years(_ count: Int) -> DateOffset {
        let (months, overflows) = count.multipliedReportingOverflow(by: 12)
        return DateOffset(months: overflows ? (count < 0 ? .min : .max) : months)
    }

    private static func fixed(_ count: Int, _ seconds: Int64) -> DateOffset {
        let (microseconds, overflows) = Int64(count).multipliedReportingOverflow(by: seconds * 1_000_000)
        return DateOffset(microseconds: overflows ? (count < 0 ? .min : .max) : microseconds)
    }

    /// The offset in the other direction.
    public static prefix func - (offset: DateOffset) -> DateOffset {
        DateOffset(
            months: offset.months == .min ? .max : -offset.months,
            microseconds: offset.microseconds == .min ? .max : -offset.microseconds)
    }

    /// Whether dates can be moved by it. Twenty thousand years are further than any date of the calendar is from
    /// another.
    var isWithinReach: Bool {
        months.magnitude <= 240_000 && microseconds.magnitude <= 20_000 * 366 * 86_400 * 1_000_000
    }

    /// A date, in microseconds since 1970, after the offset; `nil` if the result is out of range.
    package func added(to date: Int64) -> Int64? {
        guard isWithinReach, let moved = months == 0 ? date : Self.adding(months: Int64(months), to: date) else {
            return nil
        }
        let (result, overflows) = moved.addingReportingOverflow(microseconds)
        return overflows ? nil : result
    }

    // MARK: Calendar

    private static let day: Int64 = 86_400_000_000

    /// A date, in microseconds since 1970, that many calendar months later in UTC.
    package static func adding(months: Int64, to date: Int64) -> Int64? {
        guard months.magnitude <= 240_000 else { return nil }
        let days = date.flooredQuotient(by: day)
        let (year, month, dayOfMonth) = civil(days)
        let total = year * 12 + (month - 1) + months
        let (newYear, newMonth) = (total.flooredQuotient(by: 12), total.flooredRemainder(by: 12) + 1)
        let last = daysIn(month: newMonth, year: newYear)
        let (midnight, overflows) = self.days(newYear, newMonth, min(dayOfMonth, last))
            .multipliedReportingOverflow(by: day)
        let (result, isTooLarge) = midnight.addingReportingOverflow(date.flooredRemainder(by: day))
        return overflows || isTooLarge ? nil : result
    }

    /// The day of the proleptic Gregorian calendar, from days since 1970. Years are counted from March, so that the
    /// leap day is a year's last.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    /// Days since 1970 of a day of the calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredQuotient(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }

    fileprivate func flooredRemainder(by divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
