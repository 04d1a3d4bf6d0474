import RelataRecords
import Testing

@Suite struct ObjectIDGeneratorTests {
    @Test func idsAreTenLettersAndDigitsAndEachIsAnother() {
        let generator = ObjectIDGenerator()
        let ids = (0..<10_000).map { _ in generator.next() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(id.utf8.count == 10 && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        }
    }

    @Test func idsThatFollowEachOtherAreNeighboursInTheirIndex() {
        let generator = ObjectIDGenerator()
        let ids = (0..<ObjectIDGenerator.runLength).map { _ in generator.next() }
        // They go round at the end of all ids, once in a very long time.
        let descents = zip(ids, ids.dropFirst()).count { !$0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(descents <= 1)
        // They lie close together among all there are.
        #expect(Set(ids.map { $0.prefix(2) }).count <= 3)
    }

    @Test func afterAThousandIDsTheNextIsAnywhere() {
        let generator = ObjectIDGenerator()
        let starts = (0..<100).map { _ in
            defer { for _ in 1..<ObjectIDGenerator.runLength { _ = generator.next() } }
            return generator.next().prefix(3)
        }
        #expect(Set(starts).count > 95)
    }

    @Test func whatTwoStoresMakeHasNothingInCommon() {
        let starts = (0..<100).map { _ in ObjectIDGenerator().next().prefix(5) }
        #expect(Set(starts).count > 95)
    }

    @Test func fromOneIDToTheNextAreManyOthersAndNeverAsMany() {
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        let generator = ObjectIDGenerator()
        let numbers = (0..<200).map { _ in
            generator.next().reduce(UInt64(0)) { $0 * 62 + UInt64(digits.firstIndex(of: $1) ?? 0) }
        }
        let steps = zip(numbers, numbers.dropFirst()).map { $1 &- $0 }
        #expect(Set(steps).count == steps.count)
        // By chance a step is short once in a while.
        #expect(steps.count { $0 < 100_000_000 } < 10)
    }
}
