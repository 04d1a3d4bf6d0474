import RelataCore
import Testing

/// In which order the rows of a save are written.
@Suite struct WritePlanTests {
    /// A plan of rows, given by their batches, with references between them by their numbers.
    private func plan(_ batches: [Int], _ references: [(source: Int, target: Int, isBreakable: Bool)]) -> WritePlan {
        var plan = WritePlan()
        var counts: [Int: Int] = [:]
        for batch in batches {
            _ = plan.addRow(counts[batch, default: 0], of: batch)
            counts[batch, default: 0] += 1
        }
        for (number, reference) in references.enumerated() {
            plan.addReference(
                number, from: reference.source, to: reference.target, isBreakable: reference.isBreakable)
        }
        return plan
    }

    private func steps(_ order: WritePlan.Order) -> [[Int]] {
        order.steps.map { [$0.batch, $0.rows.lowerBound, $0.rows.upperBound] }
    }

    @Test func batchesAreWrittenAfterTheirTargets() throws {
        let plan = plan([2, 2, 1, 0, 0], [(0, 2, false), (1, 2, false), (2, 4, false)])
        let order = try plan.order(of: [2, 1, 2]) { _ in true }
        #expect(order.isByBatch)
        #expect(steps(order) == [[0, 0, 2], [1, 0, 1], [2, 0, 2]])
        #expect(order.lateKeys.isEmpty && !order.waitsForReferences)
    }

    @Test func rowsOfOneBatchThatReferToEachOtherAreWrittenOneByOne() throws {
        let order = try plan([0, 0, 0], [(0, 1, false), (1, 2, false)]).order(of: [3]) { _ in true }
        #expect(!order.isByBatch)
        #expect(steps(order) == [[0, 2, 3], [0, 1, 2], [0, 0, 1]])
        #expect(order.places(of: 0, count: 3) == [2, 1, 0])
    }

    @Test func rowIndexesCountWithinABatch() throws {
        let order = try plan([0, 1, 0], [(0, 1, false), (1, 2, false)]).order(of: [2, 1]) { _ in true }
        #expect(steps(order) == [[0, 1, 2], [1, 0, 1], [0, 0, 1]])
        #expect(order.places(of: 0, count: 2) == [1, 0])
        #expect(order.places(of: 1, count: 1) == [0])
        let whole = try plan([0, 0], []).order(of: [2]) { _ in true }
        #expect(whole.places(of: 0, count: 2) == [0, 1])
    }

    @Test func aReferenceInACycleIsSetLaterOnlyIfItsKeyIsUnknown() throws {
        let plan = plan([0, 1], [(0, 1, true), (1, 0, false)])
        let late = try plan.order(of: [1, 1]) { _ in false }
        #expect(steps(late) == [[0, 0, 1], [1, 0, 1]])
        #expect(late.lateKeys.map { [$0.row, $0.reference, $0.target] } == [[0, 0, 1]])
        #expect(!late.waitsForReferences)
        let known = try plan.order(of: [1, 1]) { _ in true }
        #expect(known.lateKeys.isEmpty && known.waitsForReferences)
    }

    @Test func rowsThatNeedEachOtherAreRefused() {
        let plan = plan([0, 1], [(0, 1, false), (1, 0, false)])
        #expect(throws: RelataError.self) { try plan.order(of: [1, 1]) { _ in false } }
        #expect(plan.rowOrder() == nil)
    }

    @Test func touchedRowsAreThoseOfChangedBatches() {
        var plan = plan([0, 1, 1], [])
        plan.touch(2)
        #expect(plan.rows.map(\.isTouched) == [false, false, true])
        #expect(plan.changedBatches == [1])
    }

    @Test func editsOfARowMarkItAndItsBatch() throws {
        let schema = try Schema(MusicEntities.all)
        let link = PlannedLink("albums", 1, .inverse(0), schema)
        var plan = plan([0, 1], [])
        plan.add(LinkEdits(owner: .key(KeyValue("a")), link: link, changes: []))
        #expect(plan.changedBatches.isEmpty)
        plan.add(LinkEdits(owner: .row(1), link: link, changes: [.remove(.key(KeyValue("b")))]))
        #expect(plan.rows.map(\.isEdited) == [false, true])
        #expect(plan.changedBatches == [1])
        #expect(plan.edits.count == 2)
        #expect(plan.edits[1].onlyRemoves)
        #expect(
            !LinkEdits(owner: .row(1), link: link, changes: [.remove(.key(KeyValue("b"))), .add(.key(KeyValue("c")))])
                .onlyRemoves)
    }

    @Test func referencesToDifferentRowsOfThePlanAreOneToOne() {
        #expect(plan([0, 1], [(0, 1, false)]).refersToOthers(0, by: 0))
        #expect(!plan([0, 0, 1], [(0, 2, false)]).refersToOthers(0, by: 0))
        var shared = plan([0, 0, 1], [])
        for row in 0..<2 { shared.addReference(7, from: row, to: 2, isBreakable: false) }
        #expect(!shared.refersToOthers(0, by: 7))
    }
}
