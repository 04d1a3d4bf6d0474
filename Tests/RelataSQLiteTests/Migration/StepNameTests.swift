import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// The names that migration steps use.
@Suite struct StepNameTests {
    private let priced = book(.attribute("price", .real, default: 0), .attribute("legacyCode", isOptional: true))
    private let current = book(.attribute("price", .real, default: 0))

    private func refusals(_ changes: LossyChange...) throws -> [String] {
        let file = try Evolution(priced)
        return try file.refusals(current, steps: [MigrationStep("step", taking: changes)])
    }

    @Test func aChangeOfSomethingUnknownIsRefused() throws {
        #expect(
            try refusals(.changing("Book.prize")) == [
                "migration step \"step\": `.changing(\"Book.prize\")` names nothing that the models or the file have: "
                    + "did you mean Book.price?"
            ])
        #expect(try refusals(.changing("Bok")).count == 1)
        #expect(try refusals(.changing("Something.else")).count == 1)
    }

    @Test func aDropOfAlmostTheNameOfAColumnIsRefused() throws {
        #expect(
            try refusals(.dropping("Book.legacyCod")) == [
                "migration step \"step\": `.dropping(\"Book.legacyCod\")` names nothing that the models or the file have: "
                    + "did you mean Book.legacyCode?"
            ])
    }

    @Test func aDropOfWhatTheModelsHaveIsRefused() throws {
        #expect(
            try refusals(.dropping("Book.price")) == [
                "migration step \"step\": `.dropping(\"Book.price\")` names Book.price, which the models have: remove it "
                    + "from the models or here"
            ])
        #expect(try refusals(.dropping("book")).count == 1)
    }

    @Test func stepsOlderThanTheFileAreNotRefused() throws {
        // A file that never had what an old step drops; and names of former models and columns.
        #expect(try refusals(.dropping("Book.subtitle"), .dropping("Pamphlet")) == [])
        #expect(try refusals(.changing("Book.legacyCode"), .changing("Book"), .changing("BOOK.PRICE")) == [])
        let file = try Evolution(priced)
        let renamed = book(.attribute("cost", .real, default: 0, originalName: ["amount", "price"]))
        for name in ["Book.price", "Book.amount", "Book.cost"] {
            let step = MigrationStep("change \(name)", taking: .changing(name))
            #expect(try file.refusals(renamed, steps: [step]) == [], "\(name)")
        }
    }

    @Test func twoStepsOfOneNameAreRefused() throws {
        let file = try Evolution(priced)
        #expect(throws: RelataError.self) {
            try file.open(current, steps: [MigrationStep("same"), MigrationStep("same")])
        }
    }
}
