import RelataCore
import RelataEngine
import Testing

/// Entities that only other programs declare, in a database that models open.
@Suite struct OtherEntitiesTests {
    private let buoy = Entity(name: "Buoy", properties: [.id(), .attribute("isLit", .boolean)])
    private let ship = Entity(
        name: "Ship", properties: [.id(), .toMany("harbours", "Harbour", inverse: "ship"), .toOne("owner", "Owner")])
    private let owner = Entity(name: "Owner", properties: [.id(), .attribute("isKnown", .boolean)])
    /// It is linked to the models by another entity only.
    private let crew = Entity(name: "Crew", properties: [.id(), .toOne("ship", "Ship")])

    @Test(arguments: TestEngine.all) func oneThatDoesNotFitTheModelsLeavesTheOthers(on engine: TestEngine) throws {
        let connection = try engine.connection()
        let harbour = Entity(name: "Harbour", properties: [.id(), .toOne("ship", "Ship")])
        try Migrator.migrate(connection, schema: try Schema([harbour, ship, owner, crew, buoy]))
        try Migrator.migrate(
            connection, schema: try Schema([Entity(name: "Harbour", properties: [.id()])]),
            steps: [MigrationStep("no ship", taking: .dropping("Harbour.ship"))])
        let stored = try #require(try Metadata.read(connection).entities)
        #expect(stored.map(\.name) == ["Harbour", "Owner", "Buoy"])
        #expect(stored.last?.attribute("isLit")?.type == .boolean)
    }
}
