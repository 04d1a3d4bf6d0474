import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Names and numbers of columns at their limits.
@Suite struct NamedTableTests {
    @Test func filesWithQuotedNamesAreRecognized() throws {
        let store = try TestStore.make(.sqliteFile, for: Odd.self)
        var root = Odd(name: "root", quote: 1, smile: "😀")
        root.parts.add(Odd(name: "part"))
        root.friends.add(Odd(name: "friend"))
        try store.save(root)
        let path = try #require(store.path)
        // The file is known again by the same names, and read by the tool as by the store.
        try store.close()
        #expect(try Store.pendingMigration(path, for: Odd.self).isEmpty)
        let connection = try Connection(path: path)
        let schema = try Schema(try Introspection.entities(of: connection))
        #expect(try IntegrityCheck.run(connection, schema: schema) == [])
        // The same without the store's own descriptions, from the tables alone.
        try connection.execute("DROP TABLE relata_metadata")
        let read = try Schema(try Introspection.entities(of: connection))
        #expect(try IntegrityCheck.run(connection, schema: read) == [])
        #expect(read.tables.map(\.sqlName).contains("order\"; DROP TABLE \"select\" --"))
        #expect(
            try RecordFetcher(connection, schema: read, access: .everything).fetch(
                QueryPlan(entity: read.tables[0].name)
            ).count == 3)
        try connection.close()
    }

    @Test func aTableOfAThousandColumns() throws {
        let connection = try Connection(path: nil)
        let columns = (0..<1000).map { "column \($0)" }
        let entity = Entity(
            name: "Wide",
            properties: [.attribute(Attribute("id", type: .integer))]
                + columns.map { .attribute(Attribute($0, type: .integer, isOptional: true)) })
        let schema = try Schema([entity])
        try Migrator.migrate(connection, schema: schema)
        let sql = "INSERT INTO Wide VALUES (" + (1...1001).map { "?\($0)" }.joined(separator: ", ") + ")"
        try connection.run(SQLStatement(sql, (0...1000).map { .value(.integer(Int64($0))) }))
        let records = try RecordFetcher(connection, schema: schema, access: .everything).fetch(
            QueryPlan(entity: "Wide"))
        #expect(records.map { $0.values.count } == [1001])
        #expect(records[0].values.last == .integer(1000))
        #expect(try IntegrityCheck.run(connection, schema: schema) == [])
        #expect(try Migrator.migrate(connection, schema: schema).isEmpty)
        let report = try connection.delete(
            entity: 0, roots: .keys([KeyValue(.integer(0))]), schema: schema, access: .everything)
        #expect(report.deletedCount == 1)
    }
}
