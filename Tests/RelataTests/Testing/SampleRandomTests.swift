import Foundation
import Relata
import RelataTesting
import Testing

@Suite struct SampleRandomTests {
    /// Many draws, so that every possible case occurs.
    private static func draws<Result>(
        _ count: Int = 2000, seed: UInt64 = 11, _ draw: (inout SampleRandom) -> Result
    ) -> [Result] {
        var random = SampleRandom(seed: seed)
        return (0..<count).map { _ in draw(&random) }
    }

    @Test func theSameSeedMakesTheSameSample() {
        func sample(_ seed: UInt64) -> [String] {
            var random = SampleRandom(seed: seed)
            return random.objects(5) { number, random in Author(name: "\(number) " + random.words(2)) }.map(\.name)
        }
        #expect(sample(3) == sample(3))
        #expect(sample(3) != sample(4))
        #expect(sample(3).map(\.first) == ["1", "2", "3", "4", "5"])
        var random = SampleRandom(seed: 1)
        #expect(random.objects(0) { _, _ in Author(name: "x") }.isEmpty)
    }

    @Test func numbersAreTheSameOnEveryMachine() {
        var random = SampleRandom(seed: 7)
        // These numbers are from the reference implementation of SplitMix64.
        #expect([random.next(), random.next()] == [7_191_089_600_892_374_487, 309_689_372_594_955_804])
        #expect(random.seed == 7)
    }

    @Test func aLinkPointsAtOneOfTheObjects() {
        let genres = ["A", "B", "C"].map { Genre(name: $0) }
        let links = Self.draws { $0.link(to: genres) }
        #expect(Set(links.map { $0?.id }) == Set(genres.map(\.id)))
        #expect(!links.contains { $0?.isLoaded == true })
    }

    @Test func linksAreUnsetAtTheGivenRate() {
        let genres = [Genre(name: "A")]
        let unset = Self.draws { $0.link(to: genres, unset: 0.25) }.filter { $0 == nil }.count
        #expect((400...600).contains(unset))
        #expect(Self.draws(20) { $0.link(to: genres, unset: 1) }.allSatisfy { $0 == nil })
        #expect(Self.draws(20) { $0.link(to: [Genre]()) }.allSatisfy { $0 == nil })
        // A new object has no key to link by.
        #expect(Self.draws(20) { $0.link(to: [Series(title: "new")]) }.allSatisfy { $0 == nil })
    }

    @Test func someReturnsDistinctElementsWithinBounds() {
        let letters = Array("abcde")
        let choices = Self.draws { $0.some(of: letters, 1, to: 3) }
        #expect(Set(choices.map(\.count)) == [1, 2, 3])
        #expect(choices.allSatisfy { Set($0).count == $0.count && Set(letters).isSuperset(of: $0) })
        #expect(Set(choices.map { $0[0] }) == Set(letters))
        #expect(Set(Self.draws { $0.some(of: letters, to: 2).count }) == [0, 1, 2])
        // More than there are, fewer than none, and nothing to choose from.
        #expect(Self.draws(50) { $0.some(of: letters, 9, to: 9) }.allSatisfy { Set($0) == Set(letters) })
        #expect(Self.draws(50) { $0.some(of: letters, 4, to: 2) }.allSatisfy { $0.count == 2 })
        #expect(Self.draws(50) { $0.some(of: letters, -3, to: -1) }.allSatisfy { $0.isEmpty })
        #expect(Self.draws(50) { $0.some(of: [Int](), 1, to: 3) }.allSatisfy { $0.isEmpty })
    }

    @Test func aDateIsWithinItsYearsToTheSecond() throws {
        let dates = Self.draws { $0.date(in: 1999...2001) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        #expect(Set(dates.map { calendar.component(.year, from: $0) }) == [1999, 2000, 2001])
        #expect(dates.allSatisfy { $0.timeIntervalSince1970 == $0.timeIntervalSince1970.rounded() })
        // The first and last hours of a year too: one that begins before, and one that ends after the mean year.
        for year in [1972, 1973, 2000, 2027] {
            let dates = Self.draws(20_000) { $0.date(in: year...year) }
            #expect(dates.allSatisfy { calendar.component(.year, from: $0) == year }, "\(year)")
        }
        #expect(Self.draws { $0.date() }.allSatisfy { (2000...2025).contains(calendar.component(.year, from: $0)) })
    }

    @Test func wordsHaveTheRequestedNumberAndACapital() {
        for text in Self.draws(200, { $0.words(3) }) {
            #expect(text.split(separator: " ").count == 3 && text.first?.isUppercase == true)
        }
        #expect(Self.draws(20) { $0.words(0) }.allSatisfy { !$0.isEmpty })
    }

    @Test func chancesHaveTheirProbability() {
        #expect((900...1100).contains(Self.draws { $0.chance(0.5) }.filter { $0 }.count))
        #expect(!Self.draws { $0.chance(0) }.contains(true))
        #expect(!Self.draws { $0.chance(1) }.contains(false))
    }
}
