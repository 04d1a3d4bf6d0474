import Foundation
import Relata
import RelataTesting
import Testing

/// Random objects, edits, deletes and queries, against plain arrays that do the same.
@Suite struct RandomStoreTests {
    @Test(arguments: Engine.allCases, [1, 2, 3, 4] as [UInt64])
    func storesMatchPlainArrays(_ engine: Engine, _ seed: UInt64) throws {
        var run = try RandomRun(engine, seed: seed)
        for step in 0..<60 {
            try run.change()
            if step % 3 == 0 { try run.compareContent(step) }
            try run.compareQuery(step)
        }
        try run.compareContent(60)
    }
}

/// The oracle's disc.
private struct PlainDisc {
    var title: String
    var copies: Int
    var rating: Double?
    var isLive: Bool
    var label: String?
    var band: Int
    var tags: [String] = []
    var pieces: [Int: Int] = [:]
}

/// A condition on discs, both as a query and as a Swift function.
private struct RandomCondition {
    let name: String
    let apply: (Query<Disc>) -> Query<Disc>
    let holds: (PlainDisc) -> Bool

    init(name: String, _ apply: @escaping (Query<Disc>) -> Query<Disc>, holds: @escaping (PlainDisc) -> Bool) {
        (self.name, self.apply, self.holds) = (name, apply, holds)
    }
}

private struct RandomRun {
    let store: Store
    let seed: UInt64
    var random: SampleRandom
    /// The expected contents of the store. There are never more labels and keywords than in the beginning.
    var discs: [Int: PlainDisc] = [:]
    var bands: [Int: ID<Band>] = [:]
    var labels: Set<String> = ["x", "y", "z"]
    var keywords: Set<String> = ["k", "l", "m", "n"]
    var nextBand = 0

    init(_ engine: Engine, seed: UInt64) throws {
        self.seed = seed
        random = SampleRandom(seed: seed)
        store = try TestStore.make(engine, for: Disc.self)
        try store.insert(labels.map { Label(name: $0, country: $0 == "x" ? nil : "land \($0)") })
        try store.insert(keywords.map { Keyword(word: $0) })
    }

    // MARK: Changes

