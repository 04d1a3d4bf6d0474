import RelataCore
import Testing

@Suite struct LimitTests {
    /// What a limit accepts is what a query for the pattern finds.
    @Test(arguments: [
        ("AB12", "[A-Z]{2}[0-9]+"), ("AB12x", "[A-Z]{2}[0-9]+"), ("caf\u{e9}", "caf."), ("cafe\u{301}", "caf."),
        ("cafe\u{301}", "caf\u{e9}"), ("a\nb", "a.b"), ("", "x?"), ("ab", "(?i)AB"),
    ])
    func aPatternMeansTheSameToALimitAndToAQuery(text: String, pattern: String) throws {
        let isMatch = try TextPattern.matches(text, pattern)
        #expect((Limit.pattern(pattern).failure(of: .text(text), type: .text) == nil) == isMatch)
    }

    @Test func aPatternThatIsNoRegularExpressionAcceptsNothing() {
        #expect(Limit.pattern("[").failure(of: .text("["), type: .text)?.contains("no regular expression") == true)
    }

    @Test func textThatLooksLikeAnEmptyCollectionIsNotEmpty() {
        for text in ["[]", "{}", "\"\""] {
            #expect(Limit.notEmpty.failure(of: .text(text), type: .text) == nil)
            #expect(Limit.notEmpty.failure(of: .text(text), type: .json) != nil)
        }
        #expect(Limit.notEmpty.failure(of: .text(" \n"), type: .text) != nil)
    }
}
