import RelataCore

extension JSONWriter {
    /// Writes a date as a string with milliseconds, as Parse does: `"2026-11-20T22:57:12.011Z"`. Smaller fractions are
    /// dropped.
    mutating func write(microseconds: Int64) {
        guard DateText.textRange.contains(microseconds) else {
            return write(DateText.parseText(microseconds: microseconds))
        }
        let milliseconds = microseconds >= 0 ? microseconds / 1000 : (microseconds - 999) / 1000
        let days = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
        let rest = Int(milliseconds - days * 86_400_000)
        // Howard Hinnant's `civil_from_days`; the year is at least 0, so that nothing is rounded towards it.
        let shifted = Int(days) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        append("\"")
        digits(year, 4)
        append("-")
        digits(month < 10 ? month + 3 : month - 9, 2)
        append("-")
        digits(dayOfYear - (153 * month + 2) / 5 + 1, 2)
        append("T")
        digits(rest / 3_600_000, 2)
        append(":")
        digits(rest / 60_000 % 60, 2)
        append(":")
        digits(rest / 1000 % 60, 2)
        append(".")
        digits(rest % 1000, 3)
        append("Z\"")
    }

    private mutating func digits(_ value: Int, _ count: Int) {
        var divisor = count == 4 ? 1000 : count == 3 ? 100 : 10
        while divisor > 0 {
            append(byte: UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
