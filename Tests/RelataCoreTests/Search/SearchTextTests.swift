import RelataCore
import TestSupport
import Testing

/// Parsed searches, and the snippets of matches.
@Suite struct SearchTextTests {
    private func words(_ text: String) -> [[String]] {
        SearchText(text).clauses.map { $0.map { $0.words.joined(separator: " ") } }
    }

    @Test func searchTextIsParsed() {
        #expect(words("Love  the \"Blue Moon\" wait*") == [["love"], ["the"], ["blue moon"], ["wait"]])
        #expect(SearchText("love wait*").clauses.map { $0[0].isPrefix } == [false, true])
        #expect(words("a OR b OR \"c d\" e") == [["a", "b", "c d"], ["e"]])
        #expect(words("OR a OR") == [["a"]])
        #expect(SearchText("a -b -\"c d\" - e").excluded.map(\.words) == [["b"], ["c", "d"]])
        #expect(words("rock'n'roll") == [["rock n roll"]])
        #expect(words("蓝色月亮 iPhone手机") == [["蓝 色 月 亮"], ["iphone 手 机"]])
        #expect(SearchText("\"!?\" * -").isEmpty)
        #expect(words("\"never closed") == [["never closed"]])
        #expect(words("a\"b c\"d") == [["a"], ["b c"], ["d"]])
    }

    @Test func theNumberOfSearchWordsIsLimited() {
        let long = SearchText((0..<500).map { "w\($0)" }.joined(separator: " "))
        #expect(long.clauses.count == 100)
        #expect(SearchText("\"" + long.text + "\"").clauses.map { $0[0].words.count } == [100])
        let phrase = "\"" + (0..<60).map { "w\($0)" }.joined(separator: " ") + "\" "
        #expect(SearchText(phrase + phrase + phrase).clauses.map { $0[0].words.count } == [60, 40])
    }

    @Test func wordsOfAListAreAlternatives() {
        let search = SearchText(anyOf: ["b", "a c"])
        #expect(search.clauses.map { $0.map(\.words) } == [[["a", "c"], ["b"]]])
        #expect(SearchText(anyOf: []).isEmpty)
        #expect(SearchText(allOf: ["b", "a c"]).clauses.map { $0.map(\.words) } == [[["b"]], [["a", "c"]]])
    }

    @Test func aSnippetBeginsWithSomeWordsBeforeTheMatch() {
        let filler = String(repeating: "lorem ipsum dolor ", count: 20)
        let snippet = SearchText("moon").snippet(of: filler + "blue moon tonight " + filler, length: 40)
        #expect(snippet.description.hasPrefix("…blue *moon* tonight"), "\(snippet)")
    }

    @Test func wordsAreFoldedAndTruncated() {
        #expect(SearchWords.words(of: "L'Été — STRAßE, ﬁn") == ["l", "ete", "strasse", "fin"])
        #expect(SearchWords.words(of: "东京Tokyo2020年") == ["东", "京", "tokyo2020", "年"])
        #expect(SearchWords.words(of: "हिन्दी") == ["हिन्दी"])
        #expect(SearchWords.words(of: "😀👍🏽 ❤️") == [])
        #expect(SearchWords.indexed("Plain, TEXT") == "Plain, TEXT")
        #expect(SearchWords.indexed("É-a") == "e a")
    }

    @Test func highlightsAreRangesOfTheText() {
        let text = "Déjà vu, deja-vu, dejavu"
        let ranges = SearchText("\"déjà vu\"").highlights(in: text)
        #expect(ranges.map { String(text[$0]) } == ["Déjà vu", "deja-vu"])
        #expect(SearchText("dej*").highlights(in: text).map { String(text[$0]) } == ["Déjà", "deja", "dejavu"])
        let moon = "我爱月亮和月光"
        #expect(SearchText("月亮 月").highlights(in: moon).map { String(moon[$0]) } == ["月亮", "月"])
        #expect(SearchText("a -b").highlights(in: "a b").count == 1)
        #expect(SearchText("").highlights(in: "a").isEmpty)
        // A letter that folds into two, and one with marks of its own.
        #expect(SearchText("strasse").highlights(in: "die Straße").count == 1)
        let marked = "cafe\u{301} noir"
        #expect(SearchText("cafe").highlights(in: marked).map { String(marked[$0]) } == ["cafe\u{301}"])
    }

    @Test func snippetsShowAsManyMatchesAsPossible() {
        let filler = String(repeating: "lorem ipsum dolor ", count: 20)
        let text = "moon " + filler + "blue moon tonight " + filler
        let snippet = SearchText("blue moon").snippet(of: text, length: 40)
        #expect(snippet.description.contains("*blue* *moon* tonight"))
        #expect(snippet.text.hasPrefix("…") && snippet.text.hasSuffix("…"))
        #expect(snippet.text.count <= 42)
        #expect(SearchText("absent").snippet(of: "Just this").description == "Just this")
        #expect(SearchText("x").snippet(of: "").text == "")
        #expect(SearchText("this").snippet(of: "Just this").highlights.count == 1)
        #expect(
            SearchText("b").snippet(of: "a<b>").marked("<i>", "</i>") { $0.replacing("<", with: "&lt;") }
                == "a&lt;<i>b</i>>")
        let chinese = String(repeating: "天地玄黄", count: 60) + "蓝色的月亮"
        #expect(SearchText("月亮").snippet(of: chinese, length: 20).description.hasSuffix("*月亮*"))
    }

    @Test(arguments: 1...60) func highlightsLieWithinTheirSnippets(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "moon", "Blue ", "é", "e\u{301}", " ", "月", "亮", "ß", "😀", "\n", "-", "\"", "สวัส", "*", "a", "🇩🇪",
            "か\u{3099}",
        ]
        for _ in 0..<50 {
            let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let wanted = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined(separator: " ")
            let search = SearchText(wanted)
            for range in search.highlights(in: text) { #expect(!text[range].isEmpty) }
            let snippet = search.snippet(of: text, length: Int.random(in: 1...30, using: &random))
            #expect(snippet.marked("", "") == snippet.text, "seed \(seed): \(text) / \(wanted)")
        }
    }
}
