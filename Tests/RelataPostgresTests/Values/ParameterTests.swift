#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@Suite(.needsPostgreSQL) struct ParameterTests {
    private let id = UUID(uuidString: "12345678-9ABC-DEF0-1234-56789ABCDEF0") ?? UUID()

    @Test func valuesAreConvertedToTheParametersType() throws {
        let session = try session()
        let conversions: [(String, Value, Value)] = [
            ("bigint", .real(3), 3), ("boolean", .real(1), 1), ("integer", "42", 42), ("double precision", 2, 2.0),
            ("real", 2, 2.0), ("double precision", "0.5", 0.5), ("text", 7, "7"), ("text", .real(0.5), "0.5"),
            ("timestamptz", "1970-01-01T00:00:01.5Z", 1_500_000), ("timestamptz", .real(1.5), 1_500_000),
            ("date", "1970-01-03", .integer(2 * 86_400_000_000)), ("uuid", .text(id.uuidString), .uuid(id)),
            ("uuid", .blob(withUnsafeBytes(of: id.uuid) { Data($0) }), .uuid(id)),
            ("bytea", .uuid(id), .blob(withUnsafeBytes(of: id.uuid) { Data($0) })),
            ("text", .uuid(id), .text(id.uuidString.lowercased())), ("jsonb", 5, "5"),
            ("jsonb", .uuid(id), .text("\"\(id.uuidString.lowercased())\"")), ("name", "x", "x"),
            ("timestamptz", "12026-01-01 00:00:00+00", .integer(317336745600000000)),
            ("interval", "1 day 2 hours", "1 day 02:00:00"), ("inet", "10.0.0.1/8", "10.0.0.1/8"),
            ("time", "12:30", "12:30:00"), ("int4range", "[1,5)", "[1,5)"),
        ]
        for (type, given, expected) in conversions {
            #expect(try session.value("SELECT $1::\(type)", given) == expected, "\(type) \(given)")
        }
    }

    @Test(arguments: [
        ("smallint", Value.integer(32_768)), ("integer", .integer(-2_147_483_649)), ("oid", -1), ("boolean", 2),
        ("bigint", .real(0.5)), ("bigint", .real(.nan)), ("integer", "12a"), ("bigint", .blob(Data([1]))),
        ("real", .real(1e300)), ("numeric", .real(.infinity)), ("uuid", "no uuid"), ("uuid", .blob(Data([1, 2]))),
        ("bytea", "text"), ("text", .blob(Data([1]))), ("timestamptz", .integer(.min)), ("date", 1),
        ("jsonb", .real(.nan)), ("uuid", 1), ("double precision", "one"),
    ])
    func aValueThatDoesNotFitIsNamedWithTheType(_ type: String, _ value: Value) throws {
        let statement = try session().prepare(name: "", sql: "SELECT $1::\(type)")
        let parameters = ParameterBuffer()
        parameters.begin(statement)
        #expect { try parameters.append(value) } throws: {
            guard case .invalidUse(let message)? = $0 as? RelataError else { return false }
            return message.contains("the value \(value) doesn't fit PostgreSQL's")
                && (message.contains(type) || message.contains("timestamp"))
        }
        // Nothing of the refused value is left: the next value takes its place.
        try parameters.appendNull()
        #expect(parameters.count == 1)
    }

    @Test(arguments: ["text", "jsonb", "json", "varchar", "interval"]) func nullBytesInTextAreRefused(_ type: String)
        throws
    {
        let statement = try session().prepare(name: "", sql: "SELECT $1::\(type), $2::text[]")
        let parameters = ParameterBuffer()
        parameters.begin(statement)
        #expect { try parameters.append("before\0after") } throws: { "\($0)".contains("can't contain U+0000") }
        try parameters.appendNull()
        #expect { try parameters.append(list: ["a", "\0"]) } throws: { "\($0)".contains("can't contain U+0000") }
    }

    @Test func nullBytesInJSONAreRefusedByTheServer() throws {
        #expect { try session().value("SELECT $1::jsonb", "\"\\u0000\"") } throws: {
            if case .invalidUse? = ($0 as? PostgresFailure)?.error { true } else { false }
        }
    }

    @Test func tooManyAndTooFewValuesAreRefused() throws {
        let session = try session()
        let statement = try session.prepare(name: "", sql: "SELECT $1::bigint, $2::bigint")
        let parameters = ParameterBuffer()
        parameters.begin(statement)
        try parameters.append(1 as Int64)
        #expect(throws: PostgresFailure.self) { _ = try session.execute(statement, parameters) }
        try parameters.append(2 as Int64)
        #expect(throws: RelataError.self) { try parameters.append(3 as Int64) }
        #expect(try session.execute(statement, parameters).values() == [[1, 2]])
    }

    @Test func keysOfSeveralColumnsAreJSON() throws {
        let session = try session()
        let keys = [
            KeyValue([1, "a\"\\\n", .null]), KeyValue([.integer(.max), .uuid(id), .real(0.5)]),
            KeyValue([.integer(.min), .blob(Data([0xAB, 1])), "é"]),
        ]
        let rows = try session.values(
            "SELECT (k->>0)::bigint, k->>1, k->>2 FROM jsonb_array_elements($1::jsonb) AS k", [.keys(keys)])
        #expect(
            rows == [
                [1, "a\"\\\n", .null], [.integer(.max), .text(id.uuidString.lowercased()), "0.5"],
                [.integer(.min), "ab01", "é"],
            ])
        #expect(try session.values("SELECT jsonb_array_length($1::jsonb)", [.keys([])]) == [[0]])
        #expect(
            try session.values("SELECT * FROM unnest($1::bigint[])", [.keys([KeyValue(7), KeyValue(8)])]) == [[7], [8]])
        #expect(throws: PostgresFailure.self) { try session.values("SELECT $1::bigint[]", [.keys(keys)]) }
        #expect(throws: PostgresFailure.self) { try session.values("SELECT $1::bigint", [.list([1])]) }
        #expect(throws: PostgresFailure.self) {
            try session.values("SELECT $1::jsonb", [.keys([KeyValue([.real(.nan)])])])
        }
        #expect(try session.values("SELECT $1::jsonb", [.list([1, "a", .null])]) == [["[1, \"a\", null]"]])
    }

    @Test func elementsWithoutABinaryFormatAreSentAsText() throws {
        let list: [Value] = ["1 day", .null, "2 hours"]
        #expect(
            try session().values("SELECT * FROM unnest($1::interval[])", [.list(list)]) == [
                ["1 day"], [.null], ["02:00:00"],
            ])
        let texts: [Value] = ["[\"a\",\"b\\\\,{}\"]"]
        #expect(
            try session().values("SELECT lower(r)::bigint FROM unnest($1::int8range[]) AS r", [.list(["[1,3]"])]) == [
                [1]
            ])
        #expect(throws: PostgresFailure.self) { try session().values("SELECT $1::point[]", [.list(texts)]) }
    }
}
#endif
