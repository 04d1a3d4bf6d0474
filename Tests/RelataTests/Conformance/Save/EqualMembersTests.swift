import Relata
import TestSupport
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
    @Test(arguments: Engine.allCases) func equalListMembersAreSeparateObjects(_ engine: Engine) throws {
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

    /// A list of new lines: in the value, as returned by the save, and as stored.
    private func lines(_ engine: Engine, _ edit: (inout ToMany<CartLine>) throws -> Void) throws -> [String] {
        let store = try TestStore.make(engine, for: Cart.self)
        // In the list of a new value, and in a loaded list.
        let old = try store.insert(Cart())
        var results: [String] = []
        for var cart in [Cart(lines: ToMany([])), try store.load(old, { $0.lines })] {
            try edit(&cart.lines)
            results.append(try cart.lines.objects.map(\.text).joined())
            cart = try store.save(cart)
            results.append(try cart.lines.objects.map(\.text).joined())
            #expect(try cart.lines.objects.map(\.id) == store.related(to: cart) { $0.lines }.map(\.id))
        }
        #expect(try store.count(CartLine.all) == results[1].count + results[3].count)
        return Set(results).sorted()
    }

    @Test(arguments: Engine.allCases) func eachAdditionIsANewObject(_ engine: Engine) throws {
        let (a, x) = (CartLine(text: "a"), CartLine(text: "x"))
        #expect(try lines(engine) { $0.add([x, x]) } == ["xx"])
        #expect(
            try lines(engine) {
                $0.add(a)
                $0.add(a)
            } == ["aa"])
        #expect(
            try lines(engine) {
                $0.add([a, a])
                try $0.insert(x, at: 1)
                try $0.insert(x, at: 1)
            } == ["axxa"])
        #expect(try lines(engine) { $0.set([x, a, x]) } == ["xax"])
    }

    @Test(arguments: Engine.allCases) func newObjectsAreMovedAndRemovedByIdentity(_ engine: Engine) throws {
        let (a, b, c) = (CartLine(text: "a"), CartLine(text: "b"), CartLine(text: "c"))
        #expect(
            try lines(engine) {
                $0.set([a, b])
                try $0.move(from: 1, to: 0)
            } == ["ba"])
        #expect(
            try lines(engine) {
                $0.add([a, b, c])
                try $0.move(from: 2, to: 0)
                $0.place(a, after: b)
                $0.place(a, after: b)
                $0.place(a, after: a)
            } == ["cba"])
        #expect(
            try lines(engine) {
                $0.add([a, a, b])
                $0.remove(a)
            } == ["ab"])
        #expect(
            try lines(engine) {
                $0.add([a, b, a, c])
                $0.remove([a, a, b])
                $0.remove(b)
            } == ["c"])
        // Removes a member after which others were placed.
        #expect(
            try lines(engine) {
                $0.add([a, b])
                try $0.move(from: 0, to: 1)
                $0.place(c, after: b)
                $0.remove(b)
            } == ["ca"])
    }

    @Test(arguments: Engine.allCases) func newObjectsOfAManyToManyAreMoved(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Cart.self)
        var cart = Cart(labels: ToMany(["a", "b", "c"].map { CartLabel(text: $0) }))
        try cart.labels.move(from: 2, to: 0)
        try cart.labels.move(from: 2, to: 1)
        cart = try store.save(cart)
        #expect(try cart.labels.objects.map(\.text) == ["c", "b", "a"])
        #expect(try store.related(to: cart) { $0.labels } == cart.labels.objects)
        // Equal members would be treated as copies of one.
        cart.labels.add([CartLabel(text: "d"), CartLabel(text: "d")])
        let twice = cart
        #expect(thrown { try store.save(twice) }?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func removedRequiredMembersAreNotMissed(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Series.self)
        let episodes = ["a", "b", "c"].map { Episode(title: $0, series: .unset) }
        var series = Series(title: "s", episodes: ToMany(episodes))
        try series.episodes.move(from: 2, to: 1)
        series.episodes.remove(episodes[0])
        series = try store.save(series)
        #expect(try store.related(to: series) { $0.episodes }.map(\.title) == ["c", "b"])
        #expect(try store.count(Episode.all) == 2)
    }

    @Test(arguments: Engine.allCases) func editingLargeLoadedListsIsFast(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Cart.self)
        let count = 20_000
        var cart = Cart()
        cart.lines.set([])
        cart.lines.add((0..<count).map { CartLine(text: "\($0)") })
        cart = try store.save(cart)
        let lines = try cart.lines.objects
        #expect(lines.count == count)
        let time = processorTime {
            cart.lines.add((0..<count).map { CartLine(text: "\($0)") })
            cart.lines.remove(lines.dropFirst())
        }
        #expect(try cart.lines.objects.count == count + 1)
        // Searching the list for each member took minutes.
        #expect(time < 5)
    }

    @Test(arguments: Engine.allCases) func equalNewTargetsOfToOnesAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Receipt.self)
        let label = ReceiptLabel(name: "x")
        let lines = [ReceiptLine(text: "1", label: ToOne(label)), ReceiptLine(text: "2", label: ToOne(label))]
        #expect(thrown { try store.save(Receipt(shop: "a", lines: ToMany(lines))) }?.kind == "invalidUse")
        #expect(try store.count(Receipt.all) == 0 && store.count(ReceiptLabel.all) == 0)
    }
}
