import RelataCore
import Testing

@testable import RelataParse

/// The statement of a group of live queries is written once.
struct LiveStatementTests {
    private final class Compiler {
        var count = 0
        var sql = "SELECT … WHERE year > ? AND id = ?"

        func compile(_ keys: [KeyValue]) throws -> CompiledQuery {
            count += 1
            let parameter: Parameter =
                keys.count == 1 ? .value(keys[0].values[0]) : .list(keys.map { $0.values[0] })
            return CompiledQuery(
                statement: SQLStatement(sql, [.value(.integer(1980)), parameter]), columnTypes: [.text])
        }
    }

    private func key(_ text: String) -> KeyValue { KeyValue(.text(text)) }

    @Test func theTextIsWrittenOnceForOneObjectAndOnceForSeveral() throws {
        let (statement, compiler) = (LiveStatement(), Compiler())
        for id in ["a", "b", "c"] {
            let query = try statement.query(among: [key(id)], compiler.compile)
            #expect(query.statement.parameters == [.value(.integer(1980)), .value(.text(id))])
            #expect(query.statement.sql == compiler.sql && query.columnTypes == [.text])
        }
        #expect(compiler.count == 1)
        for ids in [["a", "b"], ["c", "d", "e"]] {
            let query = try statement.query(among: ids.map(key), compiler.compile)
            #expect(query.statement.parameters == [.value(.integer(1980)), .list(ids.map { .text($0) })])
        }
        #expect(compiler.count == 2)
    }

    @Test func valuesThatCannotBeBoundAreWrittenEachTime() throws {
        let (statement, compiler) = (LiveStatement(), Compiler())
        for number in 1...2 {
            let query = try statement.query(among: [KeyValue(.integer(Int64(number)))], compiler.compile)
            #expect(query.statement.parameters.last == .value(.integer(Int64(number))))
        }
        #expect(compiler.count == 2)
        // The key isn't among the parameters.
        var count = 0
        for _ in 1...3 {
            _ = try statement.query(among: [key("a")]) { _ in
                count += 1
                return CompiledQuery(statement: SQLStatement("SELECT 1", []), columnTypes: [])
            }
        }
        #expect(count == 4)
    }
}