    mutating func change() throws {
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1, 2: try insert()
        case 3, 4, 5: try edit()
        case 6, 7: try editTags()
        case 8: try addPiece()
        case 9: try deletePiece()
        case 10: try updateByQuery()
        case 11, 12: try deleteDiscs()
        case 13: try deleteBand()
        default: try deleteSmallThing()
        }
    }

    private mutating func one<Element: Comparable>(of elements: some Collection<Element>) -> Element? {
        elements.sorted().randomElement(using: &random)
    }

    private mutating func insert() throws {
        var plain = PlainDisc(
            title: String(Int.random(in: 10...99, using: &random)), copies: Int.random(in: -5...20, using: &random),
            rating: one(of: [1, 2, 3, 4.5]), isLive: Bool.random(using: &random),
            label: Bool.random(using: &random) ? one(of: labels) : nil, band: nextBand)
        if Bool.random(using: &random) { plain.rating = nil }
        let isOld = !bands.isEmpty && Bool.random(using: &random)
        if isOld, let known = one(of: bands.keys) { plain.band = known }
        plain.tags = Array(keywords.sorted().shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
        let seconds = (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 1...9, using: &random) }

        var disc = Disc(title: plain.title, rating: plain.rating, copies: plain.copies, band: .unset)
        disc.isLive = plain.isLive
        disc.label = plain.label.map { ToOne(id: $0) }
        if let known = bands[plain.band] {
            disc.band = ToOne(id: known)
        } else {
            let band = Band(name: "band \(plain.band)")
            disc.band = ToOne(band)
            bands[plain.band] = band.id
            nextBand += 1
        }
        for word in plain.tags { disc.tags.add(id: word) }
        disc.pieces = ToMany(seconds.enumerated().map { Piece(title: "p\($0)", seconds: $1, disc: .unset) })
        let saved = try store.save(disc)
        for piece in try saved.pieces.objects { plain.pieces[try #require(piece.id)] = piece.seconds }
        discs[try #require(saved.id)] = plain
    }

    private mutating func edit() throws {
        guard let key = one(of: discs.keys), let band = one(of: bands.keys), let bandID = bands[band] else { return }
        let (copies, label) = (Int.random(in: -5...20, using: &random), one(of: labels))
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            discs[key]?.copies = copies
            try store.update(Disc.self, id: key) { $0.copies = copies }
        case 1:
            discs[key]?.band = band
            try store.update(bandID) { $0.discs.add(id: key) }
        case 2:
            guard let label else { return }
            discs[key]?.label = label
            try store.update(Label.self, id: label) { $0.discs.add(id: key) }
        default:
            discs[key]?.label = label
            discs[key]?.rating = nil
            guard var disc = try store.fetch(Disc.self, id: key) else { return }
            disc.label = label.map { ToOne(id: $0) }
            disc.rating = nil
            _ = try store.save(disc)
        }
    }

    private mutating func editTags() throws {
        guard let key = one(of: discs.keys), let word = one(of: keywords), var tags = discs[key]?.tags else { return }
        var link = ToMany<Keyword>()
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            if !tags.contains(word) { tags.append(word) }
            link.add(id: word)
        case 1:
            tags.removeAll { $0 == word }
            link.remove(id: word)
        case 2:
            tags.removeAll { $0 == word }
            let after = tags.randomElement(using: &random)
            tags.insert(word, at: after.flatMap { tags.firstIndex(of: $0) }.map { $0 + 1 } ?? 0)
            link.place(id: word, after: after)
        default:
            tags = Array(keywords.sorted().shuffled(using: &random).prefix(2))
            link.set(ids: tags)
        }
        let edits = link
        try store.update(Disc.self, id: key) { $0.tags = edits }
        discs[key]?.tags = tags
    }

    private mutating func addPiece() throws {
        guard let key = one(of: discs.keys) else { return }
        let seconds = Int.random(in: 1...9, using: &random)
        let piece = try store.insert(Piece(title: "q", seconds: seconds, disc: ToOne(id: key)))
        discs[key]?.pieces[try #require(piece.id)] = seconds
    }

    private mutating func deletePiece() throws {
        guard let key = one(of: discs.keys), let piece = one(of: discs[key]?.pieces.keys.map { $0 } ?? []) else {
            return
        }
        #expect(try store.delete(Piece.self, id: piece).deletedCount == 1)
        discs[key]?.pieces[piece] = nil
    }

    private mutating func updateByQuery() throws {
        let bound = Int.random(in: -5...20, using: &random)
        let changed = discs.filter { $0.value.copies < bound && $0.value.isLive }.keys
        for key in changed { discs[key]?.copies += 2 }
        let query = Disc.where { $0.copies < bound && $0.isLive }
        #expect(try store.update(query) { $0.copies.set(to: $0.copies + 2) } == changed.count, "seed \(seed)")
    }

    // MARK: Deletes

    private mutating func deleteDiscs() throws {
        let bound = Int.random(in: 0...6, using: &random)
        let gone = discs.filter { $0.value.pieces.values.reduce(0, +) == bound }
        let report = try store.delete(Disc.where { $0.pieces.sum { $0.seconds } == bound })
        #expect(report.deletedKeys(of: "Disc").count == gone.count, "seed \(seed)")
        for key in gone.keys { discs[key] = nil }
    }

    private mutating func deleteBand() throws {
        guard let number = one(of: bands.keys), let id = bands.removeValue(forKey: number) else { return }
        let gone = discs.filter { $0.value.band == number }
        let report = try store.delete(Band.self, id: id)
        #expect(report.deletedKeys(of: "Disc").count == gone.count, "seed \(seed)")
        #expect(report.deletedKeys(of: "Piece").count == gone.values.map(\.pieces.count).reduce(0, +), "seed \(seed)")
        for key in gone.keys { discs[key] = nil }
    }

    /// Deletes a label, whose discs stay without one, or a keyword, which is removed from all lists.
    private mutating func deleteSmallThing() throws {
        if Bool.random(using: &random), labels.count > 1, let label = one(of: labels) {
            labels.remove(label)
            let report = try store.delete(Label.self, id: label)
            let unset = discs.filter { $0.value.label == label }.keys
            #expect(report.nullified.map(\.keys.count).reduce(0, +) == unset.count, "seed \(seed)")
            for key in unset { discs[key]?.label = nil }
        } else if keywords.count > 1, let word = one(of: keywords) {
            keywords.remove(word)
            let report = try store.delete(Keyword.self, id: word)
            let lists = discs.values.filter { $0.tags.contains(word) }.count
            #expect(report.removedJoinRows.map(\.count).reduce(0, +) == lists, "seed \(seed)")
            for key in discs.keys { discs[key]?.tags.removeAll { $0 == word } }
        }
    }

    // MARK: Comparing

    /// Everything that is stored, by includes.
    func compareContent(_ step: Int) throws {
        let stored = try store.fetch(
            Disc.sorted { $0.id }.including {
                $0.tags; $0.pieces; $0.band
            })
        var expected: [String] = []
        for (key, disc) in discs.sorted(by: { $0.key < $1.key }) {
            let pieces = disc.pieces.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            expected.append(
                "\(key) \(disc.title) \(disc.copies) \(disc.rating ?? 0) \(disc.isLive) \(disc.label ?? "-") "
                    + "band \(disc.band) \(disc.tags) \(pieces)")
        }
        let found = try stored.map { disc in
            let pieces = try disc.pieces.objects.sorted { ($0.id ?? 0) < ($1.id ?? 0) }.map {
                "\($0.id ?? 0)=\($0.seconds)"
            }
            return "\(disc.id ?? 0) \(disc.title) \(disc.copies) \(disc.rating ?? 0) \(disc.isLive) "
                + "\(disc.label?.id ?? "-") \(try disc.band.object.name) \(try disc.tags.objects.map(\.word)) \(pieces)"
        }
        #expect(found == expected, "seed \(seed), step \(step)")
        #expect(try store.count(Piece.all) == discs.values.map(\.pieces.count).reduce(0, +), "seed \(seed)")
    }

    /// A random condition, in its typed form and in Swift.
    private mutating func condition() -> RandomCondition {
        let number = Int.random(in: -5...20, using: &random)
        let word = ["k", "l", "m", "n"].randomElement(using: &random) ?? "k"
        let small = Int.random(in: 0...5, using: &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0:
            return RandomCondition(name: "copies < \(number)") {
                $0.where { $0.copies < number }
            } holds: {
                $0.copies < number
            }
        case 1:
            return RandomCondition(name: "rating != 3") {
                $0.where { $0.rating != 3 }
            } holds: {
                $0.rating != 3
            }
        case 2:
            return RandomCondition(name: "not rating < 3") {
                $0.where { !($0.rating < 3) }
            } holds: { disc in
                !(disc.rating.map { $0 < 3 } ?? false)
            }
        case 3:
            return RandomCondition(name: "tag \(word)") {
                $0.where { $0.tags.contains(id: word) }
            } holds: {
                $0.tags.contains(word)
            }
        case 4:
            return RandomCondition(name: "pieces \(small)") {
                $0.where { $0.pieces.count == small }
            } holds: {
                $0.pieces.count == small
            }
        case 5:
            return RandomCondition(name: "all \(small)") {
                $0.where { $0.pieces.all { $0.seconds > small } }
            } holds: {
                $0.pieces.values.allSatisfy { $0 > small }
            }
        case 6:
            return RandomCondition(name: "any \(small)") {
                $0.where { $0.pieces.any { $0.seconds == small } && $0.isLive }
            } holds: {
                $0.pieces.values.contains(small) && $0.isLive
            }
        case 7:
            return RandomCondition(name: "no label") {
                $0.where { $0.label == nil }
            } holds: {
                $0.label == nil
            }
        case 8:
            return RandomCondition(name: "country") {
                $0.where { $0.label.country == "land y" || $0.tags.isEmpty }
            } holds: {
                $0.label == "y" || $0.tags.isEmpty
            }
        case 9:
            return RandomCondition(name: "country unset") {
                $0.where { $0.label.country == nil }
            } holds: {
                $0.label == nil || $0.label == "x"
            }
        case 10:
            let name = "band \(small)"
            return RandomCondition(name: "band \(small)") {
                $0.where { $0.band.name == name }
            } holds: {
                $0.band == small
            }
        case 11:
            return RandomCondition(name: "maximum") {
                $0.where { $0.pieces.maximum { $0.seconds } > small }
            } holds: {
                ($0.pieces.values.max() ?? 0) > small
            }
        default:
            return RandomCondition(name: "title") {
                $0.matching("title BEGINSWITH %@ OR copies BETWEEN {0, %d}", "1", small)
            } holds: {
                $0.title.hasPrefix("1") || (0...max(0, small)).contains($0.copies)
            }
        }
    }

    /// Two conditions joined, an order, a limit.
    mutating func compareQuery(_ step: Int) throws {
        let (first, second) = (condition(), condition())
        let isBoth = Bool.random(using: &random)
        let query = isBoth ? second.apply(first.apply(Disc.all)) : first.apply(Disc.all)
        let limit = Int.random(in: 1...8, using: &random)
        let rows = discs.filter { first.holds($0.value) && (!isBoth || second.holds($0.value)) }
            .sorted { ($1.value.copies, $0.value.title, $0.key) < ($0.value.copies, $1.value.title, $1.key) }
        let note: Testing.Comment = "seed \(seed), step \(step): \(first.name), \(isBoth ? second.name : "alone")"
        let sorted = query.sorted {
            $0.copies.descending; $0.title
        }
        #expect(try store.fetch(sorted.limit(limit)).map(\.id) == rows.prefix(limit).map(\.key), note)
        #expect(try store.count(query) == rows.count, note)
        #expect(try store.value(of: query) { $0.copies.sum() } == rows.map(\.value.copies).reduce(0, +), note)
    }
}
