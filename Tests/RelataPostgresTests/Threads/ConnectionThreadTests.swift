#if PostgreSQL
import Foundation
import RelataEngine
import RelataPostgres
import Synchronization
import Testing

@Suite struct ConnectionThreadTests {
    @Test func jobsOfATaskRunOnItsThreadInOrder() async throws {
        let thread = ConnectionThread(name: "test")
        let outside = Self.name
        let names = await withTaskExecutorPreference(thread) {
            var names: [String?] = []
            for _ in 0..<10 {
                names.append(Self.name)
                await Task.yield()
            }
            return names
        }
        #expect(names == Array(repeating: "test", count: 10))
        #expect(outside != "test")
    }

    private static var name: String? { Thread.current.name }

    @Test func aBlockedThreadDoesNotDelayOtherTasks() async throws {
        let threads = (0..<32).map { _ in ConnectionThread() }
        let gate = Gate()
        await withTaskGroup(of: Void.self) { group in
            for thread in threads {
                group.addTask(executorPreference: thread) { gate.pass() }
            }
            // More threads are blocked than there are processors, and Swift's own threads still run this.
            while gate.arrived.load(ordering: .relaxed) < threads.count { await Task.yield() }
            for _ in threads { gate.semaphore.signal() }
        }
        #expect(gate.arrived.load(ordering: .relaxed) == 32)
    }

    private final class Gate: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let arrived = Atomic<Int>(0)

        func pass() {
            arrived.add(1, ordering: .relaxed)
            semaphore.wait()
        }
    }

    @Test func tasksOnTheThreadSeeTheirCancellation() async {
        let thread = ConnectionThread()
        let task = Task(executorPreference: thread) {
            while !Task.isCancelled { await Task.yield() }
            return Task.isCancelled
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test func theThreadEndsWhenItIsReleased() async throws {
        weak var released: ConnectionThread?
        let ended = Mutex(false)
        do {
            let thread = ConnectionThread()
            released = thread
            await withTaskExecutorPreference(thread) {
                Self.atEnd { ended.withLock { $0 = true } }
            }
        }
        let deadline = ContinuousClock.now + .seconds(30)
        while !ended.withLock({ $0 }), .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        #expect(ended.withLock { $0 })
        #expect(released == nil)
    }

    /// The end of a thread releases the values kept for it.
    private static func atEnd(_ body: @escaping () -> Void) {
        Thread.current.threadDictionary["end"] = AtEnd(body)
    }

    private final class AtEnd {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
        deinit { body() }
    }
}
#endif
