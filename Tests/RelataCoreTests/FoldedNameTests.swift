import RelataCore
import Testing

struct FoldedNameTests {
    @Test func onlyASCIILettersAreFolded() {
        let same = [("Book", "bOOK"), ("", ""), ("Ä_B", "Ä_b"), ("x\u{0}Y", "X\u{0}y"), ("[@`{", "[@`{")]
        for (one, other) in same {
            #expect(one.isSameName(as: other) && one.foldedName == other.foldedName, "\(one) \(other)")
        }
        let different = [
            ("Book", "Books"), ("Ä", "ä"), ("İ", "i̇"), ("ß", "SS"), ("K", "\u{212A}"), ("@", "`"), ("[", "{"),
            ("\u{E9}", "e\u{301}"), ("\u{C5}", "\u{212B}"), ("\u{E9}", "Ã©"), ("가", "\u{1100}\u{1161}"),
        ]
        for (one, other) in different {
            #expect(!one.isSameName(as: other) && one.foldedName != other.foldedName, "\(one) \(other)")
        }
    }
}
