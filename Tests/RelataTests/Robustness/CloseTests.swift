import Foundation
import Relata
import Testing

/// Closing a store in the middle of its work.
@Suite struct CloseTests {
    @Test(arguments: Engine.allCases) func callsAfterTheCloseReportAClosedStore(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let book = try await store.save(Book(title: "Emma", genre: ToOne(Genre(name: "Novel"))))
        try store.close()
        try store.close()
        let calls: [(String, () async throws -> Void)] = [
            ("fetch by key", { _ = try await store.fetch(Book.self, id: book.id) }),
            ("fetch", { _ = try await store.fetch(Book.all.including { $0.genre }) }),
            ("count", { _ = try await store.count(Book.all) }),
            ("rows", { _ = try await store.rows("SELECT 1") }),
            ("read", { try await store.read { _ in } }),
            ("write", { try await store.write { _ in } }),
            ("save", { try await store.save(book) }),
            ("insert a sequence", { try await store.insert(contentsOf: [Book(title: "x")]) }),
            ("delete", { try await store.delete(book) }),
            ("plan", { _ = try await store.deletionPlan(for: book) }),
            ("stream", { for try await _ in store.stream(Book.all) {} }),
            ("related", { _ = try await store.related(to: book) { $0.authors } }),
            ("observe", { for try await _ in store.observe(Book.all) {} }),
            ("backup", { try await store.backup(to: TestStore.path()) }),
        ]
        for (name, call) in calls {
            let error = await thrown(call)
            #expect(error?.kind == "closed", "\(name): \(error as Any)")
            #expect("\(error as Any)".contains("open it again"))
        }
        #expect(thrownInSync { _ = try store.fetch(Book.all) }?.kind == "closed")
        #expect(thrownInSync { try store.save(book) }?.kind == "closed")
    }

    private func thrownInSync(_ body: () throws -> Void) -> RelataError? { thrown(body) }

    @Test(arguments: Engine.embedded.filter(\.isShared)) func runningCallsFinishAndWaitingOnesFail(
        _ engine: Engine
    ) async throws {
        let database = TestDatabase(engine)
        let store = try database.open(Author.self)
        let gate = Gate()
        let writer = Thread.run {
            try store.write { tx in
                try tx.insert(Author(name: "written"))
                gate.stop()
                try tx.insert(Author(name: "written later"))
            }
        }
        await gate.stopped()
        let reader = Thread.run {
            try store.read { tx in
                // The first read takes the snapshot that the second one must see, regardless of which thread continues
                // first.
                #expect(try tx.count(Author.all) == 0)
                gate.stop()
                return try tx.count(Author.all)
            }
        }
        await gate.stopped()
        let observer = Task {
            var counts: [Int] = []
            for try await count in store.observe(countOf: Author.all) { counts.append(count) }
            return counts
        }
        let waiting = Task { await thrown { try await store.insert(Author(name: "waited")) } }
        // The task must begin to wait; if it is late, it finds the store closed, which is the same error.
        try await Task.sleep(for: .milliseconds(20))
        try store.close()
        #expect(await waiting.value?.kind == "closed")
        #expect(await thrown { try await store.count(Author.all) }?.kind == "closed")
        gate.open()
        gate.open()
        try await writer.value
        #expect(try await reader.value == 0)
        #expect(try await observer.value.allSatisfy { $0 == 0 })
        let again = try database.open(Author.self)
        #expect(try await again.fetch(Author.all).map(\.name).sorted() == ["written", "written later"])
    }

    @Test(arguments: Engine.shared) func aTransactionMayCloseItsOwnStore(_ engine: Engine) throws {
        let database = TestDatabase(engine)
        let store = try database.open(Author.self)
        try store.write { tx in
            try tx.insert(Author(name: "last"))
            try store.close()
            #expect(try tx.count(Author.all) == 1)
        }
        #expect(thrown { try store.count(Author.all) }?.kind == "closed")
        let again = try database.open(Author.self)
        #expect(try again.count(Author.all) == 1)
    }
}
