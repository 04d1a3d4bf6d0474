#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

/// Built-in types, and types that are read as text.
@Suite(.needsPostgreSQL) struct TypeTests {
    private let database: TestDatabase
    private let session: Session

    init() throws {
        database = try PrivateCluster.shared.makeDatabase()
        session = try Session(PostgresURL(database.url))
        try session.run(
            """
            CREATE TYPE mood AS ENUM ('sad', 'it''s "ok"', 'fröhlich');
            CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
            CREATE DOMAIN moody AS mood; CREATE DOMAIN many AS bigint[]; CREATE DOMAIN moment AS timestamptz;
            CREATE TYPE pair AS (a integer, b text);
            CREATE TABLE t (mood mood, positive positive, moody moody, moods mood[], many many, moment moment, pair pair)
            """)
    }

    @Test func enumsAndDomainsUseTheBinaryFormat() throws {
        let rows = try session.values(
            "INSERT INTO t (mood, positive, moody, moment) VALUES ($1, $2, $3, $4) RETURNING mood, positive, moody, moment",
            [.value("it's \"ok\""), .value(7), .value("fröhlich"), .value(5)])
        #expect(rows == [["it's \"ok\"", 7, "fröhlich", 5]])
        #expect(try session.prepare(name: "", sql: "SELECT mood, positive, moody, moment FROM t").isBinary)
        #expect(try session.values("SELECT 1::bigint WHERE 'sad'::mood = ANY ($1)", [.list(["sad"])]) == [[1]])
        #expect(
            try session.values(
                "INSERT INTO t (moods, many) VALUES ($1, $2) RETURNING moods, many",
                [.list(["sad", .null, "it's \"ok\""]), .list([1, 2])]) == [["{sad,NULL,\"it's \\\"ok\\\"\"}", "{1,2}"]])
        #expect { try session.value("SELECT $1::mood", "angry") } throws: {
            if case .invalidUse? = ($0 as? PostgresFailure)?.error { true } else { false }
        }
        #expect((try? session.value("SELECT $1::positive", -1)) == nil)
    }

    @Test(arguments: [
        ("ARRAY[1,2,NULL]", "{1,2,NULL}"), ("ARRAY['a','b,c']", "{a,\"b,c\"}"),
        ("INTERVAL '1 day 2 hours'", "1 day 02:00:00"),
        ("'10.0.0.1'::inet", "10.0.0.1"), ("TIME '12:30'", "12:30:00"), ("'[1,5)'::int4range", "[1,5)"),
        ("point(1,2)", "(1,2)"), ("ROW(1, 'x')::pair", "(1,x)"), ("'a b'::tsvector", "'a' 'b'"), ("B'101'", "101"),
        ("'a'::\"char\"", "a"), ("'pg_class'::regclass", "pg_class"),
    ])
    func otherTypesAreReadAsText(_ sql: String, _ expected: String) throws {
        #expect(try session.values("SELECT \(sql), 7::bigint, NULL::interval") == [[.text(expected), 7, .null]])
    }

    @Test func aResultWithoutColumnsHasRows() throws {
        let rows = try session.execute(SQLStatement("SELECT FROM generate_series(1, 3)"))
        #expect(rows.count == 3 && rows.columns.isEmpty)
        #expect(try session.values("SELECT pg_notify('c', 'p')") == [[""]])
    }

    @Test(arguments: ["", ", INTERVAL '1 day'"]) func unrepresentableTimesAreErrors(_ more: String) throws {
        for sql in [
            "'infinity'::timestamptz", "'-infinity'::timestamp", "'infinity'::date", "'-infinity'::date",
            "'294276-12-31 23:59:59.999999'::timestamptz",
        ] {
            let rows = try session.execute(SQLStatement("SELECT \(sql) AS moment\(more)"))
            #expect { try rows.values() } throws: {
                if case .corruptStore(let message)? = $0 as? RelataError { message.contains("moment") } else { false }
            }
        }
        let early = try session.values("SELECT '4713-01-01 00:00:00 BC'::timestamptz, '0001-12-31 BC'::date\(more)")[0]
        #expect(early[0] == .integer(-210_863_520_000_000_000) && early[1] == .integer(-62_135_683_200_000_000))
    }

    @Test func textTypesOfExtensionsAreText() throws {
        guard try session.value("SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'") == 1 else {
            return
        }
        try session.run("CREATE EXTENSION citext")
        #expect(try session.value("SELECT ($1::citext = 'ABC'::citext)", "abc") == 1)
        #expect(try session.prepare(name: "", sql: "SELECT 'x'::citext").isBinary)
        #expect(try session.value("SELECT 'Xé'::citext") == "Xé")
    }
}
#endif
