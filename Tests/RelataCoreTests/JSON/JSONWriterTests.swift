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

    @Test func controlCharactersAreWrittenAsCodePoints() {
        for number: UInt8 in 0..<0x20 where ![0x09, 0x0A, 0x0D].contains(number) {
            let digits = String(number, radix: 16)
            let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            #expect(JSONWriter.text(.string(String(Unicode.Scalar(number)))) == "\"\(escape)\"")
        }
    }

    @Test func nonFiniteNumbersAreWrittenAsNull() {
        let numbers: JSONValue = [.double(.infinity), .double(.nan), .double(2), .double(-0.5)]
        #expect(JSONWriter.text(numbers) == "[null,null,2,-0.5]")
    }
}
