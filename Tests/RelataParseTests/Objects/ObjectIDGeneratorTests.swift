import Testing

@testable import RelataParse

@Suite struct ObjectIDGeneratorTests {
    @Test func idsAreTenLettersAndDigitsAndEachIsAnother() {
        var generator = ObjectIDGenerator()
        let ids = (0..<10_000).map { _ in generator.next() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(id.utf8.count == 10 && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        }
    }

    @Test func idsOfOneTransactionAreNeighboursInTheirIndex() {
        var generator = ObjectIDGenerator()
        let ids = (0..<50).map { _ in generator.next() }
        // They go round at the end of all ids, once in a very long time.
        let descents = zip(ids, ids.dropFirst()).count { !$0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(descents <= 1)
        // They lie close together among all there are.
        #expect(Set(ids.map { $0.prefix(4) }).count <= 3)
    }

    @Test func idsOfTwoTransactionsHaveNothingInCommon() {
        let starts = (0..<100).map { _ in
            var generator = ObjectIDGenerator()
            return generator.next().prefix(5)
        }
        #expect(Set(starts).count > 95)
    }

    @Test func stepsFromOneIDToTheNextDiffer() {
        var (first, second) = (ObjectIDGenerator(), ObjectIDGenerator())
        let ends = [first.next(), first.next(), first.next()].map { $0.suffix(4) }
        let others = [second.next(), second.next(), second.next()].map { $0.suffix(4) }
        #expect(Set(ends + others).count > 3)
    }
}
