import RelataCore
import Testing

@Suite struct JSONValueTests {
    @Test func valuesOfDifferentKindsDiffer() {
        let values: [JSONValue] = [.null, true, false, 1, 1.5, "1", "", [], [1], [:], ["a": 1], ["a": 2], ["b": 1]]
        for (index, left) in values.enumerated() {
            for (other, right) in values.enumerated() { #expect((left == right) == (index == other)) }
        }
        #expect(Set(values + values).count == values.count)
    }

    @Test func membersAreEqualInAnyOrder() {
        let (one, other): (JSONValue, JSONValue) = (["a": 1, "b": [true]], ["b": [true], "a": 1])
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(JSONWriter.canonicalText(one) == #"{"a":1,"b":[true]}"#)
        #expect(JSONWriter.canonicalText(other) == JSONWriter.canonicalText(one))
        #expect(JSONWriter.text(other) == #"{"b":[true],"a":1}"#)
        #expect(JSONWriter.text([true, false, .null]) == "[true,false,null]")
    }
}
