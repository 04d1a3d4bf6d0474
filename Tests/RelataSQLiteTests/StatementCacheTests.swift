import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Statements are kept for the next time, but never more than a connection has room for.
@Suite struct StatementCacheTests {
    @Test func theStatementCacheIsLimitedInSize() throws {
        let connection = try database("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)")
        for number in 0..<400 {
            let conditions = (0..<200).map { "a \(($0 + number) % 3 == 0 ? "<" : ">") \(number * 1000 + $0)" }
            _ = try connection.values(
                SQLStatement("SELECT id FROM t WHERE \(conditions.joined(separator: " OR "))", []))
            #expect(connection.cachedSize <= Connection.cacheSize)
        }
        #expect(connection.cachedSize > 0)
    }

    @Test func largeStatementsAreNotCached() throws {
        let connection = try database("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)")
        _ = try connection.values(SQLStatement("SELECT id FROM t WHERE a = ?1", [.value(1)]))
        let before = connection.cachedSize
        let texts = (0..<20_000).map { "'the text of number \($0)'" }
        _ = try connection.values(SQLStatement("SELECT id FROM t WHERE a IN (\(texts.joined(separator: ",")))", []))
        #expect(before > 0 && connection.cachedSize == before)
    }
}
