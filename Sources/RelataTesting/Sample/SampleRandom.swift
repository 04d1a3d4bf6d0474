import Foundation
public import Relata
import RelataCore

/// Random numbers, words and choices for sample data. They are equal for equal seeds on every machine.
///
/// ```swift
/// var random = SampleRandom(seed: 7)
/// let genres = random.objects(3) { number, random in Genre(name: random.words(1) + " \(number)") }
/// let books = random.objects(100) { number, random in
///     Book(title: random.words(3), year: .random(in: 1900...2020, using: &random), genre: random.link(to: genres))
/// }
/// try store.save(books)
/// ```
public struct SampleRandom: RandomNumberGenerator, Sendable {
    /// The seed of the numbers; print it when a test with random data fails.
    public let seed: UInt64
    private var state: UInt64

    /// Begins the numbers of a seed.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The next number, by SplitMix64.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns `count` objects, which `make` creates from their numbers, from 1 on.
    public mutating func objects<M: Model>(
        _ count: Int, _ make: (_ number: Int, _ random: inout SampleRandom) throws -> M
    ) rethrows -> [M] {
        var objects: [M] = []
        for number in 1...max(1, count) where count > 0 { objects.append(try make(number, &self)) }
        return objects
    }

    /// Returns a link to one of these objects, by its key; `nil` with the probability `unset`, between 0 and 1.
    public mutating func link<Target: Model>(to objects: [Target], unset: Double = 0) -> ToOne<Target>? {
        if chance(unset) { return nil }
        return objects.randomElement(using: &self)?.primaryKey.map { ToOne(id: $0) }
    }

    /// Some of these objects, each once, between `least` and `most` of them.
    public mutating func some<Element>(of elements: [Element], _ least: Int = 0, to most: Int) -> [Element] {
        let upper = min(max(0, most), elements.count)
        let count = Int.random(in: min(max(0, least), upper)...upper, using: &self)
        return Array(elements.shuffled(using: &self).prefix(count))
    }

    /// Returns true with the given probability, between 0 and 1.
    public mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }

    /// Returns `count` words of a small vocabulary, the first one capitalised.
    public mutating func words(_ count: Int) -> String {
        let words = (0..<max(1, count)).map { _ in Self.vocabulary.randomElement(using: &self) ?? "word" }
        let text = words.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// A date within a range of years between 0 and 9998, in UTC, to the second.
    public mutating func date(in years: ClosedRange<Int> = 2000...2025) -> Date {
        func start(_ year: Int) -> Int64 {
            let digits = String(max(0, min(9999, year)))
            let text = String(repeating: "0", count: 4 - digits.count) + digits + "-01-01"
            return (DateText.microseconds(text: text) ?? 0) / 1_000_000
        }
        let first = start(years.lowerBound)
        let seconds = Int64.random(in: first..<max(first + 1, start(years.upperBound + 1)), using: &self)
        return Date(timeIntervalSince1970: Double(seconds))
    }

    private static let vocabulary = [
        "amber", "anchor", "autumn", "bridge", "candle", "cedar", "cliff", "cloud", "copper", "dawn", "desert", "ember",
        "falcon", "field", "forest", "garden", "glass", "harbour", "hill", "island", "lantern", "letter", "lion",
        "marble",
        "meadow", "mirror", "moon", "mountain", "night", "ocean", "orchard", "paper", "pearl", "quiet", "rain", "raven",
        "river", "salt", "shadow", "silver", "snow", "song", "stone", "storm", "summer", "tide", "tower", "valley",
        "willow", "winter",
    ]
}
