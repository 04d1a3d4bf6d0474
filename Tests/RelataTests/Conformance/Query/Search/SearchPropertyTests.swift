import Relata
import RelataTesting
import Testing

/// Random writes and searches, against plain lists of words that do the same.
@Suite struct SearchPropertyTests {
    @Test(arguments: Engine.allCases, [1, 2, 3, 4, 5, 6] as [UInt64])
    func searchesMatchPlainLists(_ engine: Engine, _ seed: UInt64) throws {
        var run = try SearchRun(engine, seed: seed)
        for step in 0..<40 {
            try run.write()
            for _ in 0..<4 { try run.search(step) }
        }
        #expect(try run.store.check() == [], "seed \(seed)")
    }
}

/// Words that follow each other, the last one perhaps only a beginning.
private struct PlainPhrase {
    let words: [String]
    let isPrefix: Bool

    func isFound(in text: [String]) -> Bool {
        text.indices.contains { start in
            let end = start + words.count
            guard end <= text.count else { return false }
            return zip(words.indices, text[start..<end]).allSatisfy { index, word in
                isPrefix && index == words.count - 1 ? word.hasPrefix(words[index]) : word == words[index]
            }
        }
    }

    /// As people type it: Chinese characters need no spaces.
    var spelled: String {
        let text = words.joined(
            separator: words.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value > 0x3000 } } ? "" : " ")
        return (words.count > 1 ? "\"\(text)\"" : text) + (isPrefix ? "*" : "")
    }
}

/// A search as clauses of alternatives.
private struct PlainSearch {
    var clauses: [[PlainPhrase]]
    var excluded: [PlainPhrase]

    func isFound(in texts: [[String]]) -> Bool {
        let has = { (phrase: PlainPhrase) in texts.contains { phrase.isFound(in: $0) } }
        return !clauses.isEmpty && clauses.allSatisfy { $0.contains(where: has) } && !excluded.contains(where: has)
    }

    var spelled: String {
        (clauses.map { $0.map(\.spelled).joined(separator: " OR ") } + excluded.map { "-" + $0.spelled })
            .joined(separator: " ")
    }
}

private struct SearchRun {
    let store: Store
    let seed: UInt64
    private var random: SampleRandom
    /// The words of the titles and lyrics that should be stored.
    private var tunes: [ID<Ballad>: [[String]]] = [:]
    private var verses: [Int: [String]] = [:]

    private static let words = ["moon", "moons", "blue", "river", "love", "lover", "ete", "月", "亮", "心", "a1"]

    init(_ engine: Engine, seed: UInt64) throws {
        self.seed = seed
        random = SampleRandom(seed: seed)
        store = try TestStore.make(engine, for: Ballad.self, LongPlayer.self, Verse.self)
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func word() -> String { Self.words.randomElement(using: &random) ?? "moon" }

    /// A text and its words. Some are spelled otherwise than they are found.
    private mutating func text(_ count: ClosedRange<Int>) -> (text: String, words: [String]) {
        let words = (0..<number(count)).map { _ in word() }
        let spelled = words.map { word in
            switch number(0...3) {
            case 0: word == "ete" ? "ÉTÉ" : word.uppercased()
            case 1: word == "ete" ? "e\u{301}te\u{301}" : word
            default: word
            }
        }
        let separators = [" ", ", ", " — ", "\n", "…", "/"]
        return (spelled.joined(separator: separators.randomElement(using: &random) ?? " "), words)
    }

    mutating func write() throws {
        switch number(0...7) {
        case 0, 1:
            var new: [Ballad] = []
            for _ in 0..<number(1...40) {
                let (title, lyrics) = (text(1...3), text(0...8))
                let tune = Ballad(title: title.text, lyrics: number(0...4) == 0 ? nil : lyrics.text)
                tunes[tune.id] = [title.words, tune.lyrics == nil ? [] : lyrics.words]
                new.append(tune)
            }
            try store.insert(new)
        case 2:
            guard let id = tunes.keys.sorted(by: { "\($0)" < "\($1)" }).randomElement(using: &random) else { return }
            let lyrics = text(0...8)
            try store.update(Ballad.self, id: id) { $0.lyrics = lyrics.text }
            tunes[id]?[1] = lyrics.words
        case 3:
            let search = self.search()
            let found = try store.delete(Ballad.search(search.spelled).limit(3))
            for keys in found.deleted { #expect(keys.keys.count <= 3) }
            let left = Set(try store.fetch(Ballad.all).map(\.id))
            tunes = tunes.filter { left.contains($0.key) }
        case 4:
            let title = text(1...2)
            let search = self.search()
            for id in tunes.keys where search.isFound(in: tunes[id] ?? []) { tunes[id]?[0] = title.words }
            try store.update(Ballad.search(search.spelled)) { $0.title.set(to: title.text) }
        case 5:
            struct Refusal: Error {}
            #expect(throws: Refusal.self) {
                try store.write { transaction in
                    try transaction.delete(Ballad.all)
                    try transaction.insert(Ballad(title: "moon"))
                    throw Refusal()
                }
            }
        case 6:
            let number = self.number(1...9)
            let words = text(1...5)
            try store.save(Verse(book: "b", number: number, text: words.text))
            verses[number] = words.words
        default:
            let number = self.number(1...9)
            try store.delete(Verse.where { $0.number == number })
            verses[number] = nil
        }
    }

    private mutating func phrase() -> PlainPhrase {
        let words = (0..<(number(0...2) == 0 ? number(2...3) : 1)).map { _ in word() }
        guard number(0...3) == 0, let last = words.last, last.count > 2 else {
            return PlainPhrase(words: words, isPrefix: number(0...9) == 0)
        }
        return PlainPhrase(words: words.dropLast() + [String(last.prefix(2))], isPrefix: true)
    }

    private mutating func search() -> PlainSearch {
        PlainSearch(
            clauses: (0..<number(1...2)).map { _ in (0..<(number(0...2) == 0 ? 2 : 1)).map { _ in phrase() } },
            excluded: number(0...3) == 0 ? [phrase()] : [])
    }

    mutating func search(_ step: Int) throws {
        let search = self.search()
        let note = Testing.Comment(rawValue: "seed \(seed), step \(step): \(search.spelled)")
        let expected = Set(tunes.filter { search.isFound(in: $0.value) }.keys)
        #expect(Set(try store.fetch(Ballad.search(search.spelled)).map(\.id)) == expected, note)
        #expect(Set(try store.fetch(Ballad.where { $0.matches(search.spelled) }).map(\.id)) == expected, note)
        let rest = try store.count(Ballad.where { !$0.matches(search.spelled) })
        #expect(rest == tunes.count - expected.count, note)
        let titled = tunes.filter { search.isFound(in: [$0.value[0]]) }.count
        #expect(try store.count(Ballad.search(search.spelled, in: { $0.title })) == titled, note)
        let numbers = verses.filter { search.isFound(in: [$0.value]) }.keys.sorted()
        #expect(try store.fetch(Verse.search(search.spelled).sorted { $0.number }).map(\.number) == numbers, note)
        let ordered = try store.fetch(Ballad.search(search.spelled)).map(\.id)
        let limit = number(1...5)
        #expect(
            try store.fetch(Ballad.search(search.spelled).limit(limit)).map(\.id) == Array(ordered.prefix(limit)), note)
    }
}
