import RelataCore
import TestSupport
import Testing

/// The positions that edits give to the members of an ordered link.
@Suite struct OrderedListTests {
    private static let gap = Relationship.Order.gap

    private func list(_ stored: KeyValuePairs<String, Int64?>) -> OrderedList {
        OrderedList(stored.map { (key: key($0.key), position: $0.value) })
    }

    private func key(_ name: String) -> KeyValue { KeyValue(.text(name)) }

    private func changes(_ list: OrderedList) -> [String: Int64] {
        var list = list
        return Dictionary(uniqueKeysWithValues: list.changedPositions().map { ($0.0.description, $0.1) })
    }

    @Test func appendingWritesOnlyTheNewObject() {
        var list = list(["a": 10, "b": 20])
        list.append(key("c"))
        list.append(key("a"))
        #expect(changes(list) == ["c": 20 + Self.gap])
    }

    @Test func insertingWritesOnlyTheNewObject() throws {
        var list = list(["a": 1000, "b": 1100])
        try list.place(key("c"), after: key("a"), in: "list")
        #expect(changes(list) == ["c": 1050])
        try list.place(key("d"), after: nil, in: "list")
        #expect(changes(list) == ["c": 1050, "d": 1000 - Self.gap])
    }

    @Test func movingAMemberDoesNotDuplicateIt() throws {
        var list = list(["a": 10, "b": 20, "c": 30])
        try list.place(key("a"), after: key("b"), in: "list")
        #expect(changes(list) == ["a": 25])
        try list.place(key("b"), after: key("b"), in: "list")
        #expect(changes(list) == ["a": 25])
    }

    @Test func prependingWritesOnlyTheNewObject() throws {
        let gap = Self.gap
        let stored: [KeyValuePairs<String, Int64?>] = [
            ["a": gap, "b": 2 * gap], ["a": 0, "b": gap], ["a": -gap, "b": -gap / 2, "c": 0, "d": gap], ["a": -7],
        ]
        for stored in stored {
            var list = list(stored)
            try list.place(key("x"), after: nil, in: "list")
            try list.place(key("y"), after: nil, in: "list")
            let found = changes(list)
            #expect(Set(found.keys) == ["x", "y"], "\(stored)")
            let (x, y) = (found["x"] ?? 0, found["y"] ?? 0)
            let first = stored[0].value ?? 0
            #expect(y < x && x < first, "\(found) before \(stored)")
        }
        // A list that is filled from its front is never numbered again.
        var members: [(key: KeyValue, position: Int64?)] = []
        for number in 0..<200 {
            var list = OrderedList(members)
            try list.place(key("m\(number)"), after: nil, in: "list")
            let changed = list.changedPositions()
            #expect(changed.map(\.0) == [key("m\(number)")])
            members.insert((key("m\(number)"), changed.first?.1), at: 0)
        }
        #expect(members.map { $0.position ?? 0 } == members.map { $0.position ?? 0 }.sorted())
    }

    @Test func aListWithoutGapsIsRenumbered() throws {
        var list = list(["a": 1, "b": 2])
        try list.place(key("c"), after: key("a"), in: "list")
        #expect(changes(list) == ["a": Self.gap, "c": 2 * Self.gap, "b": 3 * Self.gap])
    }

    @Test func positionsFarFromZeroAreKeptUnlessSumsOfThemCouldOverflow() {
        let end: Int64 = 1 << 60
        #expect(changes(list(["a": -end, "b": -5, "c": 0, "d": end])).isEmpty)
        #expect(changes(list(["a": 5, "b": end + 1])) == ["b": 5 + Self.gap])
        #expect(Set(changes(list(["a": .min, "b": .max])).keys) == ["a", "b"])
        #expect(OrderedList(appendingAfter: end + 1, members: []) == nil)
        #expect(OrderedList(appendingAfter: -end - 1, members: []) == nil)
    }

    @Test func appendingNeedsOnlyTheEndOfTheList() throws {
        var list = try #require(OrderedList(appendingAfter: 70, members: [key("b")]))
        for name in ["a", "b", "c", "a"] { list.append(key(name)) }
        #expect(changes(list) == ["a": 70 + Self.gap, "c": 70 + 2 * Self.gap])
    }

    @Test func placingAfterANonMemberIsRefused() {
        var list = list(["a": 1])
        #expect(throws: RelataError.self) { try list.place(key("b"), after: key("x"), in: "list") }
    }

    @Test func onlyMembersWhoseOrderChangesGetNewPositions() throws {
        let stored: KeyValuePairs<String, Int64?> = ["a": 100, "b": 200, "c": 300, "d": 400, "e": 500]
        for (order, count) in [("eabcd", 1), ("bcdea", 1), ("abdce", 1), ("abcde", 0), ("axbcde", 1), ("decab", 3)] {
            var placed = list(stored)
            var last: KeyValue?
            for name in order.map({ key("\($0)") }) {
                try placed.place(name, after: last, in: "list")
                last = name
            }
            #expect(changes(placed).count == count, "\(order)")
            var set = list(stored)
            set.set(order.map { key("\($0)") })
            #expect(changes(set).count == count, "\(order)")
        }
    }

    @Test func aMemberThatIsAddedAgainGetsAPosition() {
        var list = list(["a": Self.gap])
        list.set([])
        list.append(key("a"))
        #expect(changes(list) == ["a": Self.gap])
    }

    @Test func holdersOfReusedPositionsAreFound() {
        let list = list(["a": 1, "b": 2, "c": 3])
        #expect(list.holders(of: [(key("c"), 1), (key("a"), 4)]) == [key("a")])
        #expect(list.holders(of: [(key("x"), 9)]).isEmpty)
    }

    @Test(arguments: 1...100) func anyEditsGiveTheOrderOfAPlainList(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var expected: [Int64] = []
        var stored: [Int64: Int64] = [:]
        var rows: [(key: KeyValue, position: Int64?)] = []
        var position = Int64.random(in: -3000...3000, using: &random)
        for key in 0..<Int64.random(in: 0...6, using: &random) {
            let isUnset = Int.random(in: 0..<6, using: &random) == 0
            rows.append((KeyValue(.integer(key)), isUnset ? nil : position))
            if !isUnset { stored[key] = position }
            expected.append(key)
            position += [0, 1, 2, 5, 1024].randomElement(using: &random) ?? 1
        }
        var list = OrderedList(rows)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let key = Int64.random(in: 0...9, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                list.append(KeyValue(.integer(key)))
                if !expected.contains(key) { expected.append(key) }
            case 1:
                list.remove(KeyValue(.integer(key)))
                if expected.contains(key) { stored[key] = nil }
                expected.removeAll { $0 == key }
            case 2:
                try list.place(KeyValue(.integer(key)), after: nil, in: "list")
                expected = [key] + expected.filter { $0 != key }
            case 3:
                guard let other = expected.filter({ $0 != key }).randomElement(using: &random) else { continue }
                try list.place(KeyValue(.integer(key)), after: KeyValue(.integer(other)), in: "list")
                expected.removeAll { $0 == key }
                expected.insert(key, at: (expected.firstIndex(of: other) ?? 0) + 1)
            default:
                expected.shuffle(using: &random)
                list.set((expected + expected.prefix(1)).map { KeyValue(.integer($0)) })
            }
        }
        var positions = stored
        for (key, position) in list.changedPositions() {
            if case .integer(let key) = key.values[0] { positions[key] = position }
        }
        let found = expected.compactMap { positions[$0] }
        #expect(found.count == expected.count, "seed \(seed)")
        #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): \(expected) have \(found)")
    }
}
