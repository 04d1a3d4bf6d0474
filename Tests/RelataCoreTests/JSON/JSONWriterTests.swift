import RelataCore
import Testing

@Suite struct JSONWriterTests {
    @Test func indentedTextHasALineForEachMember() {
        let value: JSONValue = ["b": [1, 2.5, "x"], "a": [["c": .null], [], [[1]]], "d": [:]]
        let text = """
            {
              "b": [1, 2.5, "x"],
              "a": [
                {
                  "c": null
                },
                [],
                [
                  [1]
                ]
              ],
              "d": {}
            }
            """
        #expect(JSONWriter.indentedText(value) == text)
        #expect(JSONWriter.indentedText(["b": 1, "a": 2], sortsMembers: true) == "{\n  \"a\": 2,\n  \"b\": 1\n}")
    }

    @Test func controlCharactersAndQuotesAreEscaped() {
        #expect(JSONWriter.text("\"\\\n\r\t\u{0}\u{1F}é漢") == #""\"\\\n\r\t\u0000\u001fé漢""#)
    }

    @Test func whatIsNoNumberIsNull() {
        let numbers: JSONValue = [.double(.infinity), .double(.nan), .double(2), .double(-0.5)]
        #expect(JSONWriter.text(numbers) == "[null,null,2,-0.5]")
    }
}
