import RelataParse
import RelataTesting
import Testing

/// Numbers are read as the nearest representable ones, on every path through the parser.
@Suite struct JSONNumberTests {
    @Test func everyDecimalIsReadAsSwiftReadsIt() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SampleRandom(seed: seed)
        for _ in 0..<20_000 {
            let digits = Int.random(in: 1...17, using: &random)
            var text = String(UInt64.random(in: 0..<UInt64.max, using: &random) | 1).suffix(digits).description
            while text.count > 1, text.first == "0" { text.removeFirst() }
            if Bool.random(using: &random) { text += "." + String(UInt32.random(in: 0...UInt32.max, using: &random)) }
            if Int.random(in: 0..<4, using: &random) == 0 { text += "e\(Int.random(in: -30...30, using: &random))" }
            if Bool.random(using: &random) { text = "-" + text }
            #expect(try JSONParser.parse(text).number == Double(text), "seed \(seed): \(text)")
        }
    }

    @Test(arguments: ["0.1", "0.3", "-0.5", "123456789012.345", "0.00000000000001", "99999999999999.9", "1.0", "-2.50"])
    func decimalsOfFewDigitsAreExact(_ text: String) throws {
        #expect(try JSONParser.parse(text).number == Double(text))
        #expect(try JSONParser.parse(" [\(text)] ").array?.first?.number == Double(text))
    }
}
