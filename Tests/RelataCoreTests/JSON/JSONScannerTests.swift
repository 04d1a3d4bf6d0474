import RelataCore
import Testing

/// Tests which bytes are JSON, and which text a JSON string represents.
@Suite struct JSONScannerTests {
    private func isJSON(_ text: String, depth: Int = 10) -> Bool { isJSON(Array(text.utf8), depth: depth) }

    private func isJSON(_ bytes: [UInt8], depth: Int = 10) -> Bool {
        bytes.withUnsafeBufferPointer { JSONScanner.isJSON($0, depth: depth) }
    }

    private func text(_ inside: String) -> String? {
        Array(inside.utf8).withUnsafeBufferPointer { JSONScanner.text($0) }
    }

    @Test(arguments: [
        "{}", "[]", " { \"a\" : [ 1 , 2.5 , -0 , 1e5, 1E+2, 0.1e-3 ] , \"b b\" : null } ", "\t\n\r true", "false",
        #""a b \" \\ \/ \b\f\n\r\t \u00e9""#, "[[],{}]", "[ ]", "{ }", "\"é漢\"", "{\"a\":1,\"a\":2}",
    ])
    func everyFormOfAValueIsAccepted(_ text: String) { #expect(isJSON(text)) }

    @Test(arguments: [
        "", " ", "{", "[", "[1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}", "tru", "nul",
        "truex", "01", "-", "1.", ".5", "1e", "1e+", "+1", "\"", "\"a", "\"\n\"", "\"\u{1f}\"", #""\x""#, #""\u12g4""#,
        #""\u12""#, "1 2", "[1 2]", "'a'", "\u{a0}1",
    ])
    func anythingElseIsRefused(_ text: String) { #expect(!isJSON(text)) }

    @Test func invalidUTF8IsRefused() {
        #expect(!isJSON([0x22, 0xFF, 0x22]))
        #expect(!isJSON([0x22, 0xC3, 0x22]))
        #expect(isJSON([0x22, 0xC3, 0xA9, 0x22]))
    }

    @Test func nestingIsLimited() {
        #expect(isJSON("[[1]]", depth: 2) && !isJSON("[[1]]", depth: 1))
        #expect(isJSON("{\"a\":{}}", depth: 2) && !isJSON("{\"a\":{}}", depth: 1))
        #expect(isJSON("1", depth: 0) && !isJSON("[]", depth: 0))
    }

    @Test func escapesStandForCharacters() {
        #expect(text("plain é") == "plain é")
        #expect(text(#"a\nb\tc\rd\be\ff"#) == "a\nb\tc\rd\u{8}e\u{c}f")
        #expect(text(#"\"\\\/x"#) == "\"\\/x")
        #expect(text(#"\u00e9\u6f22!"#) == "é漢!")
        #expect(text(#"<\ud83d\ude00>"#) == "<😀>")
        #expect(text(#"\ud83d\ude00\ud83d\ude01"#) == "😀😁")
    }

    @Test(arguments: [
        #"\ud83d"#, #"\ud83dx"#, #"\ud83d\n"#, #"\ud83d\u0041"#, #"\ude00"#, #"\u12"#, "\\", #"\ud83d\u"#,
    ])
    func unpairedSurrogatesAreRefused(_ inside: String) { #expect(text(inside) == nil) }
}
