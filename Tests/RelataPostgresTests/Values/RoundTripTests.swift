#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import TestSupport
import Testing

/// Values of each type through a real server, in binary form, and in text form for columns that have no binary form.
@Suite(.needsPostgreSQL) struct RoundTripTests {
    /// A type, and a generator of values that round-trip.
    struct Kind: CustomTestStringConvertible, Sendable {
        let type: String
        let make: @Sendable (inout SeededGenerator) -> Value
        var testDescription: String { type }
    }

    static let kinds: [Kind] = [
        Kind(type: "boolean") { .integer(Int64.random(in: 0...1, using: &$0)) },
        Kind(type: "smallint") { .integer(Int64(Int16.random(in: .min ... .max, using: &$0))) },
        Kind(type: "integer") { .integer(Int64(Int32.random(in: .min ... .max, using: &$0))) },
        Kind(type: "bigint") { .integer(integer(&$0)) },
        Kind(type: "oid") { .integer(Int64(UInt32.random(in: 0 ... .max, using: &$0))) },
        Kind(type: "real") { .real(Double(Float(real(&$0)))) },
        Kind(type: "double precision") { .real(real(&$0)) },
        Kind(type: "numeric") { .text(decimal(&$0)) },
        Kind(type: "timestamptz") { .integer(.random(in: -210_866_803_200_000_000...Int64.max, using: &$0)) },
        Kind(type: "timestamp") { .integer(.random(in: DateText.textRange, using: &$0)) },
        Kind(type: "date") { .integer(Int64.random(in: -2_000_000...100_000_000, using: &$0) * 86_400_000_000) },
        Kind(type: "uuid") { .uuid(UUID(uuid: uuid(&$0))) },
        Kind(type: "bytea") { .blob(data(&$0)) },
        Kind(type: "text") { .text(text(&$0)) },
        Kind(type: "varchar(2000)") { .text(text(&$0)) },
        Kind(type: "json") { .text("{\"b\": \(JSONWriter.text(.string(text(&$0)))), \"a\":  1}") },
        Kind(type: "jsonb") { .text("{\"a\": 1, \"b\": \"\(integer(&$0))\"}") },
    ]

    static func integer(_ numbers: inout SeededGenerator) -> Int64 {
        [.min, .max, 0, 1, -1, Int64(Int32.max) + 1].randomElement(using: &numbers)
            .flatMap { Bool.random(using: &numbers) ? $0 : nil } ?? .random(in: .min ... .max, using: &numbers)
    }

    static func real(_ numbers: inout SeededGenerator) -> Double {
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: [0, -0.0, .infinity, -.infinity, 0.1, 1e15].randomElement(using: &numbers) ?? 0
        case 1: Double(Int64.random(in: -1000...1000, using: &numbers))
        default: .random(in: -1e9...1e9, using: &numbers)
        }
    }

    /// A decimal number as Foundation spells it, of any length.
    static func decimal(_ numbers: inout SeededGenerator) -> String {
        func digits(_ most: Int) -> String {
            String(
                (0..<Int.random(in: 0...most, using: &numbers)).map { _ in
                    "0123456789".randomElement(using: &numbers) ?? "0"
                })
        }
        var whole = String(digits(40).drop { $0 == "0" })
        if whole.isEmpty { whole = "0" }
        var fraction = digits(30)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        let number = whole + (fraction.isEmpty ? "" : "." + fraction)
        return number != "0" && Bool.random(using: &numbers) ? "-" + number : number
    }

    static func uuid(_ numbers: inout SeededGenerator) -> uuid_t {
        var uuid = UUID().uuid
        withUnsafeMutableBytes(of: &uuid) {
            for index in $0.indices { $0[index] = .random(in: 0...255, using: &numbers) }
        }
        return uuid
    }

    static func data(_ numbers: inout SeededGenerator) -> Data {
        Data((0..<Int.random(in: 0...300, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers) })
    }

    static func text(_ numbers: inout SeededGenerator) -> String {
        let parts = [
            "", "a", "é", "e\u{301}", "\u{1F468}\u{200D}\u{1F469}", "'", "\"", "\\", "\n", "\u{FEFF}", "$1", "NULL",
            "{}", "\u{10FFFF}", "\u{1}", "%", "日本",
        ]
        return (0..<Int.random(in: 0...30, using: &numbers)).map { _ in parts.randomElement(using: &numbers) ?? "" }
            .joined()
    }

    @Test(arguments: kinds, ["", ", INTERVAL '1 day' AS forces_text"])
    func valuesComeBackAsTheyWere(_ kind: Kind, _ more: String) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededGenerator(seed: seed)
        let session = try session()
        let statement = try session.prepare(
            name: "s", sql: "SELECT $1::\(kind.type) AS value, NULL::\(kind.type)\(more)")
        #expect(statement.isBinary == more.isEmpty)
        let parameters = ParameterBuffer()
        for _ in 0..<200 {
            let value = kind.make(&numbers)
            parameters.begin(statement)
            try parameters.append(value)
            let row = try session.execute(statement, parameters).values()[0]
            #expect(Array(row[..<2]) == [value, .null], "seed \(seed)")
        }
        parameters.begin(statement)
        try parameters.appendNull()
        #expect(try session.execute(statement, parameters).values()[0][0] == .null)
    }

    @Test(arguments: kinds) func listsComeBackAsTheyWere(_ kind: Kind) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededGenerator(seed: seed)
        let session = try session()
        let type = kind.type == "varchar(2000)" ? "varchar" : kind.type
        for count in [0, 1, 2, 300] {
            var list = (0..<count).map { _ in kind.make(&numbers) }
            if count == 300 { list[7] = .null }
            let rows = try session.values("SELECT * FROM unnest($1::\(type)[])", [.list(list)])
            #expect(rows == list.map { [$0] }, "seed \(seed)")
        }
    }

    @Test func cellsAreReadByTheirTypes() throws {
        let session = try session()
        let rows = try session.execute(
            SQLStatement(
                "SELECT true, 7::smallint, 1.5::float8, 'x'::text, '\\x00ff'::bytea, 2.50::numeric, NULL::bigint, '\(UUID().uuidString)'::uuid"
            ))
        let row = rows[0]
        #expect(row.columnCount == 8)
        #expect((0..<8).map { row[$0].isInteger } == [true, true, false, false, false, false, false, false])
        #expect((0..<8).map { row[$0].isReal } == [false, false, true, false, false, false, false, false])
        #expect((0..<8).map { row[$0].isText } == [false, false, false, true, false, true, false, false])
        #expect((0..<8).map { row[$0].isBlob } == [false, false, false, false, true, false, false, false])
        #expect((0..<8).map { row[$0].isNull } == [false, false, false, false, false, false, true, false])
        #expect(row[7].isUUID && row[7].uuid != nil && row[4].uuid == nil)
        #expect(try row[0].integer() == 1 && row[1].integer() == 7 && row[2].integer() == 1 && row[6].integer() == 0)
        #expect(try row[2].real() == 1.5 && row[1].real() == 7 && row[5].real() == 2.5 && row[6].real() == 0)
        #expect(try row[3].text() == "x" && row[5].text() == "2.5" && row[6].text() == "" && row[0].text() == "1")
        #expect(try row[3].withTextBytes { Array($0) } == [120])
        #expect(try row[4].data() == Data([0, 255]) && row[3].data() == Data([120]) && row[7].data().count == 16)
    }
}
#endif
