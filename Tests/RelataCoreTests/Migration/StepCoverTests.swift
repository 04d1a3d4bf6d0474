import Testing

@testable import RelataCore

/// The changes that a migration step takes over.
@Suite struct StepCoverTests {
    @Test func aStepCoversItsOwnChangesRegardlessOfCase() {
        let step = MigrationStepDeclaration(name: "s", changes: [.dropping("Book.title"), .adopting])
        #expect(step.covers([.dropping("x"), .dropping("book.TITLE")]))
        #expect(step.covers([.adopting]))
        #expect(!step.covers([.changing("Book.title")]))
        #expect(!step.covers([.dropping("Book.isbn")]))
        #expect(!step.covers([]))
        #expect(!MigrationStepDeclaration(name: "s", changes: [.changing("Book")]).covers([.adopting]))
    }
}
