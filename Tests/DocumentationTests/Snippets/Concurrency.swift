import Foundation
import Relata
import Testing

@Model struct Counter {
    @Attribute(.primaryKey) let name: String
    var value: Int = 0
}

@Test func manyTasks() async throws {
    try await example {
        let store = try await Store.open(temporary("counters.sqlite"), for: Counter.self)
        try await store.save(Counter(name: "visits"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...50 {
                group.addTask { _ = try await store.update(Counter.self, id: "visits") { $0.value += 1 } }
            }
            try await group.waitForAll()
        }
        print(try await store.fetch(Counter.self, id: "visits")?.value ?? 0)
        // docs: hide
        try printed(in: "Documentation/ConcurrencyAndFiles.md")
        // docs: show
    }
}

@Test func oneState() async throws {
    try await example {
        // docs: hide
        let store = try await Store.open(temporary("counters.sqlite"), for: Counter.self)
        try await store.save([Counter(name: "in", value: 3), Counter(name: "out", value: 2)])
        // docs: show
        let inside = try await store.read { tx in
            let comings = try tx.fetch(Counter.self, id: "in")?.value ?? 0
            let goings = try tx.fetch(Counter.self, id: "out")?.value ?? 0
            return comings - goings
        }
        print(inside)
        // docs: hide
        try printed(in: "Documentation/ConcurrencyAndFiles.md")
        // docs: show
    }
}

@Test func completionHandlers() async throws {
    try await example {
        // docs: hide
        let store = try await Store.open(temporary("counters.sqlite"), for: Counter.self)
        // docs: show
        let task = store.perform {
            try await $0.save(Counter(name: "visits", value: 7))
        } completion: { result in
            switch result {
            case .success(let counter): print("saved", counter.value)
            case .failure(let error): print("not saved:", error)
            }
        }
        // docs: hide
        await task.value
        try printed(in: "Documentation/ConcurrencyAndFiles.md")
        // docs: show
    }
}

@Test func options() async throws {
    try await example {
        var options = Store.Options()
        options.durability = .full  // wait for the disk at every commit
        options.busyTimeout = 2  // seconds to wait for another process that writes
        options.maximumReaders = 8
        options.trace = { sql, duration in
            if duration > .seconds(1) { print("slow:", sql) }
        }
        let store = try await Store.open(temporary("counters.sqlite"), for: Counter.self, options: options)
        try await store.save(Counter(name: "visits"))

        try await store.backup(to: temporary("copy.sqlite"))
        try store.close()

        options.isReadOnly = true
        let copy = try await Store.open(temporary("copy.sqlite"), for: Counter.self, options: options)
        do {
            try await copy.save(Counter(name: "more"))
        } catch {
            print(error)
        }
        // docs: hide
        try printed(in: "Documentation/ConcurrencyAndFiles.md")
        // docs: show
    }
}

@Test func inMemory() async throws {
    try await example {
        let store = try Store.inMemory(for: Counter.self)
        try await store.save(Counter(name: "visits"))
        // docs: hide
        #expect(try await store.count(Counter.all) == 1)
        // docs: show
    }
}
