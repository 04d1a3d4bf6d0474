import Foundation
import RelataCore
import Testing

@Suite struct SchemaDDLTests {
    private func tables(_ entities: [Entity]) throws -> [TableDescription] {
        SchemaDDL.tables(of: try Schema(entities))
    }

    @Test func everyForeignKeyIsIndexedAndCarriesItsRule() throws {
        let tables = try tables([
            Entity(name: "A", properties: [.id()]),
            Entity(
                name: "B",
                properties: [
                    .id(), .toOne("nullify", "A"), .toOne("cascade", "A", onTargetDelete: .cascade),
                    .toOne("deny", "A", isOptional: false), .toOne("dangle", "A", onTargetDelete: .noAction),
                ]),
        ])
        #expect(tables[1].foreignKeys.map(\.onDelete) == [.setNull, .cascade, .none])
        #expect(tables[1].foreignKey(on: ["dangleId"]) == nil)
        for column in ["nullifyId", "cascadeId", "denyId", "dangleId"] { #expect(tables[1].isIndexed([column])) }
        #expect(tables[1].column("denyId")?.isRequired == true)
        #expect(tables[1].column("nullifyId")?.isRequired == false)
    }

    @Test func aStoredOrderStandsBesideItsKeyAndIsIndexedWithIt() throws {
        let tables = try tables([
            Entity(name: "A", properties: [.id(), .toMany("bs", "B", inverse: "a", order: .stored)]),
            Entity(name: "B", properties: [.id(), .toOne("a", "A"), .text("title")]),
        ])
        #expect(tables[1].columns.map(\.name) == ["id", "aId", "aPosition", "title"])
        #expect(tables[1].isIndexed(["aId", "aPosition"]))
        #expect(tables[1].indexes.count == 1)
    }

    @Test func aJoinTableIsIndexedBothWaysAndItsRowsGoWithEitherSide() throws {
        let tables = try tables([
            Entity(name: "Book", properties: [.id(), .manyToMany("authors", "Author", order: .stored)]),
            Entity(
                name: "Author",
                properties: [.id(.integer), .manyToManyInverse("books", "Book", inverse: "authors", deleteRule: .deny)]),
        ])
        let join = tables[2]
        #expect(join.columns.map(\.name) == ["bookId", "authorId", "position"])
        #expect(join.columns.map(\.type) == ["BLOB", "INTEGER", "INTEGER"])
        #expect(join.primaryKey == ["bookId", "authorId"])
        #expect(join.isIndexed(["authorId"]) && join.isIndexed(["bookId", "position"]))
        #expect(join.foreignKeys.map(\.onDelete) == [.cascade, .none])
    }

    @Test func uniqueSetsAndDeclaredIndexesAreMadeOnce() throws {
        let tables = try tables([
            Entity(
                name: "A", properties: [.id(), .text("x"), .text("y"), .toOne("b", "B")],
                uniques: [["x"], ["b", "y"], ["id"]], indexes: [["x"], ["y"], ["b"]]),
            Entity(name: "B", properties: [.id(), .hasOne("a", "A", inverse: "b")]),
        ])
        let indexes = tables[0].indexes
        #expect(indexes.filter(\.isUnique).map(\.columns) == [["x"], ["bId", "y"], ["bId"]])
        #expect(indexes.filter { !$0.isUnique }.map(\.columns) == [["y"]])
        #expect(Set(indexes.map(\.name)).count == indexes.count)
    }

    @Test func indexNamesNeverMeetThoseOfTablesOrOtherIndexes() throws {
        let tables = try tables([
            Entity(
                name: "A", properties: [.id(), .text("b_c"), .text("b"), .text("c")], indexes: [["b_c"], ["b", "c"]]),
            Entity(name: "A_b", properties: [.id(), .text("c")], indexes: [["c"]]),
            Entity(name: "B", properties: [.id(), .text("b"), .text("c")], indexes: [["b", "c"]]),
            Entity(name: "index_B_b_c", properties: [.id()]),
        ])
        let names = tables.flatMap { [$0.name] + $0.indexes.map(\.name) }.map { $0.lowercased() }
        #expect(Set(names).count == names.count)
    }

    @Test func indexNamesAreCutFromSixtyOneBytesOn() throws {
        let name = String(repeating: "A", count: 52)
        let indexes = try [name, name + "A"].map { name in
            try tables([Entity(name: name, properties: [.id(), .text("x")], indexes: [["x"]])])[0].indexes[0].name
        }
        // Files have indexes with these names.
        #expect(indexes[0] == "index_\(name)_x")
        #expect(indexes[1].utf8.count <= 60 && indexes[1].hasPrefix("index_AAAA"))
    }

    @Test(arguments: [Dialect.sqlite, .postgres])
    func onlyTheColumnOfTheKeyIsDeclaredAsTheKey(_ dialect: Dialect) throws {
        let schema = try Schema([
            Entity(name: "A", properties: [.id(), .text("x"), .toOne("b", "B")]),
            Entity(name: "B", properties: [.text("y"), .id(.integer)], key: ["id"]),
        ])
        for table in SchemaDDL.tables(of: schema, dialect: dialect) {
            for column in table.columns {
                let definition = SchemaDDL.columnDefinition(column, of: table, dialect: dialect)
                #expect(definition.contains("PRIMARY KEY") == (column.name == "id"), "\(definition)")
            }
        }
    }

    @Test func onlyAKeyThatTheServerAssignsIsTakenFromIt() throws {
        let schema = try Schema([
            Entity(name: "A", properties: [.id(.integer), .integer("n")], isKeyAssigned: true),
            Entity(name: "B", properties: [.id(.integer), .integer("n")]),
        ])
        let values = schema.tables.map { table in
            (0...1).map { Dialect.postgres.newValue(of: table, column: $0, "value") }
        }
        #expect(values[0][0] != "value" && values[0][1] == "value")
        #expect(values[1] == ["value", "value"])
        #expect(Dialect.sqlite.newValue(of: schema.tables[0], column: 0, "value") == "value")
    }

    @Test func theFingerprintFollowsEveryDetailAndNothingElse() {
        let entity = Entity(name: "A", properties: [.id(), .text("x"), .toOne("b", "B")])
        let same = SchemaFingerprint.of([entity])
        #expect(SchemaFingerprint.of([entity]) == same)
        var changed = [entity, entity, entity, entity, entity]
        changed[0].properties[1] = .text("x", isOptional: true)
        changed[1].properties[2] = .toOne("b", "B", onTargetDelete: .cascade)
        changed[2].uniques = [["x"]]
        changed[3].indexes = [["x"]]
        changed[4].originalTable = "old"
        #expect(Set(changed.map { SchemaFingerprint.of([$0]) } + [same]).count == 6)
        // The same texts in other places, and a bound of nothing.
        let joins = [(["x", "y"], []), (["x"], ["y"])].map { source, target in
            Property.manyToMany("bs", "B", names: JoinTableNames(sourceColumns: source, targetColumns: target))
        }
        let bounds = [nil, 0].map { Property.toMany("bs", "B", inverse: "a", minimum: $0) }
        let links = (joins + bounds).map { SchemaFingerprint.of([Entity(name: "A", properties: [.id(), $0])]) }
        #expect(Set(links).count == 4)
    }
}
