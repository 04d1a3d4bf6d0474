import Relata
import RelataTesting
import Testing

@Suite struct StatementRecorderTests {
    @Test func tooManyStatementsFailWithTheirSQL() throws {
        let recorder = StatementRecorder()
        let store = try Store.inMemory(for: Book.self, options: recorder.options)
        let error = #expect(throws: UnexpectedStatements.self) {
            try recorder.expectQueries(1) {
                _ = try store.count(Book.all)
                _ = try store.count(Author.all)
            }
        }
        #expect(error?.statements.count == 2)
        #expect(error?.description.contains("\"Author\"") == true)
    }

    @Test func aFullTableScanFailsWithItsPlan() throws {
        let recorder = StatementRecorder()
        let store = try Store.inMemory(for: Book.self, options: recorder.options)
        try recorder.expectIndexed(on: store) { _ = try store.first(Genre.where { $0.name == "x" }) }
        #expect(throws: FullTableScan.self) {
            try recorder.expectIndexed(on: store) { _ = try store.first(Book.where { $0.title == "x" }) }
        }
    }

    @Test func asyncCodeIsCountedAndChecked() async throws {
        let recorder = StatementRecorder()
        let store = try Store.inMemory(for: Book.self, options: recorder.options)
        let count = try await recorder.expectQueries(1) { try await store.count(Book.all) }
        #expect(count == 0)
        try await store.save(Book(title: "T", genre: ToOne(Genre(name: "G"))))
        await #expect(throws: UnexpectedStatements.self) {
            try await recorder.expectQueries(1) {
                try await store.fetch(
                    Book.all.including {
                        $0.genre; $0.authors
                    })
            }
        }
        let found = try await recorder.expectIndexed(on: store) {
            try await store.fetch(Genre.where { $0.name == "x" }.including { $0.books })
        }
        #expect(found.isEmpty)
        let error = await #expect(throws: FullTableScan.self) {
            try await recorder.expectIndexed(on: store) { try await store.first(Book.where { $0.title == "x" }) }
        }
        #expect(error?.sql.contains("\"Book\"") == true)
        #expect(error?.plan.contains { $0.hasPrefix("SCAN") } == true)
    }

    @Test func deletionsAreCheckedToo() throws {
        let recorder = StatementRecorder()
        let store = try Store.inMemory(for: Book.self, options: recorder.options)
        let genre = try store.save(Genre(name: "G"))
        try recorder.expectIndexed(on: store) { try store.delete(genre) }
        #expect(throws: FullTableScan.self) {
            try recorder.expectIndexed(on: store) { try store.delete(Book.where { $0.title == "x" }) }
        }
    }

    @Test func errorsOfTheBodyAreRethrown() async throws {
        struct Failure: Error {}
        let recorder = StatementRecorder()
        let store = try Store.inMemory(for: Book.self, options: recorder.options)
        #expect(throws: Failure.self) { try recorder.expectQueries(0) { throw Failure() } }
        #expect(throws: Failure.self) { try recorder.expectIndexed(on: store) { throw Failure() } }
        await #expect(throws: Failure.self) {
            try await recorder.expectIndexed(on: store) { () async throws in throw Failure() }
        }
    }

    @Test func theAppsTraceIsStillCalled() throws {
        let (recorder, log) = (StatementRecorder(), StatementLog())
        let store = try Store.inMemory(for: Book.self, options: recorder.options(log.options))
        _ = log.take()
        try recorder.expectQueries(1) { _ = try store.count(Book.all) }
        #expect(log.take() == recorder.statements)
    }
}
