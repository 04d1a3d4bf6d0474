import Foundation
import Observation
import Relata
import Testing

@Model struct Chapter {
    @Attribute(.primaryKey) let number: Int
    var title: String
    var pages: Int
}

@MainActor final class Totals {
    private(set) var pages = 0

    func refresh(from store: Store) async throws { pages = try await countPages(in: store) }

    /// Runs off the main actor.
    @concurrent private nonisolated func countPages(in store: Store) async throws -> Int {
        try await store.fetch(Chapter.all).reduce(0) { $0 + $1.pages }
    }
}

@MainActor @Observable final class Outline {
    private(set) var chapters: [Chapter] = []
    private(set) var problem: (any Error)?
    private let store: Store

    init(_ store: Store) { self.store = store }

    /// Follows the database until the task is cancelled or the store is closed.
    func follow() async {
        do {
            for try await chapters in store.observe(Chapter.sorted { $0.number }) { self.chapters = chapters }
        } catch {
            problem = error
        }
    }

    func add(_ title: String, pages: Int) async {
        do {
            try await store.save(Chapter(number: (chapters.last?.number ?? 0) + 1, title: title, pages: pages))
        } catch {
            problem = error
        }
    }
}

// docs: hide
/// Waits until the condition holds; a wait that runs out is a failure.
func untilShown(_ condition: () async -> Bool) async {
    let deadline = ContinuousClock.now + .seconds(30)
    while await !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("the screen never showed it")
            return
        }
        try? await Task.sleep(for: .milliseconds(5))
    }
}
// docs: show

@Test func aModelForTheScreen() async throws {
    try await example {
        // docs: hide
        let store = try await Store.open(temporary("chapters.sqlite"), for: Chapter.self)
        // docs: show
        let outline = await Outline(store)
        let following = Task { await outline.follow() }
        await outline.add("A beginning", pages: 12)
        await untilShown { await outline.chapters.count == 1 }
        await outline.add("An end", pages: 8)
        await untilShown { await outline.chapters.count == 2 }
        print(await outline.chapters.map(\.title))
        following.cancel()

        let totals = Totals()
        try await totals.refresh(from: store)
        print(await totals.pages)
        // docs: hide
        try printed(in: "Documentation/Programs.md")
        let problem = await outline.problem
        #expect(problem == nil)
        // docs: show
    }
}
