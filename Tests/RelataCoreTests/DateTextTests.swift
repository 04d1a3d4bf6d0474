import Foundation
import RelataCore
import Testing

@Suite struct DateTextTests {
    @Test(arguments: [0, 1, -1, 1_795_242_000_123_456, -62_135_769_600_000_000, 64_092_211_200_000_000])
    func microsecondsComeBackFromText(_ microseconds: Int64) {
        #expect(DateText.microseconds(text: DateText.text(microseconds: microseconds)) == microseconds)
    }

    @Test func datesAtTheLimitsOfTextAreReadBack() {
        let (first, last) = (DateText.textRange.lowerBound, DateText.textRange.upperBound)
        #expect(DateText.text(microseconds: first) == "0000-01-01T00:00:00.000000Z")
        #expect(DateText.text(microseconds: last) == "9999-12-31T23:59:59.999999Z")
        for end in [first, last] {
            #expect(DateText.microseconds(text: DateText.text(microseconds: end)) == end)
            #expect(Value.integer(end).stored(as: .date(.iso8601)) == .text(DateText.text(microseconds: end)))
        }
        for outside in [first - 1, last + 1] {
            #expect(DateText.microseconds(text: DateText.text(microseconds: outside)) == nil)
            #expect(Value.integer(outside).stored(as: .date(.iso8601)) == nil)
            #expect(Value.integer(outside).stored(as: .date(.microseconds)) == .integer(outside))
        }
    }

    @Test func formatsOfOtherProgramsAreRead() {
        #expect(DateText.microseconds(text: "1970-01-02") == 86_400_000_000)
        #expect(DateText.microseconds(text: "1970-01-01 00:00:01") == 1_000_000)
        #expect(DateText.microseconds(text: "1970-01-01T01:00:00.5+01:00") == 500_000)
        #expect(DateText.microseconds(text: "2024-02-29") != nil)
    }

    @Test(arguments: [
        "9999-12-31T23:59:59.999-05:00", "0000-01-01T00:00:00+05:00", "9999-12-31T24:00:00Z", "9999-12-31T23:59:60Z",
        "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00-01:60", "2023-02-29", "2024-02-30", "2024-04-31",
        "2024-13-01", "2024-00-10", "soon", "", "2024-01-01T25:61",
    ])
    func whatIsNoDateIsRefused(_ text: String) {
        #expect(DateText.microseconds(text: text) == nil)
    }
}
