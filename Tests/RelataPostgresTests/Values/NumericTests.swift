#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct NumericTests {
    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("0.000", "0"), ("00012.3400", "12.34"), ("1e3", "1000"), ("1.5E-7", "0.00000015"),
        (".5", "0.5"), ("5.", "5"), ("+7", "7"), ("-0.0001", "-0.0001"), ("10000", "10000"), ("100000000", "100000000"),
        ("0.00001", "0.00001"), ("12345678.87654321", "12345678.87654321"), ("9999.9999", "9999.9999"),
        ("1e40", "1" + String(repeating: "0", count: 40)), ("1e-40", "0." + String(repeating: "0", count: 39) + "1"),
        ("99999999999999999999999999999999999999999.5", "99999999999999999999999999999999999999999.5"),
    ])
    func textIsReadAndSpelledExactly(_ text: String, _ expected: String) throws {
        let session = try session()
        // Compares with the server's own reading of the text.
        #expect(try session.value("SELECT $1::numeric = '\(text)'::numeric", .text(text)) == 1)
        #expect(try session.value("SELECT $1::numeric", .text(text)) == .text(expected))
        #expect(
            try session.values("SELECT $1::numeric, INTERVAL '1 day'", [.value(.text(text))])[0][0] == .text(expected))
        if expected.count < 38 {
            #expect(try #require(Decimal(string: text)).description == expected)
        }
    }

    @Test func fractionDigitsAreKept() throws {
        #expect(try session().value("SELECT scale($1::numeric)::bigint", "1.500") == 3)
        #expect(try session().value("SELECT scale($1::numeric)::bigint", "0.000") == 3)
        #expect(try session().value("SELECT ($1::numeric)::text", "-1.500") == "-1.500")
    }

    @Test func numbersOfOtherTypesBecomeDecimals() throws {
        let session = try session()
        for value in [Int64.min, .max, 0, -1, 9999, 10_000, 10_001, 100_000_000] {
            #expect(try session.value("SELECT $1::numeric", .integer(value)) == .text(String(value)))
        }
        #expect(try session.value("SELECT $1::numeric", .real(0.1)) == "0.1")
        #expect(try session.value("SELECT $1::numeric", .real(-1e22)) == "-10000000000000000000000")
        #expect(try session.value("SELECT $1::numeric", .real(1e-7)) == "0.0000001")
    }

    @Test(arguments: [
        "", "-", ".", "1a", "1e", "e5", "1.2.3", "NaN", "Infinity", " 1", "1 ", "0x10", "1e999999999999", "1e-20000",
    ])
    func invalidDecimalsAreRefused(_ text: String) throws {
        let session = try session()
        #expect(throws: (any Error).self) { try session.value("SELECT $1::numeric", .text(text)) }
    }

    @Test(arguments: ["NaN", "Infinity", "-Infinity"], ["", ", INTERVAL '1 day'"])
    func nonDecimalValuesAreErrorsThatNameTheColumn(_ text: String, _ more: String) throws {
        if text != "NaN", try session().serverVersion < 140_000 { return }
        let rows = try session().execute(SQLStatement("SELECT '\(text)'::numeric AS price\(more)"))
        #expect { try rows.values() } throws: {
            if case .corruptStore(let message)? = $0 as? RelataError { message.contains("price") } else { false }
        }
    }

    @Test func longNumbersAreReadCompletely() throws {
        let session = try session()
        let long = String(repeating: "123456789", count: 2000)
        #expect(try session.value("SELECT $1::numeric", .text(long)) == .text(long))
        let fraction = "0." + long.prefix(16_383)
        #expect(try session.value("SELECT $1::numeric", .text(fraction)) == .text(fraction))
    }
}
#endif
