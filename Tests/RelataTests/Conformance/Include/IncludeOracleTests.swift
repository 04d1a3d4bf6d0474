import Foundation
import Relata
import RelataTesting
import Testing

/// Graphs of everything and of parts, against plain arrays that hold the same.
@Suite struct IncludeOracleTests {
    @Test(arguments: Engine.allCases, [1, 2, 3, 4, 5, 6] as [UInt64])
    func includesMatchPlainArrays(_ engine: Engine, _ seed: UInt64) throws {
        var graph = try RandomGraph(engine, seed: seed)
        for step in 0..<60 { try graph.compare(step) }
    }
}

/// The part of a level's objects that a query asks for.
private enum Part: CaseIterable {
    case all, sorted, filtered, limited, required

    /// The same of a plain array. The last ones are the objects below.
    func of<Element>(
        _ elements: [Element], filter: (Element) -> Bool, descending: (Element, Element) -> Bool,
        hasMore: (Element) -> Bool
    ) -> [Element] {
        switch self {
        case .all: elements
        case .sorted: elements.sorted(by: descending)
        case .filtered: elements.filter(filter)
        case .limited: Array(elements.prefix(2))
        case .required: elements.filter(hasMore)
        }
    }
}

private struct RandomGraph {
    let recorder = StatementRecorder()
    let store: Store
    let seed: UInt64
    var random: SampleRandom
    /// In the order of their keys, as relationships without their own order have them.
    var bands: [PlainBand] = []

    struct PlainBand {
        let id: ID<Band>
        let name: String
        var discs: [PlainDisc] = []
    }

    struct PlainDisc {
        let id: Int
        let title: String
        let copies: Int
        let tags: [String]
        var pieces: [PlainPiece] = []
    }

    struct PlainPiece {
        let id: Int
        let seconds: Int
    }

    init(_ engine: Engine, seed: UInt64) throws {
        self.seed = seed
        random = SampleRandom(seed: seed)
        store = try TestStore.make(engine, for: Disc.self, options: recorder.options)
        let words = ["k", "l", "m", "n"]
        for number in 0..<Int.random(in: 0...8, using: &random) {
            bands.append(PlainBand(id: ID(), name: "band \(number)"))
        }
        bands.sort { $0.id < $1.id }
        // Keys are neither dense nor in the order of the rows; some are too large to index an array.
        for (number, id) in Set((0..<30).map { _ in Int.random(in: 1...200, using: &random) }).sorted().enumerated()
        where !bands.isEmpty {
            let tags = words.shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random))
            let disc = PlainDisc(
                id: number % 7 == 6 ? id << 40 : id, title: "\(Int.random(in: 0...9, using: &random))",
                copies: Int.random(in: 0...9, using: &random), tags: Array(tags))
            bands[Int.random(in: 0..<bands.count, using: &random)].discs.append(disc)
        }
        for band in bands.indices {
            bands[band].discs.sort { $0.id < $1.id }
            for disc in bands[band].discs.indices {
                bands[band].discs[disc].pieces = (0..<Int.random(in: 0...3, using: &random)).map {
                    PlainPiece(
                        id: bands[band].discs[disc].id * 4 + $0, seconds: Int.random(in: 1...9, using: &random))
                }
            }
        }
        try store.insert(words.map { Keyword(word: $0) })
        try store.insert(bands.shuffled(using: &random).map { Band(id: $0.id, name: $0.name) })
        let discs = bands.flatMap { band in band.discs.map { (band.id, $0) } }.shuffled(using: &random)
        for (band, plain) in discs {
            var disc = Disc(id: plain.id, title: plain.title, copies: plain.copies, band: ToOne(id: band))
            for word in plain.tags { disc.tags.add(id: word) }
            try store.insert(disc)
        }
        let pieces = discs.flatMap { disc in disc.1.pieces.map { (disc.1.id, $0) } }.shuffled(using: &random)
        try store.insert(
            pieces.map { Piece(id: $1.id, title: "p", seconds: $1.seconds, disc: ToOne(id: $0)) })
    }

    /// A query with random parts, its results, and its number of statements.
    mutating func compare(_ step: Int) throws {
        let parts = (0..<3).map { _ in Part.allCases.randomElement(using: &random) ?? .all }
        let (root, middle, leaf) = (parts[0], parts[1], parts[2] == .required ? .all : parts[2])
        let bound = Int.random(in: 0...9, using: &random)
        let note: Testing.Comment = "seed \(seed), step \(step): \(parts), \(bound)"

        func pieces(_ disc: PlainDisc) -> [PlainPiece] {
            leaf.of(disc.pieces) {
                $0.seconds < bound
            } descending: {
                $0.id > $1.id
            } hasMore: { _ in
                true
            }
        }
        func discs(_ band: PlainBand) -> [PlainDisc] {
            middle.of(band.discs) {
                $0.copies < bound
            } descending: {
                ($1.title, $0.id) < ($0.title, $1.id)
            } hasMore: {
                !pieces($0).isEmpty
            }
        }
        // Each part may leave out owners without related objects.
        let found = root.of(bands) {
            $0.name < "band \(bound)"
        } descending: {
            $0.name > $1.name
        } hasMore: {
            !discs($0).isEmpty
        }
        let expected = found.map { band in
            "\(band.name): "
                + discs(band).map { disc in "\(disc.id) \(disc.tags) \(pieces(disc).map(\.id))" }
                .joined(separator: ", ")
        }
        let below = found.flatMap(discs)
        let queries = 1 + (found.isEmpty ? 0 : 1) + (below.isEmpty ? 0 : 2)
        let bands = try recorder.expectQueries(queries) { try store.fetch(query(root, middle, leaf, bound)) }
        let texts = try bands.map { band in
            "\(band.name): "
                + (try band.discs.objects.map { disc in
                    "\(disc.id ?? 0) \(try disc.tags.objects.map(\.word)) \(try disc.pieces.objects.map { $0.id ?? 0 })"
                }.joined(separator: ", "))
        }
        // A query of all objects has no order.
        let isOrdered = root == .sorted || root == .limited
        #expect(isOrdered ? texts == expected : texts.sorted() == expected.sorted(), note)
    }

    private func query(_ root: Part, _ middle: Part, _ leaf: Part, _ bound: Int) -> Query<Band> {
        func pieces(_ field: ToManyField<Piece>) -> Include<Piece> {
            switch leaf {
            case .all: field.include
            case .sorted: field.sorted { $0.id.descending }
            case .filtered: field.where { $0.seconds < bound }
            case .limited: field.limit(2)
            case .required: field.required
            }
        }
        func discs(_ field: ToManyField<Disc>) -> Include<Disc> {
            let whole = field.including { disc in
                disc.tags
                if middle == .required { pieces(disc.pieces).required } else { pieces(disc.pieces) }
            }
            return switch middle {
            case .all, .required: whole
            case .sorted: whole.sorted { $0.title.descending }
            case .filtered: whole.where { $0.copies < bound }
            case .limited: whole.limit(2)
            }
        }
        let all = Band.all.including { band in
            if root == .required { discs(band.discs).required } else { discs(band.discs) }
        }
        return switch root {
        case .all, .required: all
        case .sorted: all.sorted { $0.name.descending }
        case .filtered: all.where { $0.name < "band \(bound)" }
        case .limited: all.sorted { $0.id }.limit(2)
        }
    }
}
