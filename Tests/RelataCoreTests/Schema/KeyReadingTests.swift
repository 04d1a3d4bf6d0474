import RelataCore
import Testing

/// The keys that a text may represent.
@Suite struct KeyReadingTests {
    /// Numbers are read as integers and reals, and anything as text.
    private func readings(_ parts: [(String, AttributeType, Bool)]) -> [[Value]] {
        KeyValue.readings(parts.map { (text: $0.0, type: $0.1, holdsOthers: $0.2) }) { text, type, _ in
            switch type {
            case .integer: Int64(text).map { .integer($0) }
            case .real: Double(text).map { .real($0) }
            case .text: .text(text)
            default: nil
            }
        }.map(\.values)
    }

    @Test func aTypedColumnReadsAKeyInOneWay() {
        #expect(readings([("7", .integer, false)]) == [[7]])
        #expect(readings([("x", .integer, false)]) == [])
    }

    @Test func anUntypedColumnReadsAKeyInSeveralWays() {
        #expect(readings([("7", .text, true)]) == [["7"], [7], [7.0]])
        #expect(readings([("x", .integer, true)]) == [["x"]])
    }

    @Test func partsAreCombined() {
        #expect(readings([("1", .integer, false), ("2", .integer, true)]) == [[1, 2], [1, 2.0], [1, "2"]])
    }
}
