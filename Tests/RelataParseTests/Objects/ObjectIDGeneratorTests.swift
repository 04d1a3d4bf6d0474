import RelataRecords
import Testing

@Suite struct ObjectIDGeneratorTests {
    @Test func idsAreUniqueAndHaveTenLettersAndDigits() {
        let generator = ObjectIDGenerator()
        let ids = (0..<10_000).map { _ in generator.next() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(id.utf8.count == 10 && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        }
    }

    @Test func consecutiveIDsAreNeighboursInTheIndex() {
        let generator = ObjectIDGenerator()
        let ids = (0..<ObjectIDGenerator.runLength).map { _ in generator.next() }
        // They wrap around at the last id, which happens very rarely.
        let descents = zip(ids, ids.dropFirst()).count { !$0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(descents <= 1)
        // They are close together among all ids.
        #expect(Set(ids.map { $0.prefix(2) }).count <= 3)
    }

    @Test func afterAThousandIDsTheNextOneIsRandom() {
        let generator = ObjectIDGenerator()
        let starts = (0..<100).map { _ in
            defer { for _ in 1..<ObjectIDGenerator.runLength { _ = generator.next() } }
            return generator.next().prefix(3)
        }
        #expect(Set(starts).count > 95)
    }

    @Test func theIDsOfTwoStoresHaveNothingInCommon() {
        let starts = (0..<100).map { _ in ObjectIDGenerator().next().prefix(5) }
        #expect(Set(starts).count > 95)
    }

    @Test func theStepsBetweenIDsAreLargeAndDifferent() {
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        let generator = ObjectIDGenerator()
        let numbers = (0..<200).map { _ in
            generator.next().reduce(UInt64(0)) { $0 * 62 + UInt64(digits.firstIndex(of: $1) ?? 0) }
        }
        let steps = zip(numbers, numbers.dropFirst()).map { $1 &- $0 }
        #expect(Set(steps).count == steps.count)
        // By chance, a step may be short.
        #expect(steps.count { $0 < 100_000_000 } < 10)
    }
}
