import RelataCore
import RelataEngine
import Testing

/// The names that migration steps use.
@Suite struct StepNameTests {
    private let priced = book(.attribute("price", .real, default: 0), .attribute("legacyCode", isOptional: true))
    private let current = book(.attribute("price", .real, default: 0))

    private func refusals(on engine: TestEngine, _ changes: LossyChange...) throws -> [String] {
        let file = try Evolution(on: engine, priced)
        return try file.refusals(current, steps: [MigrationStep("step", taking: changes)])
    }

    @Test(arguments: TestEngine.all) func aChangeOfSomethingUnknownIsRefused(on engine: TestEngine) throws {
        #expect(
            try refusals(on: engine, .changing("Book.prize")) == [
                "migration step \"step\": `.changing(\"Book.prize\")` names nothing in the models or the file: "
                    + "did you mean Book.price?"
            ])
        #expect(try refusals(on: engine, .changing("Bok")).count == 1)
        #expect(try refusals(on: engine, .changing("Something.else")).count == 1)
    }

    @Test(arguments: TestEngine.all) func misspeltDropsAreRefused(on engine: TestEngine) throws {
        #expect(
            try refusals(on: engine, .dropping("Book.legacyCod")) == [
                "migration step \"step\": `.dropping(\"Book.legacyCod\")` names nothing in the models or the file: "
                    + "did you mean Book.legacyCode?"
            ])
    }

    @Test(arguments: TestEngine.all) func droppingADeclaredColumnIsRefused(on engine: TestEngine) throws {
        #expect(
            try refusals(on: engine, .dropping("Book.price")) == [
                "migration step \"step\": `.dropping(\"Book.price\")` names Book.price, which the models have: remove it "
                    + "from the models or here"
            ])
        #expect(try refusals(on: engine, .dropping("book")).count == 1)
    }

    @Test(arguments: TestEngine.all) func stepsOlderThanTheFileAreNotRefused(on engine: TestEngine) throws {
        // The file never had the column and the table that the steps drop; and these are names of former models and
        // columns.
        #expect(try refusals(on: engine, .dropping("Book.subtitle"), .dropping("Pamphlet")) == [])
        #expect(
            try refusals(on: engine, .changing("Book.legacyCode"), .changing("Book"), .changing("BOOK.PRICE")) == [])
        let file = try Evolution(on: engine, priced)
        let renamed = book(.attribute("cost", .real, default: 0, originalName: ["amount", "price"]))
        for name in ["Book.price", "Book.amount", "Book.cost"] {
            let step = MigrationStep("change \(name)", taking: .changing(name))
            #expect(try file.refusals(renamed, steps: [step]) == [], "\(name)")
        }
    }

    @Test(arguments: TestEngine.all) func stepsMayUseFormerNames(on engine: TestEngine) throws {
        func volume(_ property: Property) -> Entity {
            Entity(name: "Volume", table: "Book", properties: [.id(), property])
        }
        let file = try Evolution(on: engine, volume(.attribute("price", .real, default: 0)))
        try file.open(volume(.attribute("cost", .real, default: 0, originalName: "price")))
        let current = volume(.attribute("cost", .real, default: 0))
        try file.open(current)
        for name in ["Book.price", "Volume.price"] {
            let step = MigrationStep("change \(name)", taking: .changing(name))
            #expect(try file.refusals(current, steps: [step]) == [], "\(name)")
        }
        #expect(try file.refusals(current, steps: [MigrationStep("other", taking: .changing("Book.prize"))]).count == 1)
    }

    @Test(arguments: TestEngine.all) func aStepMayNameTheTableOfANestedModel(on engine: TestEngine) throws {
        func pet(_ owner: String, _ properties: Property...) -> Entity {
            Entity(name: "\(owner).Pet", properties: [.id()] + properties)
        }
        for name in ["Pet", "V2.Pet", "pet"] {
            let file = try Evolution(
                on: engine, pet("V1", .attribute("price", .text), .attribute("code", .integer)),
                filledBy: "INSERT INTO Pet VALUES (1, '12', 7)")
            let step = MigrationStep("numbers", taking: .changing("\(name).price"), .dropping("\(name).code"))
            #expect(try file.refusals(pet("V2", .attribute("price", .integer))).count == 2)
            try file.open(pet("V2", .attribute("price", .integer)), steps: [step])
            #expect(try file.connection.lines(engine.quoting("SELECT * FROM Pet")) == ["1|12"])
        }
        // If the table's name is the name of another entity, it refers to that entity.
        let file = try Evolution(
            on: engine, pet("V1", .attribute("price", .text)), filledBy: "INSERT INTO Pet VALUES (1, '12')")
        let other = Entity(name: "Pet", table: "animals", properties: [.id(), .attribute("price")])
        let step = MigrationStep("numbers", taking: .changing("Pet.price"))
        #expect(try file.refusals(pet("V2", .attribute("price", .integer)), other, steps: [step]).count == 1)
    }

    @Test(arguments: TestEngine.all) func duplicateStepNamesAreRefused(on engine: TestEngine) throws {
        let file = try Evolution(on: engine, priced)
        #expect(throws: RelataError.self) {
            try file.open(current, steps: [MigrationStep("same"), MigrationStep("same")])
        }
    }
}
