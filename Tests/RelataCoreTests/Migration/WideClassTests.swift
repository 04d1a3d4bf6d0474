import RelataCore
import TestSupport
import Testing

/// Classes with hundreds of fields, which came one after the other.
@Suite struct WideClassTests {
    /// The plan of a change of the class `Wide`, with the given number of fields, in a file that matches it.
    private func plan(fields count: Int, _ dialect: Dialect, _ change: (inout Entity) -> Void) throws -> MigrationPlan {
        let wide = Entity(
            name: "Wide", properties: [.id(), .toOne("hub", "Hub")] + (0..<count).map { .text("f\($0)") })
        var entities = [Entity(name: "Hub", properties: [.id()]), wide]
        let old = try Schema(entities)
        let tables = SchemaDDL.tables(of: old, dialect: dialect).filter { $0.name == "Wide" }
        change(&entities[1])
        let planner = MigrationPlanner(
            schema: try Schema(entities, since: old), dialect: dialect, part: ["Wide"], actual: tables, old: old,
            steps: [], facts: { _ in false })
        return try planner.planned()
    }

    @Test(arguments: [Dialect.sqlite, .postgres])
    func onlyNewFieldsAreComparedInWideClasses(_ dialect: Dialect) throws {
        for count in [3, 300] {
            let plan = try plan(fields: count, dialect) { $0.properties.append(.integer("more")) }
            #expect(plan.comparedColumns == 1)
            #expect(plan.changes.map(\.property) == ["more"], "\(plan.preparation)")
        }
    }

    @Test(arguments: [Dialect.sqlite, .postgres])
    func otherChangesCompareEachField(_ dialect: Dialect) throws {
        let plan = try plan(fields: 300, dialect) {
            $0.properties.remove(at: 5)
            $0.properties.append(.integer("more"))
        }
        #expect(plan.comparedColumns == 302)
    }

    @Test func indexedLookupsOfColumnsMatchAScan() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<50 {
            var plain: [ColumnDescription] = []
            var named: NamedColumns = []
            for _ in 0..<60 {
                let name =
                    String("abcdefghijABCDEFGHIJ".randomElement(using: &random) ?? "a")
                    + "\(Int.random(in: 0..<4, using: &random))"
                let column = ColumnDescription(name: name, type: "TEXT", isRequired: false)
                switch Int.random(in: 0..<8, using: &random) {
                case 0 where !plain.isEmpty:
                    let place = plain.indices.randomElement(using: &random) ?? 0
                    plain[place].name = name
                    named[place].name = name
                case 1 where plain.count > 30:
                    plain.removeAll { $0.name.isSameName(as: name) }
                    named.removeAll { $0.name.isSameName(as: name) }
                default:
                    plain.append(column)
                    named.append(column)
                }
                let wanted = plain.firstIndex { $0.name == name } ?? plain.firstIndex { $0.name.isSameName(as: name) }
                #expect(named.place(of: name) == wanted && Array(named) == plain && named == NamedColumns(plain))
            }
        }
    }
}
