import Dispatch
import Foundation
import RelataCore
import Synchronization
import Testing

@Suite struct LimitTests {
    /// A limit accepts the same texts that a query finds with its pattern.
    @Test(arguments: [
        ("AB12", "[A-Z]{2}[0-9]+"), ("AB12x", "[A-Z]{2}[0-9]+"), ("caf\u{e9}", "caf."), ("cafe\u{301}", "caf."),
        ("cafe\u{301}", "caf\u{e9}"), ("a\nb", "a.b"), ("", "x?"), ("ab", "(?i)AB"),
    ])
    func aPatternMeansTheSameToALimitAndToAQuery(text: String, pattern: String) throws {
        let isMatch = try TextPattern.matches(text, pattern)
        #expect((Limit.pattern(pattern).failure(of: .text(text), type: .text) == nil) == isMatch)
    }

    @Test func aLengthMayBeEitherBound() {
        let limit = Limit.length(minimum: 2, maximum: 3)
        for text in ["ab", "abc", "é漢"] { #expect(limit.failure(of: .text(text), type: .text) == nil) }
        #expect(limit.failure(of: "a", type: .text) == "must have at least 2 characters, and has 1")
        #expect(limit.failure(of: "abcd", type: .text) == "must have at most 3 characters, and has 4")
        #expect(limit.failure(of: .blob(Data([1])), type: .data) == "must have at least 2 bytes, and has 1")
        #expect(limit.failure(of: .blob(Data([1, 2])), type: .data) == nil)
        #expect(limit.failure(of: .null, type: .text) == nil)
    }

    @Test func aSlowPatternDoesNotCheckForever() throws {
        let text = String(repeating: "a", count: 60)
        let failure = try #require(Limit.pattern("(a+)+c").failure(of: .text(text), type: .text))
        #expect(failure.contains("takes too long"))
        #expect(
            Limit.pattern("(").failure(of: .text(text), type: .text)?.contains("isn't a regular expression") == true)
    }

    /// Alone it is a regular expression, as the whole of a text it isn't: its comment never ends.
    @Test func anInvalidPatternIsNotReportedAsSlow() throws {
        let failure = Limit.pattern("(?x)a #b").failure(of: .text("a"), type: .text)
        #expect(failure?.contains("isn't a regular expression") == true)
    }

    /// A thread that waits for a processor doesn't search.
    @Test func aSearchDoesNotTimeOutBecauseOthersAreBusy() async throws {
        let text = String(repeating: "b", count: 10_000)
        let results = Mutex<[Bool?]>([])
        let group = DispatchGroup()
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 40 {
            group.enter()
            Thread {
                var timeLeft = Duration.seconds(60)
                let isFound = try? TextSearch("a+c").isFound(in: text, timeLeft: &timeLeft)
                results.withLock { $0.append(isFound) }
                group.leave()
            }.start()
        }
        await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
        #expect(results.withLock { $0.allSatisfy { $0 == false } }, "\(results.withLock { $0.count { $0 == nil } })")
    }

    @Test func integersAreComparedWithTheirBoundsExactly() {
        let large: Int64 = 1 << 53  // beyond, not every integer is a Double
        func accepts(_ limit: Limit, _ value: Value, _ type: AttributeType = .integer) -> Bool {
            limit.failure(of: value, type: type) == nil
        }
        let atMost = Limit.range(minimum: nil, maximum: Double(large))
        #expect(accepts(atMost, .integer(large)) && !accepts(atMost, .integer(large + 1)))
        let atLeast = Limit.range(minimum: -Double(large), maximum: nil)
        #expect(accepts(atLeast, .integer(-large)) && !accepts(atLeast, .integer(-large - 1)))
        let half = Limit.range(minimum: 0.5, maximum: 1.5)
        #expect([0, 1, 2].map { accepts(half, .integer($0)) } == [false, true, false])
        let odd = Limit.integerRange(minimum: large + 1, maximum: large + 3)
        #expect((0...4).map { accepts(odd, .integer(large + $0)) } == [false, true, true, true, false])
        #expect(accepts(odd, .text("9007199254740993"), .decimal) && !accepts(odd, .text("9007199254740992"), .decimal))
        #expect(!accepts(odd, .text("9007199254740995.5"), .decimal) && !accepts(odd, .real(9_007_199_254_740_992)))
        let whole = Limit.integerRange(minimum: .min, maximum: .max)
        #expect(accepts(whole, .integer(.min)) && accepts(whole, .integer(.max)) && !accepts(whole, .real(1e19)))
        #expect(!accepts(.range(minimum: -.infinity, maximum: -1e300), .integer(.min)))
        #expect(accepts(.range(minimum: -1e300, maximum: .infinity), .integer(.min)))
    }

    @Test func anInvalidRegularExpressionMatchesNothing() {
        #expect(Limit.pattern("[").failure(of: .text("["), type: .text)?.contains("isn't a regular expression") == true)
    }

    @Test func textThatLooksLikeAnEmptyCollectionIsNotEmpty() {
        for text in ["[]", "{}", "\"\""] {
            #expect(Limit.notEmpty.failure(of: .text(text), type: .text) == nil)
            #expect(Limit.notEmpty.failure(of: .text(text), type: .json) != nil)
        }
        #expect(Limit.notEmpty.failure(of: .text(" \n"), type: .text) != nil)
    }
}
