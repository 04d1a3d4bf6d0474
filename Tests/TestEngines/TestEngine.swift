import Testing

#if PostgreSQL
import PostgresCluster
#endif

/// The engine of a test's databases.
package enum TestEngine: String, CaseIterable, Sendable {
    case sqlite, postgres

    /// The engine that the test runs on.
    @TaskLocal package static var current = TestEngine.sqlite

    /// The engines that the build supports and the machine has installed.
    package static var installed: [TestEngine] {
        #if PostgreSQL
        PrivateCluster.isInstalled ? allCases : [.sqlite]
        #else
        [.sqlite]
        #endif
    }
}

/// Runs each test of a suite once on every engine that is installed. A failure names the engine.
package struct EngineTrait: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let only = test.traits.lazy.compactMap { ($0 as? OneEngineTrait)?.engine }.first
        for engine in TestEngine.installed where only == nil || only == engine {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("on \(engine)")
                return issue
            }
            try await naming.provideScope(for: test, testCase: testCase) {
                do {
                    try await TestEngine.$current.withValue(engine) { try await function() }
                } catch is ExpectationFailedError {
                    // The failure is recorded, and the other engines are tested all the same.
                } catch {
                    Issue.record(error)
                }
            }
        }
    }
}

extension Trait where Self == EngineTrait {
    /// Runs each test once on every engine that is installed: ``TestEngine/current`` says on which.
    package static var onEveryEngine: EngineTrait { EngineTrait() }
}

/// Says of a test in a suite on every engine that it is one of a single engine.
package struct OneEngineTrait: TestTrait {
    fileprivate let engine: TestEngine
}

extension Trait where Self == OneEngineTrait {
    /// Leaves a test of a suite to SQLite: it is about its files, its SQL or its plans.
    package static var onSQLite: OneEngineTrait { OneEngineTrait(engine: .sqlite) }

    /// Leaves a test of a suite to PostgreSQL.
    package static var onPostgres: OneEngineTrait { OneEngineTrait(engine: .postgres) }
}
