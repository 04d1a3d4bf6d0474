import Relata
import Synchronization
import Testing

/// The report of a store that has changed its tables.
@Suite struct MigrationReportTests {
    private final class Report: Sendable {
        private let plans = Mutex<[MigrationPlan]>([])

        func add(_ plan: MigrationPlan) { plans.withLock { $0.append(plan) } }

        var creations: [Bool] { plans.withLock { $0.map(\.isCreation) } }
    }

    @Test(arguments: Engine.shared) func theChangesOfAnOpeningAreReportedOnce(_ engine: Engine) throws {
        let report = Report()
        var options = Store.Options()
        options.didMigrate = { report.add($0) }
        let database = TestDatabase(engine)
        try database.open(Genre.self, options: options).close()
        #expect(report.creations == [true])
        try database.open(Genre.self, options: options).close()
        #expect(report.creations == [true], "nothing is changed the second time")
    }
}
