import Foundation
import RelataCore
import Testing

/// Keys as the change log holds them.
@Suite struct ChangeLogFormatTests {
    private static let id = UUID()
    private static let types: [AttributeType] = [.integer, .real, .text, .uuid(.blob), .data]

    private func columns(_ types: [AttributeType]) throws -> [Column] {
        let attributes = types.enumerated().map { Property.attribute(Attribute("k\($0)", type: $1)) }
        let schema = try Schema([
            Entity(name: "A", properties: attributes, key: types.indices.map { "k\($0)" })
        ])
        return schema.tables[0].columns
    }

    /// Logs of earlier versions hold these texts, and other programs read them.
    @Test(arguments: [
        (AttributeType.integer, Value.integer(7), "[7]"), (.real, .real(7), "[7]"), (.real, .real(2.5), "[2.5]"),
        (.real, .integer(7), #"[{"integer":7}]"#), (.integer, .real(7), #"[{"real":7}]"#),
        (.real, .real(-.infinity), #"[{"real":"-inf"}]"#), (.text, "a", #"["a"]"#), (.text, .null, "[null]"),
        (.data, .blob(Data([0, 255])), #"[{"bytes":"00ff"}]"#),
    ])
    func aKeyIsPlainWhereItsColumnTellsItsType(_ type: AttributeType, _ value: Value, _ json: String) throws {
        let columns = try columns([type])
        #expect(ChangeLogFormat.json(KeyList(values: [value], width: 1), of: columns) == json)
        let read = try ChangeLogFormat.keys(json, of: columns).values
        #expect(read == [value])
        // An integer and the floating-point number of the same value are equal, but not identical.
        #expect(read.map { "\($0)" } == ["\(value)"])
    }

    @Test func keysOfSeveralPartsAreReadAsTheyWereWritten() throws {
        let columns = try columns(Self.types)
        let values: [Value] = [
            .integer(1), .real(1), "1", .uuid(Self.id), .blob(Data([1])),
            .real(1), .integer(1), .integer(1), "1", "1",
        ]
        let keys = KeyList(values: values, width: 5)
        let read = try ChangeLogFormat.keys(ChangeLogFormat.json(keys, of: columns), of: columns)
        #expect(read == keys)
    }
}
