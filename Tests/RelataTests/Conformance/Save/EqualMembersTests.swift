import Relata
import Testing

@Model struct Receipt {
    var id: Int?
    var shop: String
    @Relationship(deleteRule: .cascade, inverse: \ReceiptLine.receipt) var lines: ToMany<ReceiptLine>
}

@Model struct ReceiptLine {
    var id: Int?
    var text: String
    var receipt: ToOne<Receipt>?
    var label: ToOne<ReceiptLabel>?
}

@Model struct ReceiptLabel {
    var id: Int?
    var name: String
}

/// New objects that look alike, without a key to tell them apart.
@Suite struct EqualMembersTests {
    @Test(arguments: Engine.allCases) func equalMembersOfAListAreAsManyObjects(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Receipt.self)
        let coffee = ReceiptLine(text: "coffee")
        let saved = try store.save([
            Receipt(shop: "a", lines: ToMany([coffee, coffee])), Receipt(shop: "b", lines: ToMany([coffee])),
        ])
        #expect(try saved.map { try $0.lines.objects.count } == [2, 1])
        #expect(try Set(saved.flatMap { try $0.lines.objects.map(\.id) }).count == 3)
        #expect(try store.related(to: saved[0]) { $0.lines }.map(\.text) == ["coffee", "coffee"])
        #expect(try store.count(ReceiptLine.all) == 3)
    }

    @Test(arguments: Engine.allCases) func equalTargetsOfToOnesAreCopiesAndRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Receipt.self)
        let label = ReceiptLabel(name: "x")
        let lines = [ReceiptLine(text: "1", label: ToOne(label)), ReceiptLine(text: "2", label: ToOne(label))]
        #expect(thrown { try store.save(Receipt(shop: "a", lines: ToMany(lines))) }?.kind == "invalidUse")
        #expect(try store.count(Receipt.all) == 0 && store.count(ReceiptLabel.all) == 0)
    }
}
